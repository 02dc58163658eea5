//! The float parts between the matrices, written so that the compiler turns them into vector code.

/// e^x within 2e-7 relative; below -87 zero, above 88 the largest power that fits.
#[inline(always)]
pub fn exp(x: f32) -> f32 {
    const SHIFT: f32 = 12_582_912.0;
    let x = x.clamp(-87.3, 88.0);
    // x = n ln 2 + r: n by rounding through the mantissa, r by ln 2 in two parts
    let shifted = x * std::f32::consts::LOG2_E + SHIFT;
    let n = shifted - SHIFT;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_1e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 1.666_666_5e-1;
    let p = p * r + 0.5;
    let y = p * r * r + r + 1.0;
    let power = (shifted.to_bits() as i32).wrapping_sub(0x4b40_0000).wrapping_add(127) as u32;
    y * f32::from_bits((power & 0xff) << 23)
}

/// `silu(gate) * up`.
pub fn swiglu(gate: &[f32], up: &[f32], out: &mut [f32]) {
    for ((o, g), u) in out.iter_mut().zip(gate).zip(up) {
        *o = g / (1.0 + exp(-g)) * u;
    }
}

/// Root-mean-square normalisation times a weight.
pub fn rms_norm(x: &[f32], weight: &[f32], eps: f32, out: &mut [f32]) {
    let scale = 1.0 / (dot(x, x) / x.len() as f32 + eps).sqrt();
    for ((o, x), w) in out.iter_mut().zip(x).zip(weight) {
        *o = x * scale * w;
    }
}

/// Inner product in eight running sums; lengths are multiples of eight.
#[inline(always)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sum = [0f32; 8];
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        for i in 0..8 {
            sum[i] += a[i] * b[i];
        }
    }
    (sum[0] + sum[4]) + (sum[1] + sum[5]) + ((sum[2] + sum[6]) + (sum[3] + sum[7]))
}

/// Largest number of a slice that holds one; NaN counts as the smallest.
pub fn max(x: &[f32]) -> f32 {
    let mut top = [f32::MIN; 8];
    let (eights, rest) = x.as_chunks::<8>();
    for e in eights {
        for i in 0..8 {
            top[i] = if e[i] > top[i] { e[i] } else { top[i] };
        }
    }
    top.iter().chain(rest).fold(f32::MIN, |m, v| if *v > m { *v } else { m })
}

/// In place: exponentials over their sum.
pub fn softmax(x: &mut [f32]) {
    let top = max(x);
    for v in x.iter_mut() {
        *v = exp(*v - top);
    }
    let scale = 1.0 / sum(x);
    for v in x {
        *v *= scale;
    }
}

/// Logarithm of the sum of exponentials: `x[i]` minus this is a log-probability.
pub fn log_sum_exp(x: &[f32]) -> f32 {
    let top = max(x);
    let mut parts = [0f32; 8];
    let (eights, rest) = x.as_chunks::<8>();
    for e in eights {
        for i in 0..8 {
            parts[i] += exp(e[i] - top);
        }
    }
    let rest: f32 = rest.iter().map(|v| exp(v - top)).sum();
    top + (parts.iter().sum::<f32>() + rest).ln()
}

fn sum(x: &[f32]) -> f32 {
    let (eights, rest) = x.as_chunks::<8>();
    let mut parts = [0f32; 8];
    for e in eights {
        for i in 0..8 {
            parts[i] += e[i];
        }
    }
    parts.iter().sum::<f32>() + rest.iter().sum::<f32>()
}

/// Positions whose keys or values are worked on together: what one span of the cache holds.
pub const SPAN: usize = 64;
/// Numbers kept in registers while a span is walked.
const LANES: usize = 8;

/// Inner products of some queries with the first `visible` keys of a span. `keys` holds one row a head number, one
/// column a position, so lanes are positions and no sum crosses them; `out` is written in whole lanes, what lies
/// beyond `visible` has no meaning.
#[allow(clippy::needless_range_loop, reason = "three arrays walk together")]
#[inline(always)]
pub fn scores<const Q: usize>(queries: [&[f32]; Q], keys: &[f32], visible: usize, scale: f32, out: [&mut [f32]; Q]) {
    let out = out.map(|o| o.as_chunks_mut::<LANES>().0);
    for chunk in 0..visible.div_ceil(LANES) {
        let mut sum = [[0f32; LANES]; Q];
        for (i, row) in keys.as_chunks::<SPAN>().0.iter().enumerate() {
            let row = &row.as_chunks::<LANES>().0[chunk];
            for q in 0..Q {
                for lane in 0..LANES {
                    sum[q][lane] += queries[q][i] * row[lane];
                }
            }
        }
        for q in 0..Q {
            out[q][chunk] = sum[q].map(|s| s * scale);
        }
    }
}

/// `out[q] += Σ weights[q][p] * values[p]` over as many positions as there are weights, for queries that share them.
#[allow(clippy::needless_range_loop, reason = "three arrays walk together")]
#[inline(always)]
pub fn weighted_sum<const Q: usize>(weights: [&[f32]; Q], values: &[f32], out: [&mut [f32]; Q]) {
    let width = out[0].len();
    let out = out.map(|o| o.as_chunks_mut::<LANES>().0);
    for chunk in 0..width / LANES {
        let mut sum: [[f32; LANES]; Q] = core::array::from_fn(|q| out[q][chunk]);
        for (p, row) in values.chunks_exact(width).take(weights[0].len()).enumerate() {
            let row = &row.as_chunks::<LANES>().0[chunk];
            for q in 0..Q {
                for lane in 0..LANES {
                    sum[q][lane] += weights[q][p] * row[lane];
                }
            }
        }
        for q in 0..Q {
            out[q][chunk] = sum[q];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_agrees_with_the_library() {
        let mut x = -87.0f32;
        while x < 88.0 {
            let (got, want) = (exp(x), x.exp());
            assert!((got - want).abs() <= want * 4e-7, "{x}: {got} {want}");
            x += 0.013;
        }
        assert!(exp(-1e9) < 1e-37 && exp(1e9).is_finite());
    }

    #[test]
    fn softmax_sums_to_one_and_log_sum_exp_fits_it() {
        let x: Vec<f32> = (0..77).map(|i| (i as f32 * 0.7).sin() * 9.0).collect();
        let z = log_sum_exp(&x);
        let mut p = x.clone();
        softmax(&mut p);
        assert!((p.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        assert!(p.iter().zip(&x).all(|(p, x)| (p.ln() - (x - z)).abs() < 1e-4));
    }

    #[test]
    fn weighted_sum_takes_every_row_once() {
        let rows: Vec<f32> = (0..7 * 16).map(|i| i as f32).collect();
        let weights = [1.0, 0.5, 0.25, 2.0, -1.0, 3.0];
        let (mut a, mut b) = (vec![1.0; 16], vec![2.0; 16]);
        weighted_sum([&weights, &weights], &rows, [&mut a, &mut b]);
        for i in 0..16 {
            let want: f32 = weights.iter().enumerate().map(|(r, w)| w * rows[r * 16 + i]).sum();
            assert!((a[i] - want - 1.0).abs() < 1e-3 && (b[i] - want - 2.0).abs() < 1e-3);
        }
    }

    #[test]
    fn scores_are_inner_products_with_columns() {
        let head = 16;
        let keys: Vec<f32> = (0..head * SPAN).map(|i| (i as f32 * 0.3).sin()).collect();
        let q: Vec<f32> = (0..head).map(|i| i as f32 - 4.0).collect();
        let mut out = vec![0.0; SPAN];
        scores([&q], &keys, 11, 0.5, [&mut out]);
        for p in 0..11 {
            let want: f32 = (0..head).map(|i| q[i] * keys[i * SPAN + p]).sum::<f32>() * 0.5;
            assert!((out[p] - want).abs() < 1e-3);
        }
    }
}
