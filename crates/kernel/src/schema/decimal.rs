//! Numbers as they were written, compared by their digits and never through a float; and
//! equality of values as JSON Schema means it.

use serde_json::{Number, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Largest power of ten that is told from others.
const EXP_MAX: i64 = 1_000_000;
/// An exact decimal: sign, digits without leading or trailing zeros, and the power of ten of
/// the first digit. Enough to compare and to see an integer, for any number of digits. It
/// borrows the digits, because arguments may be thousands of numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decimal<'n> {
    pub(super) negative: bool,
    /// Digits before the point, then those behind it, in ASCII.
    parts: [&'n [u8]; 2],
    /// Value is 0.d1d2d3… × 10^exp.
    exp: i64,
}

impl<'n> Decimal<'n> {
    pub(super) fn of(n: &'n Number) -> Self {
        let text = n.as_str();
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |t| (true, t));
        let at = |wanted: fn(u8) -> bool| text.bytes().position(wanted).map(|at| (&text[..at], &text[at + 1..]));
        let (mantissa, exp) = at(|b| matches!(b, b'e' | b'E')).unwrap_or((text, "0"));
        // Beyond a million a number is only “huge” or “tiny”; the clamp keeps every sum in range.
        let far = if exp.starts_with('-') { -EXP_MAX } else { EXP_MAX };
        let exp: i64 = exp.parse().unwrap_or(far).clamp(-EXP_MAX, EXP_MAX);
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let int = whole.trim_start_matches('0');
        let mut lead = whole.len() - int.len();
        let mut frac = fraction.trim_end_matches('0');
        if int.is_empty() {
            let digits = frac.trim_start_matches('0');
            lead += frac.len() - digits.len();
            frac = digits;
        }
        let kept = if frac.is_empty() { int.trim_end_matches('0') } else { int };
        if kept.is_empty() && frac.is_empty() {
            return Self { negative: false, parts: [&[], &[]], exp: 0 };
        }
        let place = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let exp = exp.saturating_add(place(whole.len())).saturating_sub(place(lead));
        Self { negative, parts: [kept.as_bytes(), frac.as_bytes()], exp }
    }
    /// How many digits; none for zero.
    pub(super) fn len(&self) -> usize {
        self.parts[0].len() + self.parts[1].len()
    }
    fn digits(&self) -> impl Iterator<Item = u8> + use<'n> {
        let [int, frac] = self.parts;
        int.iter().chain(frac).map(|d| d - b'0')
    }
    pub(super) fn is_integer(&self) -> bool {
        self.exp >= 0 && usize::try_from(self.exp).is_ok_and(|e| e >= self.len()) || self.len() == 0
    }
    pub(super) fn cmp(&self, o: &Self) -> std::cmp::Ordering {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let sign = |d: &Self| {
            if d.len() == 0 {
                0
            } else if d.negative {
                -1
            } else {
                1
            }
        };
        match sign(self).cmp(&sign(o)) {
            Equal => {}
            other => return other,
        }
        let magnitude = match self.exp.cmp(&o.exp) {
            Equal => self.digits().cmp(o.digits()),
            other => other,
        };
        match (self.negative, magnitude) {
            (false, m) => m,
            (true, Less) => Greater,
            (true, Greater) => Less,
            (true, Equal) => Equal,
        }
    }
    /// True when `self` is a whole multiple of `o` (`multipleOf`), whose digits fit 18.
    pub(super) fn multiple_of(&self, o: &Self) -> bool {
        if self.len() == 0 {
            return true;
        }
        let scale = |d: &Self| d.exp - i64::try_from(d.len()).unwrap_or(0);
        // Neither ends in a zero, so what is finer than its divisor is no multiple of it.
        let Ok(mut power) = u64::try_from(scale(self) - scale(o)) else { return false };
        if o.len() == 0 || o.len() > DIVISOR_DIGITS {
            return false;
        }
        let m = o.digits().fold(0_u128, |a, d| a * 10 + u128::from(d));
        let mut rest = self.digits().fold(0_u128, |a, d| (a * 10 + u128::from(d)) % m);
        let mut ten = 10 % m;
        while power > 0 {
            if power & 1 == 1 {
                rest = rest * ten % m;
            }
            ten = ten * ten % m;
            power >>= 1;
        }
        rest == 0
    }
    /// One text for all ways of writing the number.
    fn canonical(&self) -> String {
        let digits: String = self.digits().map(|d| char::from(b'0' + d)).collect();
        format!("{}{digits}e{}", if self.negative { "-" } else { "" }, self.exp)
    }
}

/// Digits of a `multipleOf`.
pub(super) const DIVISOR_DIGITS: usize = 18;

/// One text for all values that are equal by [`same`].
fn canonical(v: &Value, out: &mut String) {
    match v {
        Value::Number(n) => out.push_str(&Decimal::of(n).canonical()),
        Value::Array(a) => {
            out.push('[');
            for v in a {
                canonical(v, out);
                out.push(',');
            }
            out.push(']');
        }
        Value::Object(m) => {
            let sorted: BTreeMap<_, _> = m.iter().collect();
            out.push('{');
            for (k, v) in sorted {
                out.push_str(&Value::from(k.as_str()).to_string());
                out.push(':');
                canonical(v, out);
                out.push(',');
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

pub(super) fn all_differ(a: &[Value]) -> bool {
    let mut seen = BTreeSet::new();
    a.iter().all(|v| {
        let mut text = String::new();
        canonical(v, &mut text);
        seen.insert(text)
    })
}

/// Equality of JSON values with numbers by value: `1` equals `1.0`.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => Decimal::of(a).cmp(&Decimal::of(b)).is_eq(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}
