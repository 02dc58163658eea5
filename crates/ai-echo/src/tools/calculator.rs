//! `calculator.evaluate`: arithmetic with exact fractions as long as they fit, no `eval`.
//!
//! Numbers are fractions of two integers, so `0.1 + 0.2` is `0.3`, and an integer keeps every
//! digit up to [`MAX_BITS`]; beyond, it is too large and said to be. What no fraction can hold (a
//! root, pi) is computed in floating point and says so with `≈`.

use num_bigint::BigInt;
use std::fmt;

/// The longest expression, in bytes.
pub const MAX_EXPRESSION: usize = 512;
/// The deepest nesting.
pub const MAX_DEPTH: usize = 48;
/// The longest integer that is worked out, in bits: 308 digits, as far as floating point reaches.
pub const MAX_BITS: u64 = 1023;
/// The largest factorial below [`MAX_BITS`].
const MAX_FACTORIAL: u32 = 170;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalcError {
    /// Over [`MAX_EXPRESSION`].
    #[error("the expression is longer than {MAX_EXPRESSION} bytes")]
    TooLong,
    /// Over [`MAX_DEPTH`].
    #[error("the expression is nested too deeply")]
    TooDeep,
    /// Something that is no arithmetic.
    #[error("\u{201c}{found}\u{201d} at position {at} is not understood")]
    Unexpected {
        /// What stands there.
        found: String,
        /// Its position in characters, from 1.
        at: usize,
    },
    /// It stops too early.
    #[error("the expression ends too early")]
    Incomplete,
    /// A division by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// For example the root of a negative number.
    #[error("{0} is not defined for this number")]
    Undefined(&'static str),
    /// A function with the wrong number of values.
    #[error("{0} takes another number of values")]
    Arity(&'static str),
    /// Beyond floating point.
    #[error("the result is too large")]
    TooLarge,
}

impl CalcError {
    /// It is arithmetic, and has no value: a division by zero, something too large.
    pub fn is_of_value(&self) -> bool {
        matches!(self, Self::DivisionByZero | Self::Undefined(_) | Self::TooLarge | Self::TooDeep)
    }
}

/// A number: an exact fraction in lowest terms with a positive denominator, or an approximation.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// Exactly this fraction.
    Exact(BigInt, BigInt),
    /// About this.
    About(f64),
}

impl Number {
    fn whole(n: impl Into<BigInt>) -> Self {
        Self::Exact(n.into(), BigInt::from(1))
    }

    /// A fraction in lowest terms; none when it is larger than is worked out exactly.
    fn ratio(num: BigInt, den: BigInt) -> Option<Self> {
        let negative = den < BigInt::ZERO;
        let (num, den) = if negative { (-num, -den) } else { (num, den) };
        let g = gcd(num.clone(), den.clone());
        if g == BigInt::ZERO {
            return None;
        }
        let (num, den) = (num / &g, den / g);
        (num.bits() <= MAX_BITS && den.bits() <= MAX_BITS).then_some(Self::Exact(num, den))
    }

    fn float(&self) -> f64 {
        // Within the bound every integer has a finite neighbour in floating point.
        let near = |n: &BigInt| n.to_string().parse::<f64>().unwrap_or(f64::NAN);
        match self {
            Self::Exact(n, d) => near(n) / near(d),
            Self::About(x) => *x,
        }
    }

    fn about(x: f64) -> Result<Self, CalcError> {
        if x.is_finite() { Ok(Self::About(x)) } else { Err(CalcError::TooLarge) }
    }

    fn is_zero(&self) -> bool {
        match self {
            Self::Exact(n, _) => *n == BigInt::ZERO,
            Self::About(x) => *x == 0.0,
        }
    }

    fn both(
        &self,
        other: &Self,
        exact: impl Fn(&BigInt, &BigInt, &BigInt, &BigInt) -> (BigInt, BigInt),
        about: impl Fn(f64, f64) -> f64,
    ) -> Result<Self, CalcError> {
        if let (Self::Exact(a, b), Self::Exact(c, d)) = (self, other) {
            let (num, den) = exact(a, b, c, d);
            let whole = den.bits() <= 1;
            match Self::ratio(num, den) {
                Some(result) => return Ok(result),
                // An integer is never rounded.
                None if whole => return Err(CalcError::TooLarge),
                None => {}
            }
        }
        Self::about(about(self.float(), other.float()))
    }

    fn add(&self, other: &Self) -> Result<Self, CalcError> {
        self.both(other, |a, b, c, d| (a * d + c * b, b * d), |x, y| x + y)
    }

    fn negate(self) -> Self {
        match self {
            Self::Exact(n, d) => Self::Exact(-n, d),
            Self::About(x) => Self::About(-x),
        }
    }

    fn mul(&self, other: &Self) -> Result<Self, CalcError> {
        self.both(other, |a, b, c, d| (a * c, b * d), |x, y| x * y)
    }

    fn div(&self, other: &Self) -> Result<Self, CalcError> {
        if other.is_zero() {
            return Err(CalcError::DivisionByZero);
        }
        self.both(other, |a, b, c, d| (a * d, b * c), |x, y| x / y)
    }

    fn modulo(&self, other: &Self) -> Result<Self, CalcError> {
        let whole = self.div(other)?.floor();
        self.add(&whole.mul(other)?.negate())
    }

    fn floor(self) -> Self {
        match self {
            Self::Exact(n, d) => {
                let down = n < BigInt::ZERO && &n % &d != BigInt::ZERO;
                Self::whole(n / d - i32::from(down))
            }
            Self::About(x) => Self::About(x.floor()),
        }
    }

    fn power(&self, exponent: &Self) -> Result<Self, CalcError> {
        if self.is_zero() && exponent.float() < 0.0 {
            return Err(CalcError::DivisionByZero);
        }
        if let (Self::Exact(n, d), Self::Exact(e, one)) = (self, exponent)
            && one.bits() == 1
        {
            let (up, positive) = (e.magnitude(), *e >= BigInt::ZERO);
            let exact = raised(n, up)
                .zip(raised(d, up))
                .and_then(|(n, d)| if positive { Self::ratio(n, d) } else { Self::ratio(d, n) });
            match exact {
                Some(result) => return Ok(result),
                None if d.bits() == 1 && positive => return Err(CalcError::TooLarge),
                None => {}
            }
        }
        let result = self.float().powf(exponent.float());
        if result.is_nan() { Err(CalcError::Undefined("a power")) } else { Self::about(result) }
    }

    fn sqrt(&self) -> Result<Self, CalcError> {
        if self.float() < 0.0 {
            return Err(CalcError::Undefined("a square root"));
        }
        let root = |n: &BigInt| Some(n.sqrt()).filter(|r| r * r == *n);
        if let Self::Exact(n, d) = self
            && let (Some(n), Some(d)) = (root(n), root(d))
        {
            return Ok(Self::Exact(n, d));
        }
        Self::about(self.float().sqrt())
    }

    fn factorial(&self) -> Result<Self, CalcError> {
        let whole = match self {
            Self::Exact(n, d) if d.bits() == 1 && *n >= BigInt::ZERO => n,
            _ => return Err(CalcError::Undefined("a factorial")),
        };
        let n = u32::try_from(whole).ok().filter(|n| *n <= MAX_FACTORIAL).ok_or(CalcError::TooLarge)?;
        Ok(Self::whole((2..=n).fold(BigInt::from(1), |product, k| product * k)))
    }

    /// Whether this is the smaller one.
    fn less(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Exact(a, b), Self::Exact(c, d)) => a * d < c * b,
            _ => self.float() < other.float(),
        }
    }

    /// Whether nothing was rounded.
    pub fn is_exact(&self) -> bool {
        matches!(self, Self::Exact(..))
    }
}

/// An integer to a power, as long as it stays below [`MAX_BITS`].
fn raised(base: &BigInt, exponent: &num_bigint::BigUint) -> Option<BigInt> {
    let step = base.bits().saturating_sub(1);
    if step == 0 {
        // 0, 1 and -1: only whether the exponent is zero or odd counts.
        let odd = exponent.bit(0);
        return Some(match (exponent.bits(), odd) {
            (0, _) => BigInt::from(1),
            (_, true) => base.clone(),
            (_, false) => base * base,
        });
    }
    let exponent = u32::try_from(exponent).ok().filter(|e| u64::from(*e).saturating_mul(step) <= MAX_BITS)?;
    Some(base.pow(exponent))
}

fn gcd(a: BigInt, b: BigInt) -> BigInt {
    let (mut a, mut b) = (BigInt::from(a.magnitude().clone()), BigInt::from(b.magnitude().clone()));
    while b != BigInt::ZERO {
        let rest = &a % &b;
        (a, b) = (b, rest);
    }
    a
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(n, d) if d.bits() == 1 => write!(f, "{n}"),
            Self::Exact(n, d) => match decimal(n, d) {
                Some(text) => f.write_str(&text),
                None => write!(f, "{n}/{d} ≈ {}", significant(self.float())),
            },
            Self::About(x) => write!(f, "≈ {}", significant(*x)),
        }
    }
}

/// An expression and its value as one line, with one sign between them: `1/3 ≈ 0.333333333333`.
pub fn equation(expression: &str, value: &str) -> String {
    let expression = expression.trim();
    if value.starts_with('≈') {
        return format!("{expression} {value}");
    }
    match value.split_once(" ≈ ") {
        Some((exact, about)) if expression.split_whitespace().collect::<String>() == exact => {
            format!("{expression} ≈ {about}")
        }
        Some((exact, about)) => format!("{expression} = {exact}, about {about}"),
        None => format!("{expression} = {value}"),
    }
}

/// The finite decimal of a fraction, if it has one of at most 30 places.
fn decimal(n: &BigInt, d: &BigInt) -> Option<String> {
    let (n, d, sign) = (n.magnitude(), d.magnitude(), if *n < BigInt::ZERO { "-" } else { "" });
    let (zero, mut rest, mut places) = (num_bigint::BigUint::ZERO, n % d, String::new());
    while rest != zero {
        if places.len() == 30 {
            return None;
        }
        rest *= 10u32;
        places.push_str(&(&rest / d).to_string());
        rest %= d;
    }
    Some(format!("{sign}{}.{places}", n / d))
}

/// Twelve significant digits, without trailing zeros.
fn significant(x: f64) -> String {
    if x == 0.0 {
        return "0".to_owned();
    }
    let magnitude = x.abs().log10().floor();
    if !(-6.0..15.0).contains(&magnitude) {
        return format!("{x:.11e}");
    }
    let places = (11.0 - magnitude).clamp(0.0, 20.0) as usize;
    let text = format!("{x:.places$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// The value of an expression: `+ - * / ^ % !`, brackets, decimals, `15% of 80`, and `sqrt`,
/// `abs`, `round`, `floor`, `ceil`, `min`, `max`, `pi`, `e`.
pub fn evaluate(expression: &str) -> Result<Number, CalcError> {
    if expression.len() > MAX_EXPRESSION {
        return Err(CalcError::TooLong);
    }
    let chars: Vec<char> = expression.chars().collect();
    let mut parser = Parser { chars, at: 0, depth: 0 };
    let value = parser.sum()?;
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&mut self) -> Option<char> {
        while self.chars.get(self.at).is_some_and(|c| c.is_whitespace()) {
            self.at += 1;
        }
        self.chars.get(self.at).copied()
    }

    fn take(&mut self, wanted: &[char]) -> bool {
        let found = self.peek().is_some_and(|c| wanted.contains(&c));
        self.at += usize::from(found);
        found
    }

    /// Takes a word that stands alone.
    fn take_word(&mut self, wanted: &str) -> bool {
        self.peek();
        let word: String = self.chars[self.at..].iter().take_while(|c| c.is_alphabetic()).collect();
        let found = word.eq_ignore_ascii_case(wanted);
        self.at += if found { word.chars().count() } else { 0 };
        found
    }

    fn unexpected(&mut self) -> CalcError {
        match self.peek() {
            None => CalcError::Incomplete,
            Some(first) => {
                let found: String = match first.is_alphanumeric() {
                    true => self.chars[self.at..].iter().take_while(|c| c.is_alphanumeric()).take(24).collect(),
                    false => first.to_string(),
                };
                CalcError::Unexpected { found, at: self.at + 1 }
            }
        }
    }

    fn sum(&mut self) -> Result<Number, CalcError> {
        let mut value = self.product()?;
        loop {
            if self.take(&['+']) {
                value = value.add(&self.product()?)?;
            } else if self.take(&['-', '−', '–']) {
                value = value.add(&self.product()?.negate())?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<Number, CalcError> {
        let mut value = self.unary()?;
        loop {
            if self.take(&['*', '×', '·']) || self.take_word("x") || self.take_word("times") || self.take_word("of") {
                value = value.mul(&self.unary()?)?;
            } else if self.take(&['/', '÷', ':']) {
                value = value.div(&self.unary()?)?;
            } else if self.take(&['%']) || self.take_word("mod") {
                value = value.modulo(&self.unary()?)?;
            } else {
                return Ok(value);
            }
        }
    }

    fn unary(&mut self) -> Result<Number, CalcError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(CalcError::TooDeep);
        }
        let value = if self.take(&['-', '−', '–']) {
            self.unary()?.negate()
        } else if self.take(&['+']) {
            self.unary()?
        } else {
            self.powered()?
        };
        self.depth -= 1;
        Ok(value)
    }

    fn powered(&mut self) -> Result<Number, CalcError> {
        let base = self.postfix()?;
        self.peek();
        if self.chars[self.at..].starts_with(&['*', '*']) {
            self.at += 2;
        } else if !self.take(&['^']) {
            return Ok(base);
        }
        base.power(&self.unary()?)
    }

    fn postfix(&mut self) -> Result<Number, CalcError> {
        let mut value = self.atom()?;
        loop {
            if self.take(&['!']) {
                value = value.factorial()?;
            } else if self.peek() == Some('%') && self.is_percent() {
                self.at += 1;
                value = value.div(&Number::whole(100))?;
            } else {
                return Ok(value);
            }
        }
    }

    /// `%` before a value is the remainder, anywhere else it is a hundredth.
    fn is_percent(&mut self) -> bool {
        let from = self.at;
        self.at += 1;
        let next = self.peek();
        let value_follows = next.is_some_and(|c| c.is_ascii_digit() || c == '(' || c == '.')
            || (next.is_some_and(char::is_alphabetic)
                && !["of", "x", "times", "mod"].iter().any(|word| {
                    let at = self.at;
                    let found = self.take_word(word);
                    self.at = at;
                    found
                }));
        self.at = from;
        !value_follows
    }

    fn atom(&mut self) -> Result<Number, CalcError> {
        match self.peek() {
            Some('(') => {
                self.at += 1;
                let value = self.sum()?;
                if self.take(&[')']) { Ok(value) } else { Err(self.unexpected()) }
            }
            Some('√') => {
                self.at += 1;
                self.unary()?.sqrt()
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_ascii_alphabetic() => self.named(),
            Some('π') => {
                self.at += 1;
                Ok(Number::About(std::f64::consts::PI))
            }
            _ => Err(self.unexpected()),
        }
    }

    fn number(&mut self) -> Result<Number, CalcError> {
        let from = self.at;
        let (mut digits, mut scale, mut point) = (String::new(), 0u32, false);
        while let Some(&c) = self.chars.get(self.at) {
            match c {
                '0'..='9' => {
                    digits.push(c);
                    scale += u32::from(point);
                }
                '.' if !point => point = true,
                // A thousands mark inside a number: `1,000` or `1_000`, three digits behind it.
                ',' | '_' if !point && !digits.is_empty() && self.group_follows() => {}
                _ => break,
            }
            self.at += 1;
        }
        if digits.is_empty() {
            self.at = from;
            return Err(self.unexpected());
        }
        let exact = digits.parse().ok().and_then(|n: BigInt| Number::ratio(n, BigInt::from(10).pow(scale)));
        match exact {
            Some(number) => Ok(number),
            None if !point => Err(CalcError::TooLarge),
            None => {
                let text: String = self.chars[from..self.at].iter().filter(|c| !matches!(c, ',' | '_')).collect();
                Number::about(text.parse().map_err(|_| CalcError::TooLarge)?)
            }
        }
    }

    fn group_follows(&self) -> bool {
        let behind = &self.chars[self.at + 1..];
        behind.len() >= 3
            && behind[..3].iter().all(char::is_ascii_digit)
            && !behind.get(3).is_some_and(char::is_ascii_digit)
    }

    fn named(&mut self) -> Result<Number, CalcError> {
        for (word, value) in [("pi", std::f64::consts::PI), ("e", std::f64::consts::E)] {
            if self.take_word(word) {
                return Ok(Number::About(value));
            }
        }
        let functions = ["sqrt", "abs", "round", "floor", "ceil", "min", "max"];
        let from = self.at;
        let Some(name) = functions.into_iter().find(|name| self.take_word(name)) else {
            return Err(self.unexpected());
        };
        if !self.take(&['(']) {
            self.at = from;
            return Err(self.unexpected());
        }
        let mut values = vec![self.sum()?];
        while self.take(&[',', ';']) {
            values.push(self.sum()?);
        }
        if !self.take(&[')']) {
            return Err(self.unexpected());
        }
        let one = match values.as_slice() {
            [one] => Ok(one.clone()),
            _ => Err(CalcError::Arity(name)),
        };
        match name {
            "sqrt" => one?.sqrt(),
            "abs" => one.map(|x| if x.float() < 0.0 { x.negate() } else { x }),
            "floor" => one.map(Number::floor),
            "ceil" => one.map(|x| x.negate().floor().negate()),
            "round" => Ok(one?.add(&Number::Exact(1.into(), 2.into()))?.floor()),
            "min" => Ok(values.into_iter().reduce(|a, b| if b.less(&a) { b } else { a }).unwrap_or(Number::whole(0))),
            _ => Ok(values.into_iter().reduce(|a, b| if a.less(&b) { b } else { a }).unwrap_or(Number::whole(0))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_is_exact_where_it_can_be() {
        for (expression, value) in [
            ("12*7", "84"),
            ("0.1 + 0.2", "0.3"),
            ("1/3", "1/3 ≈ 0.333333333333"),
            ("2 + 3 * 4 - -1", "15"),
            ("-2^2", "-4"),
            ("2^3^2", "512"),
            ("2**-2", "0.25"),
            ("(1 + 2) × 3 ÷ 4", "2.25"),
            ("15% of 80", "12"),
            ("10 % 3", "1"),
            ("-7 % 3", "2"),
            ("50%", "0.5"),
            ("1,000,000 + 1_000", "1001000"),
            ("5!", "120"),
            ("sqrt(16/9)", "4/3 ≈ 1.33333333333"),
            ("sqrt(2)", "≈ 1.41421356237"),
            ("√(49) x 2", "14"),
            ("min(3, 1.5, 2) + max(1; 2)", "3.5"),
            ("round(2.5) + floor(-0.5) + ceil(0.1) + abs(-3)", "6"),
            ("9007199254740993 + 1", "9007199254740994"),
            ("2^200", "1606938044258990275541962092341162602522202993782792835301376"),
            (
                "99999999999999999999999999 * 99999999999999999999999999",
                "9999999999999999999999999800000000000000000000000001",
            ),
            ("30!/28!", "870"),
            ("(-1)^99999999999999999999", "-1"),
            ("2^-3", "0.125"),
            ("(2/3)^-2", "2.25"),
            ("-7/2 % 3", "2.5"),
            ("floor(-7/2)", "-4"),
            ("max(10^30 + 1, 10^30)", "1000000000000000000000000000001"),
            ("(1/3)^700", "≈ 0"),
            ("3 times 4", "12"),
            ("pi", "≈ 3.14159265359"),
        ] {
            assert_eq!(evaluate(expression).map(|n| n.to_string()), Ok(value.to_owned()), "{expression}");
        }
    }

    #[test]
    fn what_is_no_arithmetic_is_refused() {
        let unexpected = |found: &str, at| CalcError::Unexpected { found: found.into(), at };
        for (expression, error) in [
            ("", CalcError::Incomplete),
            ("1 +", CalcError::Incomplete),
            ("(1", CalcError::Incomplete),
            ("1 / 0", CalcError::DivisionByZero),
            ("0^-1", CalcError::DivisionByZero),
            ("5 % 0", CalcError::DivisionByZero),
            ("sqrt(-1)", CalcError::Undefined("a square root")),
            ("(-8)^0.5", CalcError::Undefined("a power")),
            ("0.5!", CalcError::Undefined("a factorial")),
            ("abs(1, 2)", CalcError::Arity("abs")),
            ("alert(1)", unexpected("alert", 1)),
            ("2 apples", unexpected("apples", 3)),
            ("1..2", unexpected(".", 3)),
            (".", unexpected(".", 1)),
            ("10^999", CalcError::TooLarge),
            ("9^9^9^9", CalcError::TooLarge),
            ("171!", CalcError::TooLarge),
            ("99999999999!", CalcError::TooLarge),
            ("10^300 * 10^300", CalcError::TooLarge),
            ("10^300 + 10^308 * 10", CalcError::TooLarge),
        ] {
            assert_eq!(evaluate(expression), Err(error), "{expression}");
        }
        assert_eq!(evaluate(&"1".repeat(MAX_EXPRESSION + 1)), Err(CalcError::TooLong));
        assert_eq!(evaluate(&"(".repeat(500)), Err(CalcError::TooDeep));
        assert_eq!(evaluate(&"-".repeat(500)), Err(CalcError::TooDeep));
        assert_eq!(evaluate(&"2^".repeat(200)), Err(CalcError::TooDeep));
    }

    #[test]
    fn an_integer_keeps_all_its_digits_up_to_the_bound_and_is_too_large_beyond() {
        let most = "9".repeat(307);
        assert_eq!(evaluate(&most).map(|n| n.to_string()), Ok(most.clone()));
        assert_eq!(evaluate("10^300 + 7 - 10^300").map(|n| n.to_string()), Ok("7".to_owned()));
        assert_eq!(evaluate(&"9".repeat(320)), Err(CalcError::TooLarge));
        let digits = evaluate("170!").map(|n| n.to_string().len());
        assert_eq!(digits, Ok(307));
    }

    #[test]
    fn one_sign_stands_between_an_expression_and_its_value() {
        for (expression, line) in [
            ("12*7", "12*7 = 84"),
            ("1/3", "1/3 ≈ 0.333333333333"),
            (" 2 / 6 ", "2 / 6 = 1/3, about 0.333333333333"),
            ("sqrt(2)", "sqrt(2) ≈ 1.41421356237"),
        ] {
            let value = evaluate(expression).expect("value").to_string();
            assert_eq!(equation(expression, &value), line);
        }
    }

    #[test]
    fn no_text_makes_it_panic() {
        let pieces = [
            "1",
            "9",
            ".",
            "(",
            ")",
            "-",
            "^",
            "%",
            "!",
            "e",
            "x",
            " of ",
            "sqrt(",
            ",",
            "99999999999999999999",
            "/",
            "√",
            "🌊",
            "−",
        ];
        let mut seed = 7u64;
        for _ in 0..20_000 {
            let mut text = String::new();
            for _ in 0..(seed % 14) {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
            }
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(3);
            if let Ok(number) = evaluate(&text) {
                let _ = number.to_string();
            }
        }
    }
}
