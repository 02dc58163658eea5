//! WebAssembly: fixed-width SIMD, and relaxed SIMD where the build has it.
#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop, reason = "one index runs over several arrays")]

use core::arch::wasm32::*;

type V = v128;

#[inline(always)]
fn zero() -> V {
    i32x4_splat(0)
}
#[inline(always)]
fn splat(x: f32) -> V {
    f32x4_splat(x)
}
#[inline(always)]
fn splat_int(x: i32) -> V {
    i32x4_splat(x)
}
#[inline(always)]
fn add(a: V, b: V) -> V {
    f32x4_add(a, b)
}
#[inline(always)]
fn mul(a: V, b: V) -> V {
    f32x4_mul(a, b)
}
#[inline(always)]
fn to_float(a: V) -> V {
    f32x4_convert_i32x4(a)
}
#[inline(always)]
fn add_int(a: V, b: V) -> V {
    i32x4_add(a, b)
}
#[inline(always)]
fn dot_pairs(a: V, b: V) -> V {
    i32x4_dot_i16x8(a, b)
}
#[inline(always)]
fn low_bytes(x: V) -> V {
    v128_and(x, u16x8_splat(0xff))
}
#[inline(always)]
fn high_bytes(x: V) -> V {
    u16x8_shr(x, 8)
}
/// f16 in the upper halves to f32: moved into place, the bias corrected by a multiplication, subnormals included.
#[inline(always)]
fn half_bits(w: V) -> V {
    // The arithmetic shift fills three bits with the sign, which the mask takes away again.
    mul(v128_and(i32x4_shr(w, 3), i32x4_splat(0x8fff_e000_u32.cast_signed())), splat(crate::half::BIAS))
}
#[inline(always)]
fn f16x8(b: &[u8; 16]) -> (V, V) {
    let x = load(b);
    (
        half_bits(i16x8_shuffle::<0, 8, 0, 9, 0, 10, 0, 11>(zero(), x)),
        half_bits(i16x8_shuffle::<0, 12, 0, 13, 0, 14, 0, 15>(zero(), x)),
    )
}
#[inline(always)]
fn f16x4(b: &[u8; 8]) -> V {
    half_bits(i16x8_shuffle::<0, 8, 0, 9, 0, 10, 0, 11>(zero(), u64x2_splat(u64::from_le_bytes(*b))))
}
#[inline(always)]
fn load(b: &[u8; 16]) -> V {
    // SAFETY: the reference proves 16 readable bytes; the instruction wants no alignment.
    unsafe { v128_load(b.as_ptr().cast()) }
}
#[inline(always)]
fn store(out: &mut [f32; 4], x: V) {
    // SAFETY: the reference proves 16 writable bytes that nobody else sees; the instruction wants no alignment.
    unsafe { v128_store(out.as_mut_ptr().cast(), x) }
}

/// Nibbles come apart in 16-bit lanes, four shifts of the same word, and meet activations widened beforehand.
pub(super) mod plain {
    use super::super::{BLOCK, Matrix, Packed, ROWS, Row};
    use super::*;

    #[inline(always)]
    fn q4_block<const G: usize, const T: usize>(
        words: [&[[u8; 16]]; G],
        a: [(&[i32; 8], &[i32; 16]); T],
    ) -> [[V; T]; G] {
        let mut dots = [[zero(); T]; G];
        for c in 0..4 {
            for g in 0..G {
                let x = load(&words[g][c]);
                let nibble = u16x8_splat(15);
                let parts = [
                    v128_and(x, nibble),
                    v128_and(u16x8_shr(x, 4), nibble),
                    v128_and(u16x8_shr(x, 8), nibble),
                    u16x8_shr(x, 12),
                ];
                for t in 0..T {
                    for (i, part) in parts.into_iter().enumerate() {
                        dots[g][t] = add_int(dots[g][t], dot_pairs(part, splat_int(a[t].1[4 * c + i])));
                    }
                }
            }
        }
        dots
    }

    simd_tile!(#[inline(always)]);
}

/// One instruction multiplies 16 nibbles and adds neighbours; 16-bit sums over the block, widened once.
#[cfg(target_feature = "relaxed-simd")]
pub(super) mod relaxed {
    use super::super::{BLOCK, Matrix, Packed, ROWS, Row};
    use super::*;

    #[inline(always)]
    fn q4_block<const G: usize, const T: usize>(
        words: [&[[u8; 16]]; G],
        a: [(&[i32; 8], &[i32; 16]); T],
    ) -> [[V; T]; G] {
        let mut dots = [[zero(); T]; G];
        for c in 0..4 {
            for g in 0..G {
                let x = load(&words[g][c]);
                let (low, high) = (v128_and(x, u8x16_splat(15)), u8x16_shr(x, 4));
                for t in 0..T {
                    let (bytes, dot) = (a[t].0, &mut dots[g][t]);
                    *dot = i16x8_add(*dot, i16x8_relaxed_dot_i8x16_i7x16(splat_int(bytes[2 * c]), low));
                    *dot = i16x8_add(*dot, i16x8_relaxed_dot_i8x16_i7x16(splat_int(bytes[2 * c + 1]), high));
                }
            }
        }
        dots.map(|row| row.map(|dot| i32x4_extadd_pairwise_i16x8(dot)))
    }

    simd_tile!(#[inline(always)]);
}
