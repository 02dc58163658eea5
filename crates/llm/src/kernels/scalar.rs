//! The reference: the same sums in plain Rust, written from the layout and from nothing else.

use super::{BLOCK, Matrix, Packed, Row};
use crate::half;

pub(super) fn tile<const T: usize>(m: Matrix<'_>, a: [Row<'_>; T], out: [&mut [[f32; 4]]; T]) {
    let (size, blocks) = (m.packed.block_bytes(), m.cols / BLOCK);
    for (a, out) in a.into_iter().zip(out) {
        for (group, out) in m.bytes.chunks_exact(blocks * size).zip(out) {
            let mut sum = [0f32; 4];
            for (b, block) in group.chunks_exact(size).enumerate() {
                let [d, s] = a.scale[b];
                let at = |i: usize| half::to_f32(u16::from_le_bytes([block[2 * i], block[2 * i + 1]]));
                for (r, sum) in sum.iter_mut().enumerate() {
                    let (scale, dot) = (at(r), dot(m.packed, block, r, &a.bytes[b]) as f32);
                    *sum += match m.packed {
                        Packed::Q4_1 => (scale * d) * dot + at(4 + r) * s,
                        Packed::Q4_0 => (scale * d) * dot + (scale * -8.0) * s,
                        Packed::Q8_0 => scale * (d * dot + s * -128.0),
                    };
                }
            }
            *out = sum;
        }
    }
}

fn dot(packed: Packed, block: &[u8], r: usize, words: &[i32; 8]) -> i32 {
    let from = if packed == Packed::Q4_1 { 16 } else { 8 };
    let mut sum = 0;
    for (w, word) in words.iter().enumerate() {
        for (j, q) in word.to_le_bytes().into_iter().enumerate() {
            let n = if packed == Packed::Q8_0 {
                block[from + 16 * w + 4 * r + j]
            } else {
                let byte = block[from + 16 * (w / 2) + 4 * r + j];
                if w % 2 == 0 { byte & 15 } else { byte >> 4 }
            };
            sum += i32::from(q as i8) * i32::from(n);
        }
    }
    sum
}
