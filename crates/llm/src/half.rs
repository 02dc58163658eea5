//! 16-bit floats, both ways.

/// 2^112: what is left to multiply by after an f16's bits were moved into f32 position.
pub const BIAS: f32 = f32::from_bits(0x7780_0000);

/// f16 bits to f32. Infinities and NaN become large finite numbers: weights and cache hold none on purpose.
#[inline(always)]
pub fn to_f32(h: u16) -> f32 {
    let rest = f32::from_bits(u32::from(h & 0x7fff) << 13) * BIAS;
    f32::from_bits(rest.to_bits() | u32::from(h & 0x8000) << 16)
}

/// f32 to f16 bits, nearest, ties to even; beyond the range the largest finite value of that sign.
#[inline(always)]
pub fn from_f32(x: f32) -> u16 {
    const MAX: f32 = 65504.0;
    let sign = ((x.to_bits() >> 16) & 0x8000) as u16;
    // a NaN becomes MAX here: comparisons with it are false
    let a = if x.abs() < MAX { x.abs() } else { MAX };
    let bits = a.to_bits();
    let normal = (bits.wrapping_add(0x0fff + ((bits >> 13) & 1)) >> 13).wrapping_sub(112 << 10);
    // below 2^-14 the mantissa is counted in steps of 2^-24: adding 0.5 puts it, rounded, into the low bits
    let small = (a + 0.5).to_bits() - 0x3f00_0000;
    sign | (if a < 6.103_515_6e-5 { small } else { normal }) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_finite_half_survives_the_round_trip() {
        for h in 0..=u16::MAX {
            if h & 0x7c00 != 0x7c00 {
                assert_eq!(from_f32(to_f32(h)), h, "{h:#x}");
            }
        }
    }

    #[test]
    fn rounding_is_to_nearest_and_range_is_kept() {
        assert_eq!(to_f32(from_f32(1.0 + 1.0 / 4096.0)), 1.0);
        assert_eq!(to_f32(from_f32(1e9)), 65504.0);
        assert_eq!(to_f32(from_f32(-1e9)), -65504.0);
        assert_eq!(to_f32(from_f32(f32::NAN)), 65504.0);
        let mut x = 1e-8f32;
        while x < 6e4 {
            let y = to_f32(from_f32(x));
            assert!((y - x).abs() <= x / 2048.0 + 3e-8, "{x} {y}");
            x *= 1.07;
        }
    }
}
