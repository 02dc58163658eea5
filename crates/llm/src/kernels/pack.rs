//! Turns rows of GGUF blocks into the interleaved layout, in place, four rows at a time.

use super::{BLOCK, Packed};

/// Packs a whole matrix of `cols` columns. The length is a whole number of four-row groups; a rest is left alone.
pub fn pack(packed: Packed, bytes: &mut [u8], cols: usize) {
    let (from, to) = (packed.block_bytes() / 4, packed.block_bytes());
    let blocks = cols / BLOCK;
    let row = blocks * from;
    let mut out = vec![0u8; 4 * row];
    for group in bytes.chunks_exact_mut(4 * row) {
        for (b, out) in out.chunks_exact_mut(to).enumerate() {
            for r in 0..4 {
                one(packed, &group[r * row + b * from..][..from], r, out);
            }
        }
        group.copy_from_slice(&out);
    }
}

fn one(packed: Packed, block: &[u8], r: usize, out: &mut [u8]) {
    out[2 * r..2 * r + 2].copy_from_slice(&block[..2]);
    if packed == Packed::Q8_0 {
        for (i, byte) in block[2..].iter().enumerate() {
            out[8 + 16 * (i / 4) + 4 * r + i % 4] = byte ^ 0x80;
        }
        return;
    }
    let nibbles = if packed == Packed::Q4_1 {
        out[8 + 2 * r..10 + 2 * r].copy_from_slice(&block[2..4]);
        &block[4..]
    } else {
        &block[2..]
    };
    let to = if packed == Packed::Q4_1 { 16 } else { 8 };
    // GGUF keeps columns 0..16 in the low nibbles and 16..32 in the high ones
    let nibble = |i: usize| if i < 16 { nibbles[i] & 15 } else { nibbles[i - 16] >> 4 };
    for c in 0..4 {
        for j in 0..4 {
            out[to + 16 * c + 4 * r + j] = nibble(8 * c + j) | nibble(8 * c + 4 + j) << 4;
        }
    }
}
