//! The loop that all SIMD kernels share, over the few operations each of them names.
//!
//! A macro and not a generic function: on x86 the loop itself must carry the target feature for the operations to be
//! inlined into it.

macro_rules! simd_tile {
    ($(#[$feature:meta])*) => {
        $(#[$feature])*
        pub(in crate::kernels) fn tile<const T: usize>(m: Matrix<'_>, a: [Row<'_>; T], out: [&mut [[f32; 4]]; T]) {
            match m.packed {
                Packed::Q4_0 => q4::<T, 72>(m, a, out),
                Packed::Q4_1 => q4::<T, 80>(m, a, out),
                Packed::Q8_0 => q8(m, a, out),
            }
        }

        /// `SIZE` 80 has minima (Q4_1), 72 has none (Q4_0).
        $(#[$feature])*
        fn q4<const T: usize, const SIZE: usize>(m: Matrix<'_>, a: [Row<'_>; T], out: [&mut [[f32; 4]]; T]) {
            let blocks = m.cols / BLOCK;
            for (g, group) in m.bytes.chunks_exact(blocks * SIZE).enumerate() {
                let mut sum = [zero(); T];
                for (b, block) in group.as_chunks::<SIZE>().0.iter().enumerate() {
                    let (scales, words) = block.split_at(SIZE - 64);
                    let (d, min) = if SIZE == 80 {
                        match scales.first_chunk::<16>() {
                            Some(s) => f16x8(s),
                            None => (zero(), zero()),
                        }
                    } else {
                        let d = scales.first_chunk::<8>().map_or(zero(), |s| f16x4(s));
                        (d, mul(d, splat(-8.0)))
                    };
                    let dots = q4_block::<T>(words.as_chunks::<16>().0, a.map(|a| (&a.bytes[b], &a.pairs[b])));
                    for t in 0..T {
                        let [da, sa] = a[t].scale[b];
                        let scaled = mul(mul(d, splat(da)), to_float(dots[t]));
                        sum[t] = add(sum[t], add(scaled, mul(min, splat(sa))));
                    }
                }
                for t in 0..T {
                    store(&mut out[t][g], sum[t]);
                }
            }
        }

        $(#[$feature])*
        fn q8<const T: usize>(m: Matrix<'_>, a: [Row<'_>; T], out: [&mut [[f32; 4]]; T]) {
            let blocks = m.cols / BLOCK;
            for (g, group) in m.bytes.chunks_exact(blocks * 136).enumerate() {
                let mut sum = [zero(); T];
                for (b, block) in group.as_chunks::<136>().0.iter().enumerate() {
                    let (scales, words) = block.split_at(8);
                    let d = scales.first_chunk::<8>().map_or(zero(), |s| f16x4(s));
                    let mut dots = [zero(); T];
                    for (w, word) in words.as_chunks::<16>().0.iter().enumerate() {
                        let x = load(word);
                        let (even, odd) = (low_bytes(x), high_bytes(x));
                        let p = 4 * (w / 2) + w % 2;
                        for t in 0..T {
                            let pairs = &a[t].pairs[b];
                            dots[t] = add_int(dots[t], dot_pairs(even, splat_int(pairs[p])));
                            dots[t] = add_int(dots[t], dot_pairs(odd, splat_int(pairs[p + 2])));
                        }
                    }
                    for t in 0..T {
                        let [da, sa] = a[t].scale[b];
                        let inner = add(mul(splat(da), to_float(dots[t])), splat(sa * -128.0));
                        sum[t] = add(sum[t], mul(d, inner));
                    }
                }
                for t in 0..T {
                    store(&mut out[t][g], sum[t]);
                }
            }
        }
    };
}
