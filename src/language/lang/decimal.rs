//! Real numbers as text: decimals are read and written exactly.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

/// More digits than this are neither read nor written.
const MAX_DIGITS: u32 = 10_000;

/// The number that `12.5` or `1.25e1` denotes; none if it has too many digits.
pub fn parse(text: &str) -> Option<BigRational> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let places = u32::try_from(part.len()).ok()?;
    if exponent.unsigned_abs() > MAX_DIGITS || places > MAX_DIGITS || whole.len() > MAX_DIGITS as usize {
        return None;
    }
    let number: BigInt = format!("{whole}{part}").parse().ok()?;
    let scale = exponent - places as i32;
    let power = BigInt::from(10).pow(scale.unsigned_abs());
    Some(if scale < 0 { BigRational::new(number, power) } else { BigRational::from_integer(number * power) })
}

/// The number as B text: a decimal, or the quotient of two where it has no end.
pub fn text(r: &BigRational) -> String {
    let sign = if r.is_negative() { "-" } else { "" };
    let (numer, denom) = (r.numer().abs(), r.denom().clone());
    let Some(places) = places(&denom) else {
        return format!("{sign}{numer}.0/{denom}.0");
    };
    let power = BigInt::from(10).pow(places);
    let scaled = (numer * &power / denom).to_string();
    let width = places as usize + 1;
    let scaled = format!("{scaled:0>width$}");
    let (whole, part) = scaled.split_at(scaled.len() - places as usize);
    format!("{sign}{whole}.{}", if part.is_empty() { "0" } else { part })
}

/// How many digits behind the point a fraction with this denominator has, if it is a decimal.
fn places(denom: &BigInt) -> Option<u32> {
    let mut rest = denom.clone();
    let mut count = |by: u32| {
        let by = BigInt::from(by);
        let mut n = 0u32;
        while n <= MAX_DIGITS && (&rest % &by).is_zero() {
            rest = &rest / &by;
            n += 1;
        }
        n
    };
    let n = count(2).max(count(5));
    (rest.is_one() && n <= MAX_DIGITS).then_some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_read_and_written() {
        for (written, printed) in [
            ("0.0", "0.0"),
            ("1.5", "1.5"),
            ("0.125", "0.125"),
            ("10.0", "10.0"),
            ("12.50", "12.5"),
            ("1.25e1", "12.5"),
            ("1.5e-3", "0.0015"),
            ("2.0E+2", "200.0"),
        ] {
            let r = parse(written).unwrap_or_else(|| panic!("{written} is a number"));
            assert_eq!(text(&r), printed);
            assert_eq!(parse(printed), Some(r));
        }
        let third = BigRational::new(1.into(), 3.into());
        assert_eq!(text(&third), "1.0/3.0");
        assert_eq!(text(&-third), "-1.0/3.0");
        assert_eq!(text(&BigRational::new((-1).into(), 8.into())), "-0.125");
        assert_eq!(parse("1.0e99999999"), None);
        assert_eq!(parse("1.0e9999999999999"), None);
    }
}
