//! `calculator.evaluate`: arithmetic with exact fractions as long as they fit, no `eval`.
//!
//! Numbers are fractions of two `i128`, so `0.1 + 0.2` is `0.3`. What no fraction can hold (a
//! root, a number too large) is computed in floating point and says so with `≈`.

use std::fmt;

/// The longest expression, in bytes.
pub const MAX_EXPRESSION: usize = 512;
/// The deepest nesting.
pub const MAX_DEPTH: usize = 48;
/// The largest exponent and factorial worked out exactly.
const MAX_EXACT_POWER: i128 = 512;

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

/// A number: an exact fraction in lowest terms with a positive denominator, or an approximation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Exactly this fraction.
    Exact(i128, i128),
    /// About this.
    About(f64),
}

impl Number {
    fn whole(n: i128) -> Self {
        Self::Exact(n, 1)
    }

    fn ratio(num: i128, den: i128) -> Option<Self> {
        let (num, den) = if den < 0 { (num.checked_neg()?, den.checked_neg()?) } else { (num, den) };
        let g = gcd(num.unsigned_abs(), den.unsigned_abs());
        let g = i128::try_from(g).ok().filter(|g| *g > 0)?;
        Some(Self::Exact(num / g, den / g))
    }

    fn float(self) -> f64 {
        match self {
            Self::Exact(n, d) => n as f64 / d as f64,
            Self::About(x) => x,
        }
    }

    fn about(x: f64) -> Result<Self, CalcError> {
        if x.is_finite() { Ok(Self::About(x)) } else { Err(CalcError::TooLarge) }
    }

    fn is_zero(self) -> bool {
        match self {
            Self::Exact(n, _) => n == 0,
            Self::About(x) => x == 0.0,
        }
    }

    fn both(
        self,
        other: Self,
        exact: impl Fn(i128, i128, i128, i128) -> Option<Self>,
        about: impl Fn(f64, f64) -> f64,
    ) -> Result<Self, CalcError> {
        if let (Self::Exact(a, b), Self::Exact(c, d)) = (self, other)
            && let Some(result) = exact(a, b, c, d)
        {
            return Ok(result);
        }
        Self::about(about(self.float(), other.float()))
    }

    fn add(self, other: Self) -> Result<Self, CalcError> {
        self.both(
            other,
            |a, b, c, d| Self::ratio(a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?, b.checked_mul(d)?),
            |x, y| x + y,
        )
    }

    fn negate(self) -> Self {
        match self {
            Self::Exact(n, d) => n.checked_neg().map_or(Self::About(-self.float()), |n| Self::Exact(n, d)),
            Self::About(x) => Self::About(-x),
        }
    }

    fn mul(self, other: Self) -> Result<Self, CalcError> {
        self.both(other, |a, b, c, d| Self::ratio(a.checked_mul(c)?, b.checked_mul(d)?), |x, y| x * y)
    }

    fn div(self, other: Self) -> Result<Self, CalcError> {
        if other.is_zero() {
            return Err(CalcError::DivisionByZero);
        }
        self.both(other, |a, b, c, d| Self::ratio(a.checked_mul(d)?, b.checked_mul(c)?), |x, y| x / y)
    }

    fn modulo(self, other: Self) -> Result<Self, CalcError> {
        let whole = self.div(other)?.floor();
        self.add(whole.mul(other)?.negate())
    }

    fn floor(self) -> Self {
        match self {
            Self::Exact(n, d) => Self::whole(n.div_euclid(d)),
            Self::About(x) => Self::About(x.floor()),
        }
    }

    fn power(self, exponent: Self) -> Result<Self, CalcError> {
        if self.is_zero() && exponent.float() < 0.0 {
            return Err(CalcError::DivisionByZero);
        }
        if let (Self::Exact(..), Self::Exact(e, 1)) = (self, exponent)
            && e.abs() <= MAX_EXACT_POWER
        {
            let mut result = Self::whole(1);
            for _ in 0..e.abs() {
                result = result.mul(self)?;
            }
            return if e < 0 { Self::whole(1).div(result) } else { Ok(result) };
        }
        let result = self.float().powf(exponent.float());
        if result.is_nan() { Err(CalcError::Undefined("a power")) } else { Self::about(result) }
    }

    fn sqrt(self) -> Result<Self, CalcError> {
        if self.float() < 0.0 {
            return Err(CalcError::Undefined("a square root"));
        }
        let root = |n: i128| {
            Some(n.unsigned_abs().isqrt()).and_then(|r| i128::try_from(r).ok()).filter(|r| r.checked_mul(*r) == Some(n))
        };
        if let Self::Exact(n, d) = self
            && let (Some(n), Some(d)) = (root(n), root(d))
        {
            return Ok(Self::Exact(n, d));
        }
        Self::about(self.float().sqrt())
    }

    fn factorial(self) -> Result<Self, CalcError> {
        let Self::Exact(n @ 0..=MAX_EXACT_POWER, 1) = self else {
            return Err(CalcError::Undefined("a factorial"));
        };
        (2..=n).try_fold(Self::whole(1), |acc, k| acc.mul(Self::whole(k)))
    }

    /// Whether nothing was rounded.
    pub fn is_exact(self) -> bool {
        matches!(self, Self::Exact(..))
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Exact(n, 1) => write!(f, "{n}"),
            Self::Exact(n, d) => match decimal(n, d) {
                Some(text) => f.write_str(&text),
                None => write!(f, "{n}/{d} ≈ {}", significant(self.float())),
            },
            Self::About(x) => write!(f, "≈ {}", significant(x)),
        }
    }
}

/// The finite decimal of a fraction, if it has one of at most 30 places.
fn decimal(n: i128, d: i128) -> Option<String> {
    let mut rest = n.unsigned_abs() % d.unsigned_abs();
    let mut places = String::new();
    while rest != 0 {
        if places.len() == 30 {
            return None;
        }
        rest = rest.checked_mul(10)?;
        places.push(char::from(b'0' + u8::try_from(rest / d.unsigned_abs()).ok()?));
        rest %= d.unsigned_abs();
    }
    let sign = if n < 0 { "-" } else { "" };
    Some(format!("{sign}{}.{places}", n.unsigned_abs() / d.unsigned_abs()))
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
                value = value.add(self.product()?)?;
            } else if self.take(&['-', '−', '–']) {
                value = value.add(self.product()?.negate())?;
            } else {
                return Ok(value);
            }
        }
    }

    fn product(&mut self) -> Result<Number, CalcError> {
        let mut value = self.unary()?;
        loop {
            if self.take(&['*', '×', '·']) || self.take_word("x") || self.take_word("times") || self.take_word("of") {
                value = value.mul(self.unary()?)?;
            } else if self.take(&['/', '÷', ':']) {
                value = value.div(self.unary()?)?;
            } else if self.take(&['%']) || self.take_word("mod") {
                value = value.modulo(self.unary()?)?;
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
        base.power(self.unary()?)
    }

    fn postfix(&mut self) -> Result<Number, CalcError> {
        let mut value = self.atom()?;
        loop {
            if self.take(&['!']) {
                value = value.factorial()?;
            } else if self.peek() == Some('%') && self.is_percent() {
                self.at += 1;
                value = value.div(Number::whole(100))?;
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
        let exact = digits.parse::<i128>().ok().zip(10i128.checked_pow(scale)).and_then(|(n, d)| Number::ratio(n, d));
        match exact {
            Some(number) => Ok(number),
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
            [one] => Ok(*one),
            _ => Err(CalcError::Arity(name)),
        };
        match name {
            "sqrt" => one?.sqrt(),
            "abs" => one.map(|x| if x.float() < 0.0 { x.negate() } else { x }),
            "floor" => one.map(Number::floor),
            "ceil" => one.map(|x| x.negate().floor().negate()),
            "round" => Ok(one?.add(Number::Exact(1, 2))?.floor()),
            "min" => Ok(values
                .into_iter()
                .reduce(|a, b| if b.float() < a.float() { b } else { a })
                .unwrap_or(Number::whole(0))),
            _ => Ok(values
                .into_iter()
                .reduce(|a, b| if b.float() > a.float() { b } else { a })
                .unwrap_or(Number::whole(0))),
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
            ("2^200", "≈ 1.60693804426e60"),
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
        ] {
            assert_eq!(evaluate(expression), Err(error), "{expression}");
        }
        assert_eq!(evaluate(&"1".repeat(MAX_EXPRESSION + 1)), Err(CalcError::TooLong));
        assert_eq!(evaluate(&"(".repeat(500)), Err(CalcError::TooDeep));
        assert_eq!(evaluate(&"-".repeat(500)), Err(CalcError::TooDeep));
        assert_eq!(evaluate(&"2^".repeat(200)), Err(CalcError::TooDeep));
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
