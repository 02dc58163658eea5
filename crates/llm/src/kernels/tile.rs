//! The loop that all SIMD kernels share, over the few operations each of them names.
//!
//! A macro and not a generic function: on x86 the loop itself must carry the target feature for the operations to be
//! inlined into it.

macro_rules! simd_tile {
    ($(#[$feature:meta])*) => {
        $(#[$feature])*
        pub(in crate::kernels) fn tile<const T: usize>(m: Matrix<'_>, a: [Row<'_>; T], out: [&mut [[f32; 4]]; T]) {
            match m.packed {
                Packed::Q4_0 => groups::<T, 72>(m, a, out),
                Packed::Q4_1 => groups::<T, 80>(m, a, out),
                Packed::Q8_0 => groups::<T, 136>(m, a, out),
            }
        }

        /// Goes over the groups of four rows. One token takes several groups at a time from as many
        /// places far apart: a single stream of reads leaves most of the memory's speed unused.
        /// More tokens share the weights of one group.
        $(#[$feature])*
        fn groups<const T: usize, const SIZE: usize>(m: Matrix<'_>, a: [Row<'_>; T], mut out: [&mut [[f32; 4]]; T]) {
            let row = m.cols / BLOCK * SIZE;
            let count = m.rows / 4;
            let apart = if T == 1 { count / ROWS } else { 0 };
            for at in 0..apart {
                some::<ROWS, T, SIZE>(m.bytes, row, a, &mut out, at, apart);
            }
            for at in apart * ROWS..count {
                some::<1, T, SIZE>(m.bytes, row, a, &mut out, at, 0);
            }
        }

        /// `G` groups of four rows, `at` the first and each `apart` groups behind the last; `row` is
        /// how many bytes a group has. `SIZE` of a block: 80 has minima (Q4_1), 72 has none (Q4_0),
        /// 136 has bytes (Q8_0).
        $(#[$feature])*
        fn some<const G: usize, const T: usize, const SIZE: usize>(
            bytes: &[u8],
            row: usize,
            a: [Row<'_>; T],
            out: &mut [&mut [[f32; 4]]; T],
            at: usize,
            apart: usize,
        ) {
            let mut sum = [[zero(); T]; G];
            let rows: [&[[u8; SIZE]]; G] = core::array::from_fn(|g| bytes[(at + g * apart) * row..][..row].as_chunks::<SIZE>().0);
            for b in 0..row / SIZE {
                let blocks: [&[u8; SIZE]; G] = rows.map(|r| &r[b]);
                let dots = if SIZE == 136 {
                    q8_block::<G, T>(blocks.map(|x| x[8..].as_chunks::<16>().0), a.map(|a| &a.pairs[b]))
                } else {
                    let words = blocks.map(|x| x[SIZE - 64..].as_chunks::<16>().0);
                    q4_block::<G, T>(words, a.map(|a| (&a.bytes[b], &a.pairs[b])))
                };
                for g in 0..G {
                    let (d, min) = scales(blocks[g]);
                    for t in 0..T {
                        let [da, sa] = a[t].scale[b];
                        let dot = to_float(dots[g][t]);
                        let part = if SIZE == 136 {
                            mul(d, add(mul(splat(da), dot), splat(sa * -128.0)))
                        } else {
                            add(mul(mul(d, splat(da)), dot), mul(min, splat(sa)))
                        };
                        sum[g][t] = add(sum[g][t], part);
                    }
                }
            }
            for g in 0..G {
                for t in 0..T {
                    store(&mut out[t][at + g * apart], sum[g][t]);
                }
            }
        }

        /// Scales and minima of a block's four rows.
        $(#[$feature])*
        fn scales<const SIZE: usize>(block: &[u8; SIZE]) -> (V, V) {
            let d = || block.first_chunk::<8>().map_or(zero(), |s| f16x4(s));
            match SIZE {
                80 => block.first_chunk::<16>().map_or((zero(), zero()), |s| f16x8(s)),
                72 => (d(), mul(d(), splat(-8.0))),
                _ => (d(), zero()),
            }
        }

        $(#[$feature])*
        fn q8_block<const G: usize, const T: usize>(words: [&[[u8; 16]]; G], pairs: [&[i32; 16]; T]) -> [[V; T]; G] {
            let mut dots = [[zero(); T]; G];
            for w in 0..8 {
                let p = 4 * (w / 2) + w % 2;
                for g in 0..G {
                    let x = load(&words[g][w]);
                    let (even, odd) = (low_bytes(x), high_bytes(x));
                    for t in 0..T {
                        dots[g][t] = add_int(dots[g][t], dot_pairs(even, splat_int(pairs[t][p])));
                        dots[g][t] = add_int(dots[g][t], dot_pairs(odd, splat_int(pairs[t][p + 2])));
                    }
                }
            }
            dots
        }
    };
}
