//! Quantised matrix times activations, one layout and one arithmetic for every instruction set.
//!
//! **Layout.** Four rows are interleaved, so one 32-bit lane of a 128-bit register belongs to one row and no sum ever
//! crosses lanes. A group of four rows and 32 columns is one packed block: four f16 scales (Q4_1: then four f16
//! minima), then the numbers. In a Q4 block byte `16c + 4r + j` holds column `8c + j` of row `r` in its low nibble and
//! column `8c + 4 + j` in its high one; in a Q8 block byte `16g + 4r + j` holds column `4g + j` of row `r`, biased by
//! 128. Packing keeps the size, so it is done in place.
//!
//! **Arithmetic.** Activations are rounded to signed bytes per 32 columns. Integer sums are exact in every kernel
//! (a nibble is at most 15, an activation at most 127 in magnitude: 16 products stay within 30,480, inside 16 bits),
//! and the float part is the same sequence of multiplications and additions, so all kernels agree to the last bit.
//! Relaxed SIMD is only used where its operands lie in the range in which every machine gives the same result.

pub mod pack;
mod scalar;
#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
#[macro_use]
mod tile;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
mod wasm;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::half;

/// Columns that share one scale.
pub const BLOCK: usize = 32;
/// Tokens that share one pass over the weights.
const TILE: usize = 4;
/// Streams of weights that a single token reads at a time.
#[cfg(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")))]
const ROWS: usize = 4;

/// How the numbers of a packed matrix are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packed {
    /// Scale and nibbles; the minimum is minus eight scales.
    Q4_0,
    /// Scale, minimum and nibbles.
    Q4_1,
    /// Scale and biased bytes.
    Q8_0,
}

impl Packed {
    /// Bytes of one packed block: four rows, 32 columns.
    pub const fn block_bytes(self) -> usize {
        match self {
            Self::Q4_0 => 72,
            Self::Q4_1 => 80,
            Self::Q8_0 => 136,
        }
    }
}

/// A packed matrix: `rows` a multiple of 4, `cols` a multiple of 32, `bytes` exactly as long as both say.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    /// Packed blocks, row group by row group.
    pub bytes: &'a [u8],
    /// Storage.
    pub packed: Packed,
    /// Outputs.
    pub rows: usize,
    /// Inputs.
    pub cols: usize,
}

/// Which instructions do the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// Plain Rust, everywhere: the reference.
    Scalar,
    /// x86-64 with SSSE3 (`pmaddubsw`).
    Ssse3,
    /// WebAssembly SIMD (`i32x4.dot_i16x8_s`).
    Simd128,
    /// WebAssembly relaxed SIMD (`i16x8.relaxed_dot_i8x16_i7x16_s`).
    Relaxed,
}

impl Kernel {
    /// The kernels this build can run on this machine, best last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut, reason = "a build without vector instructions adds none")]
        let mut all = vec![Self::Scalar];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("ssse3") {
            all.push(Self::Ssse3);
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        all.push(Self::Simd128);
        #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
        all.push(Self::Relaxed);
        all
    }
    /// The fastest one.
    pub fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::Scalar)
    }
    /// Name for logs and the settings page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Ssse3 => "ssse3",
            Self::Simd128 => "simd128",
            Self::Relaxed => "relaxed-simd",
        }
    }
}

/// Activations of some tokens, rounded to bytes, block by block.
///
/// Each block is kept in the two shapes the kernels read: `bytes`, four columns to a word, and `pairs`, two columns
/// widened to 16 bits to a word, in the order in which 16-bit lanes of a packed block come apart.
#[derive(Clone, Debug, Default)]
pub struct Activations {
    tokens: usize,
    blocks: usize,
    bytes: Vec<[i32; 8]>,
    pairs: Vec<[i32; 16]>,
    /// Scale, and scale times the sum of the block's bytes.
    scale: Vec<[f32; 2]>,
}

/// One token's blocks.
#[derive(Clone, Copy)]
struct Row<'a> {
    bytes: &'a [[i32; 8]],
    #[allow(dead_code, reason = "the scalar reference reads bytes only")]
    pairs: &'a [[i32; 16]],
    scale: &'a [[f32; 2]],
}

impl Activations {
    /// Makes room for `tokens` rows of `cols` columns.
    pub fn shape(&mut self, tokens: usize, cols: usize) {
        self.tokens = tokens;
        self.blocks = cols / BLOCK;
        let n = tokens * self.blocks;
        self.bytes.resize(n, [0; 8]);
        self.pairs.resize(n, [0; 16]);
        self.scale.resize(n, [0.0; 2]);
    }

    /// Rounds one token's activations; `x` is as long as the columns given to [`Self::shape`].
    pub fn set(&mut self, token: usize, x: &[f32]) {
        let from = token * self.blocks;
        for (b, xs) in x.as_chunks::<BLOCK>().0.iter().enumerate() {
            let mut top = [0f32; 4];
            for four in xs.as_chunks::<4>().0 {
                for i in 0..4 {
                    top[i] = if four[i].abs() > top[i] { four[i].abs() } else { top[i] };
                }
            }
            let d = top[0].max(top[1]).max(top[2].max(top[3])) / 127.0;
            let inverse = if d > 0.0 { 1.0 / d } else { 0.0 };
            // adding 1.5 * 2^23 leaves the rounded number in the low bits: nearest, ties to even, no call
            let mut q = [0i32; BLOCK];
            let mut sum = 0;
            for i in 0..BLOCK {
                let bits = (xs[i] * inverse + 12_582_912.0).to_bits();
                q[i] = i32::from(((bits & 0x007f_ffff) as i32 - 0x0040_0000) as i8);
                sum += q[i];
            }
            self.scale[from + b] = [d, d * sum as f32];
            let (bytes, pairs) = (&mut self.bytes[from + b], &mut self.pairs[from + b]);
            for (c, e) in q.as_chunks::<8>().0.iter().enumerate() {
                let pair = |lo: i32, hi: i32| (lo & 0xffff) | (hi << 16);
                bytes[2 * c] = i32::from_le_bytes([e[0] as u8, e[1] as u8, e[2] as u8, e[3] as u8]);
                bytes[2 * c + 1] = i32::from_le_bytes([e[4] as u8, e[5] as u8, e[6] as u8, e[7] as u8]);
                pairs[4 * c] = pair(e[0], e[2]);
                pairs[4 * c + 1] = pair(e[4], e[6]);
                pairs[4 * c + 2] = pair(e[1], e[3]);
                pairs[4 * c + 3] = pair(e[5], e[7]);
            }
        }
    }

    fn row(&self, token: usize) -> Row<'_> {
        let range = token * self.blocks..(token + 1) * self.blocks;
        Row { bytes: &self.bytes[range.clone()], pairs: &self.pairs[range.clone()], scale: &self.scale[range] }
    }
}

/// `out[token][row] = m[row] · a[token]`; `out` holds `tokens * rows` numbers.
///
/// # Panics
/// Where shapes do not fit; the model checks them all when it loads.
pub fn matmul(kernel: Kernel, m: Matrix<'_>, a: &Activations, out: &mut [f32]) {
    assert_eq!(m.cols, a.blocks * BLOCK, "columns");
    assert_eq!(m.bytes.len(), m.rows / 4 * a.blocks * m.packed.block_bytes(), "bytes of a matrix");
    assert_eq!(out.len(), a.tokens * m.rows, "outputs");
    let mut token = 0;
    let mut rest = out;
    while token < a.tokens {
        let n = if a.tokens - token >= TILE { TILE } else { 1 };
        let (now, later) = rest.split_at_mut(n * m.rows);
        if n == TILE {
            tile::<TILE>(kernel, m, core::array::from_fn(|t| a.row(token + t)), now);
        } else {
            tile::<1>(kernel, m, [a.row(token)], now);
        }
        rest = later;
        token += n;
    }
}

#[cfg_attr(any(target_arch = "x86_64", all(target_arch = "wasm32", target_feature = "simd128")), allow(unsafe_code))]
fn tile<const T: usize>(kernel: Kernel, m: Matrix<'_>, a: [Row<'_>; T], out: &mut [f32]) {
    let mut parts = out.chunks_exact_mut(m.rows);
    let out: [&mut [[f32; 4]]; T] =
        core::array::from_fn(|_| parts.next().map_or(&mut [][..], |p| p.as_chunks_mut::<4>().0));
    match kernel {
        #[cfg(target_arch = "x86_64")]
        Kernel::Ssse3 if std::arch::is_x86_feature_detected!("ssse3") => {
            // SAFETY: the guard of this arm has just seen that the processor has SSSE3, all that the function needs.
            unsafe { x86::tile(m, a, out) }
        }
        #[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
        Kernel::Simd128 => wasm::plain::tile(m, a, out),
        #[cfg(all(target_arch = "wasm32", target_feature = "relaxed-simd"))]
        Kernel::Relaxed => wasm::relaxed::tile(m, a, out),
        _ => scalar::tile(m, a, out),
    }
}

/// Row `row` of a packed matrix as floats: what an embedding look-up needs.
pub fn row(m: Matrix<'_>, row: usize, out: &mut [f32]) {
    let (size, blocks, r) = (m.packed.block_bytes(), m.cols / BLOCK, row % 4);
    let group = &m.bytes[row / 4 * blocks * size..][..blocks * size];
    for (block, out) in group.chunks_exact(size).zip(out.as_chunks_mut::<BLOCK>().0) {
        let at = |i: usize| half::to_f32(u16::from_le_bytes([block[2 * i], block[2 * i + 1]]));
        let d = at(r);
        match m.packed {
            Packed::Q8_0 => {
                for (i, x) in out.iter_mut().enumerate() {
                    *x = d * (f32::from(block[8 + 16 * (i / 4) + 4 * r + i % 4]) - 128.0);
                }
            }
            Packed::Q4_0 | Packed::Q4_1 => {
                let (min, from) = if m.packed == Packed::Q4_1 { (at(4 + r), 16) } else { (-8.0 * d, 8) };
                for (i, x) in out.iter_mut().enumerate() {
                    let byte = block[from + 16 * (i / 8) + 4 * r + i % 4];
                    *x = d * f32::from(if i % 8 < 4 { byte & 15 } else { byte >> 4 }) + min;
                }
            }
        }
    }
}

/// Runs every kernel of this build against the reference on seeded numbers; the name of one that differs.
///
/// The worker calls this once before it trusts a module: relaxed instructions are allowed to differ between machines,
/// and a machine on which ours did would answer nonsense instead of failing.
pub fn self_check() -> Result<(), &'static str> {
    // nine groups of rows: some far apart, one left over
    let (rows, cols, tokens) = (36, 96, 5);
    let mut seed = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 32) as u32
    };
    let mut a = Activations::default();
    a.shape(tokens, cols);
    for t in 0..tokens {
        // the last token holds the extremes: every product at its largest
        let x: Vec<f32> = (0..cols)
            .map(|i| if t == 4 { if i / 32 == 0 { 1.0 } else { -1.0 } } else { next() as f32 / 2e9 - 1.0 })
            .collect();
        a.set(t, &x);
    }
    for packed in [Packed::Q4_0, Packed::Q4_1, Packed::Q8_0] {
        let size = packed.block_bytes();
        let scales = if packed == Packed::Q4_1 { 16 } else { 8 };
        let mut bytes = vec![0u8; rows / 4 * cols / BLOCK * size];
        for (b, block) in bytes.chunks_exact_mut(size).enumerate() {
            for (i, byte) in block.iter_mut().enumerate() {
                // scales of ordinary size, numbers of every size, the first block all at the top
                *byte = if i < scales && i % 2 == 1 { 0x2c | (next() as u8 & 0x83) } else { next() as u8 };
                if i >= scales && b == 0 {
                    *byte = 255;
                }
            }
        }
        let m = Matrix { bytes: &bytes, packed, rows, cols };
        let mut want = vec![0.0; tokens * rows];
        matmul(Kernel::Scalar, m, &a, &mut want);
        for kernel in Kernel::available() {
            let mut got = vec![0.0; tokens * rows];
            matmul(kernel, m, &a, &mut got);
            if want.iter().zip(&got).any(|(w, g)| w.to_bits() != g.to_bits()) {
                return Err(kernel.name());
            }
        }
    }
    Ok(())
}
