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

/// `out += Σ weights[p] * rows[p]`, four rows at a time.
#[inline(always)]
pub fn weighted_sum(weights: &[f32], rows: &[f32], out: &mut [f32]) {
    let width = out.len();
    let (fours, rest) = weights.as_chunks::<4>();
    for (w, rows) in fours.iter().zip(rows.chunks_exact(4 * width)) {
        let (a, rows) = rows.split_at(width);
        let (b, rows) = rows.split_at(width);
        let (c, d) = rows.split_at(width);
        for ((((o, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            *o += (w[0] * a + w[1] * b) + (w[2] * c + w[3] * d);
        }
    }
    for (w, row) in rest.iter().zip(rows[fours.len() * 4 * width..].chunks_exact(width)) {
        for (o, r) in out.iter_mut().zip(row) {
            *o += w * r;
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
        let rows: Vec<f32> = (0..7 * 8).map(|i| i as f32).collect();
        let weights = [1.0, 0.5, 0.25, 2.0, -1.0, 3.0];
        let mut out = vec![1.0; 8];
        weighted_sum(&weights, &rows, &mut out);
        for (i, o) in out.iter().enumerate() {
            let want: f32 = 1.0 + weights.iter().enumerate().map(|(r, w)| w * rows[r * 8 + i]).sum::<f32>();
            assert!((o - want).abs() < 1e-4);
        }
    }
}
