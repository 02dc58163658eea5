//! SSSE3: the same shape as the WebAssembly kernels, so that native tests exercise their loop.
#![allow(unsafe_code)]
#![allow(clippy::needless_range_loop, reason = "one index runs over several arrays")]

use super::{BLOCK, Matrix, Packed, ROWS, Row};
use core::arch::x86_64::*;

type V = __m128i;

macro_rules! ops {
    ($($name:ident($($arg:ident: $t:ty),*) -> $r:ty = $body:expr;)*) => {$(
        #[inline]
        #[target_feature(enable = "ssse3")]
        fn $name($($arg: $t),*) -> $r { $body }
    )*};
}

ops! {
    zero() -> V = _mm_setzero_si128();
    splat(x: f32) -> V = _mm_castps_si128(_mm_set1_ps(x));
    splat_int(x: i32) -> V = _mm_set1_epi32(x);
    add(a: V, b: V) -> V = _mm_castps_si128(_mm_add_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
    mul(a: V, b: V) -> V = _mm_castps_si128(_mm_mul_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b)));
    to_float(a: V) -> V = _mm_castps_si128(_mm_cvtepi32_ps(a));
    add_int(a: V, b: V) -> V = _mm_add_epi32(a, b);
    dot_pairs(a: V, b: V) -> V = _mm_madd_epi16(a, b);
    low_bytes(x: V) -> V = _mm_and_si128(x, _mm_set1_epi16(0xff));
    high_bytes(x: V) -> V = _mm_srli_epi16::<8>(x);
    // f16 to f32: exponent and mantissa moved into place, the bias corrected by a multiplication, which also gets
    // subnormals right
    half_bits(w: V) -> V = {
        let sign = _mm_slli_epi32::<16>(_mm_and_si128(w, _mm_set1_epi32(0x8000)));
        let rest = _mm_slli_epi32::<13>(_mm_and_si128(w, _mm_set1_epi32(0x7fff)));
        _mm_or_si128(mul(rest, splat(crate::half::BIAS)), sign)
    };
    f16x8(b: &[u8; 16]) -> (V, V) = {
        let x = load(b);
        (half_bits(_mm_unpacklo_epi16(x, zero())), half_bits(_mm_unpackhi_epi16(x, zero())))
    };
    f16x4(b: &[u8; 8]) -> V = half_bits(_mm_unpacklo_epi16(_mm_cvtsi64_si128(i64::from_le_bytes(*b)), zero()));
    // SAFETY: the reference proves 16 readable bytes; the instruction wants no alignment.
    load(b: &[u8; 16]) -> V = unsafe { _mm_loadu_si128(b.as_ptr().cast()) };
    // SAFETY: the reference proves 16 writable bytes that nobody else sees; the instruction wants no alignment.
    store(out: &mut [f32; 4], x: V) -> () = unsafe { _mm_storeu_ps(out.as_mut_ptr(), _mm_castsi128_ps(x)) };
}

/// 16-bit sums over the whole block (at most 16 products of 15 * 127), widened once.
#[inline]
#[target_feature(enable = "ssse3")]
fn q4_block<const G: usize, const T: usize>(words: [&[[u8; 16]]; G], a: [(&[i32; 8], &[i32; 16]); T]) -> [[V; T]; G] {
    let mut dots = [[zero(); T]; G];
    for c in 0..4 {
        for g in 0..G {
            let x = load(&words[g][c]);
            let nibble = _mm_set1_epi8(15);
            let (low, high) = (_mm_and_si128(x, nibble), _mm_and_si128(_mm_srli_epi16::<4>(x), nibble));
            for t in 0..T {
                let (bytes, dot) = (a[t].0, &mut dots[g][t]);
                *dot = _mm_add_epi16(*dot, _mm_maddubs_epi16(low, splat_int(bytes[2 * c])));
                *dot = _mm_add_epi16(*dot, _mm_maddubs_epi16(high, splat_int(bytes[2 * c + 1])));
            }
        }
    }
    for dot in dots.as_flattened_mut() {
        *dot = _mm_madd_epi16(*dot, _mm_set1_epi16(1));
    }
    dots
}

simd_tile!(#[inline] #[target_feature(enable = "ssse3")]);
