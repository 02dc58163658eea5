//! Choosing the next token.

use std::cmp::Ordering;

/// Most candidates that sampling by temperature looks at.
pub const MAX_TOP_K: usize = 1024;

/// How tokens are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// 0 takes the best token each time.
    pub temperature: f32,
    /// Candidates kept, best first; 0 means [`MAX_TOP_K`].
    pub top_k: usize,
    /// Candidates kept until their probabilities sum to this.
    pub top_p: f32,
    /// Repetition penalty over the tokens of the answer; 1 is none.
    pub penalty: f32,
    /// Seed; the same seed, prompt and kernel give the same text.
    pub seed: u64,
    /// Most tokens of an answer.
    pub max_tokens: usize,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 0.0, top_k: 40, top_p: 0.95, penalty: 1.0, seed: 0, max_tokens: 256 }
    }
}

/// A run's choice of tokens: settings, random state, what was said.
#[derive(Clone, Debug)]
pub struct Sampler {
    settings: Sampling,
    state: u64,
    said: Vec<u32>,
}

impl Sampler {
    /// A sampler; numbers outside their range are brought into it.
    pub fn new(mut settings: Sampling) -> Self {
        let sane = |x: f32, low: f32, high: f32, other: f32| if x.is_finite() { x.clamp(low, high) } else { other };
        settings.temperature = sane(settings.temperature, 0.0, 10.0, 0.0);
        settings.top_p = sane(settings.top_p, 0.01, 1.0, 1.0);
        settings.penalty = sane(settings.penalty, 1.0, 4.0, 1.0);
        settings.top_k = if settings.top_k == 0 { MAX_TOP_K } else { settings.top_k.min(MAX_TOP_K) };
        Self { settings, state: settings.seed, said: Vec::new() }
    }

    /// Tokens chosen so far.
    pub fn said(&self) -> &[u32] {
        &self.said
    }

    /// Notes a token that was chosen.
    pub fn note(&mut self, token: u32) {
        self.said.push(token);
    }

    /// Weakens in `logits` what was said before, once for each token.
    pub fn penalise(&self, logits: &mut [f32]) {
        if self.settings.penalty == 1.0 {
            return;
        }
        let mut seen = self.said.clone();
        seen.sort_unstable();
        seen.dedup();
        for token in seen {
            if let Some(x) = logits.get_mut(token as usize) {
                *x = if *x > 0.0 { *x / self.settings.penalty } else { *x * self.settings.penalty };
            }
        }
    }

    /// The next token from penalised logits.
    pub fn choose(&mut self, logits: &[f32]) -> u32 {
        let best = argmax(logits);
        if self.settings.temperature == 0.0 {
            return best;
        }
        let mut order: Vec<u32> = (0..logits.len() as u32).collect();
        let by = |a: &u32, b: &u32| descending(logits[*a as usize], logits[*b as usize]);
        let k = self.settings.top_k.min(order.len());
        if k < order.len() {
            order.select_nth_unstable_by(k, by);
            order.truncate(k);
        }
        order.sort_by(by);
        let top = logits[best as usize];
        let weights: Vec<f32> =
            order.iter().map(|i| ((logits[*i as usize] - top) / self.settings.temperature).exp()).collect();
        let all: f32 = weights.iter().sum();
        let mut kept = 0;
        let mut mass = 0.0;
        for w in &weights {
            kept += 1;
            mass += w;
            if mass >= self.settings.top_p * all {
                break;
            }
        }
        let mut point = self.uniform() * mass;
        for (token, w) in order.iter().zip(&weights).take(kept) {
            point -= w;
            if point < 0.0 {
                return *token;
            }
        }
        best
    }

    /// SplitMix64, as a number in [0, 1).
    fn uniform(&mut self) -> f32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1u64 << 24) as f32
    }
}

/// Larger first, NaN last.
fn descending(a: f32, b: f32) -> Ordering {
    let key = |x: f32| if x.is_nan() { f32::NEG_INFINITY } else { x };
    key(b).total_cmp(&key(a))
}

/// Index of the largest number, the first of equals; 0 for none.
pub fn argmax(x: &[f32]) -> u32 {
    let top = crate::math::max(x);
    x.iter().position(|v| *v == top).unwrap_or(0) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logits() -> Vec<f32> {
        (0..500).map(|i| ((i * 37 % 101) as f32 * 0.11).sin() * 5.0).collect()
    }

    #[test]
    fn greedy_takes_the_best_and_nan_is_never_it() {
        let mut l = logits();
        l[7] = 100.0;
        l[9] = f32::NAN;
        assert_eq!(Sampler::new(Sampling::default()).choose(&l), 7);
        assert_eq!(argmax(&[f32::NAN, f32::NAN]), 0);
    }

    #[test]
    fn the_same_seed_says_the_same_and_another_does_not() {
        let run = |seed| {
            let mut s = Sampler::new(Sampling { temperature: 1.0, seed, ..Sampling::default() });
            (0..40).map(|_| s.choose(&logits())).collect::<Vec<_>>()
        };
        assert_eq!(run(3), run(3));
        assert_ne!(run(3), run(4));
    }

    #[test]
    fn top_k_and_top_p_bound_what_can_be_chosen() {
        let l = logits();
        let mut order: Vec<u32> = (0..500).collect();
        order.sort_by(|a, b| descending(l[*a as usize], l[*b as usize]));
        let mut s = Sampler::new(Sampling { temperature: 5.0, top_k: 3, top_p: 1.0, ..Sampling::default() });
        let floor = l[order[2] as usize];
        assert!((0..200).all(|_| l[s.choose(&l) as usize] >= floor));
        let mut s = Sampler::new(Sampling { temperature: 1.0, top_p: 0.01, ..Sampling::default() });
        assert!((0..50).all(|_| s.choose(&l) == order[0]));
    }

    #[test]
    fn the_penalty_falls_once_on_what_was_said() {
        let mut s = Sampler::new(Sampling { penalty: 2.0, ..Sampling::default() });
        s.note(1);
        s.note(1);
        s.note(2);
        let mut l = vec![4.0, 4.0, -4.0];
        s.penalise(&mut l);
        assert_eq!(l, [4.0, 2.0, -8.0]);
    }
}
