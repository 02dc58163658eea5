//! The forward pass: tokens in, logits out, keys and values kept in f16.

use crate::error::{LoadError, zeroed};
use crate::half;
use crate::kernels::{self, Activations, Kernel};
use crate::math::{self, SPAN};
use crate::model::Model;

/// Tokens fed in one pass: long enough for the weights to be read once for many, short enough to stop quickly.
pub const CHUNK: usize = 32;
/// Query heads that walk a span of the cache together.
const SHARED: usize = 3;

/// Keys and values of the positions that were fed, and the room to compute the next ones.
#[derive(Debug)]
pub struct Forward {
    kernel: Kernel,
    ctx: usize,
    len: usize,
    /// `[layer][kv head][span][head][position in span]`, f16: a span is read with positions side by side.
    keys: Vec<u16>,
    /// `[layer][kv head][position][head]`, f16.
    values: Vec<u16>,
    /// `[position][head / 2]` of cosine and sine.
    rope: Vec<[f32; 2]>,
    x: Vec<f32>,
    h: Vec<f32>,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
    o: Vec<f32>,
    gate: Vec<f32>,
    up: Vec<f32>,
    scores: Vec<f32>,
    span: Vec<f32>,
    a: Activations,
    logits: Vec<f32>,
}

/// For which of the fed tokens logits are wanted: the head is a third of the work of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// None: more of the prompt follows.
    Nothing,
    /// The last one: a token is to be chosen.
    Last,
    /// All: candidates are being scored.
    All,
}

impl Forward {
    /// Room for `ctx` positions.
    ///
    /// # Errors
    /// [`LoadError::Memory`] where the machine has no room for the cache.
    pub fn new(model: &Model, ctx: usize, kernel: Kernel) -> Result<Self, LoadError> {
        let c = &model.config;
        let cache = c.layers * c.kv_heads * ctx.next_multiple_of(SPAN) * c.head;
        let group = c.heads / c.kv_heads;
        let speeds: Vec<f64> =
            (0..c.head / 2).map(|i| f64::from(c.rope_base).powf(-2.0 * i as f64 / c.head as f64)).collect();
        let mut rope = Vec::with_capacity(ctx * speeds.len());
        for p in 0..ctx {
            rope.extend(speeds.iter().map(|s| {
                let angle = p as f64 * s;
                [angle.cos() as f32, angle.sin() as f32]
            }));
        }
        Ok(Self {
            kernel,
            ctx,
            len: 0,
            keys: zeroed(cache)?,
            values: zeroed(cache)?,
            rope,
            x: vec![0.0; CHUNK * c.dim],
            h: vec![0.0; c.dim.max(c.ffn)],
            q: vec![0.0; CHUNK * c.dim],
            k: vec![0.0; CHUNK * c.kv_heads * c.head],
            v: vec![0.0; CHUNK * c.kv_heads * c.head],
            o: vec![0.0; CHUNK * c.dim],
            gate: vec![0.0; CHUNK * c.ffn],
            up: vec![0.0; CHUNK * c.ffn],
            scores: zeroed(CHUNK * group * ctx.next_multiple_of(SPAN))?,
            span: vec![0.0; SPAN * c.head],
            a: Activations::default(),
            logits: zeroed(c.vocab)?,
        })
    }

    /// Positions held.
    pub fn len(&self) -> usize {
        self.len
    }
    /// Whether nothing was fed yet.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// Positions there is room for.
    pub fn ctx(&self) -> usize {
        self.ctx
    }
    /// The kernel in use.
    pub fn kernel(&self) -> Kernel {
        self.kernel
    }
    /// Forgets everything after the first `len` positions.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
    /// Logits of the last feed, one row of the vocabulary for each token that was wanted.
    pub fn logits(&self) -> &[f32] {
        &self.logits
    }
    pub(crate) fn logits_mut(&mut self) -> &mut [f32] {
        &mut self.logits
    }

    /// Feeds at most [`CHUNK`] tokens.
    ///
    /// # Panics
    /// With no token, too many, one outside the vocabulary or no room; the session checks all four.
    pub fn feed(&mut self, model: &Model, tokens: &[u32], want: Want) {
        let c = &model.config;
        let n = tokens.len();
        assert!(n > 0 && n <= CHUNK && self.len + n <= self.ctx, "chunk");
        let (dim, ffn, kv) = (c.dim, c.ffn, c.kv_heads * c.head);
        let kernel = self.kernel;
        for (x, token) in self.x.chunks_exact_mut(dim).zip(tokens) {
            kernels::row(model.matrix(model.embedding), *token as usize, x);
        }
        for (l, layer) in model.layers.iter().enumerate() {
            self.normed(n, dim, &layer.attn_norm, c.eps);
            kernels::matmul(kernel, model.matrix(layer.q), &self.a, &mut self.q[..n * dim]);
            kernels::matmul(kernel, model.matrix(layer.k), &self.a, &mut self.k[..n * kv]);
            kernels::matmul(kernel, model.matrix(layer.v), &self.a, &mut self.v[..n * kv]);
            self.rotate_and_keep(model, l, n);
            self.attend(model, l, n);
            for t in 0..n {
                self.a.set(t, &self.o[t * dim..(t + 1) * dim]);
            }
            kernels::matmul(kernel, model.matrix(layer.o), &self.a, &mut self.q[..n * dim]);
            add_to(&mut self.x[..n * dim], &self.q);

            self.normed(n, dim, &layer.ffn_norm, c.eps);
            kernels::matmul(kernel, model.matrix(layer.gate), &self.a, &mut self.gate[..n * ffn]);
            kernels::matmul(kernel, model.matrix(layer.up), &self.a, &mut self.up[..n * ffn]);
            self.a.shape(n, ffn);
            for t in 0..n {
                math::swiglu(&self.gate[t * ffn..(t + 1) * ffn], &self.up[t * ffn..], &mut self.h[..ffn]);
                self.a.set(t, &self.h[..ffn]);
            }
            kernels::matmul(kernel, model.matrix(layer.down), &self.a, &mut self.q[..n * dim]);
            add_to(&mut self.x[..n * dim], &self.q);
        }
        self.len += n;
        let from = match want {
            Want::Nothing => return,
            Want::Last => n - 1,
            Want::All => 0,
        };
        self.a.shape(n - from, dim);
        for t in from..n {
            math::rms_norm(&self.x[t * dim..(t + 1) * dim], &model.norm, c.eps, &mut self.h[..dim]);
            self.a.set(t - from, &self.h[..dim]);
        }
        self.logits.resize((n - from) * c.vocab, 0.0);
        kernels::matmul(kernel, model.matrix(model.head), &self.a, &mut self.logits);
    }

    fn normed(&mut self, n: usize, dim: usize, weight: &[f32], eps: f32) {
        self.a.shape(n, dim);
        for t in 0..n {
            math::rms_norm(&self.x[t * dim..(t + 1) * dim], weight, eps, &mut self.h[..dim]);
            self.a.set(t, &self.h[..dim]);
        }
    }

    fn rotate_and_keep(&mut self, model: &Model, layer: usize, n: usize) {
        let c = &model.config;
        let (head, kv, room) = (c.head, c.kv_heads * c.head, self.ctx.next_multiple_of(SPAN));
        for t in 0..n {
            let p = self.len + t;
            let turns = &self.rope[p * head / 2..(p + 1) * head / 2];
            let heads = self.q[t * c.dim..(t + 1) * c.dim].chunks_exact_mut(head);
            for x in heads.chain(self.k[t * kv..(t + 1) * kv].chunks_exact_mut(head)) {
                // neighbours are a pair in this architecture
                for (pair, [cos, sin]) in x.as_chunks_mut::<2>().0.iter_mut().zip(turns) {
                    let [a, b] = *pair;
                    *pair = [a * cos - b * sin, a * sin + b * cos];
                }
            }
            for h in 0..c.kv_heads {
                let base = (layer * c.kv_heads + h) * room * head;
                let (span, column) = (base + p / SPAN * SPAN * head, p % SPAN);
                let from = t * kv + h * head;
                for i in 0..head {
                    self.keys[span + i * SPAN + column] = half::from_f32(self.k[from + i]);
                    self.values[base + p * head + i] = half::from_f32(self.v[from + i]);
                }
            }
        }
    }

    /// Causal attention of the chunk's queries over everything kept, one key-value head at a time: its positions are
    /// turned into floats once and serve all queries that share it.
    fn attend(&mut self, model: &Model, layer: usize, n: usize) {
        let c = &model.config;
        let (head, group, dim) = (c.head, c.heads / c.kv_heads, c.dim);
        let (total, room) = (self.len + n, self.ctx.next_multiple_of(SPAN));
        let scale = 1.0 / (head as f32).sqrt();
        for kv in 0..c.kv_heads {
            let base = (layer * c.kv_heads + kv) * room * head;
            let query = |t: usize, g: usize| t * dim + (kv * group + g) * head;
            // position `len + t` sees itself and everything before
            let visible = |t: usize, from: usize, len: usize| (self.len + t + 1).saturating_sub(from).min(len);
            for from in (0..total).step_by(SPAN) {
                widen(&self.keys[base + from * head..][..SPAN * head], &mut self.span);
                for t in 0..n {
                    let seen = visible(t, from, SPAN);
                    for g in (0..group).step_by(SHARED) {
                        let q = |i: usize| &self.q[query(t, g + i)..][..head];
                        let rows = &mut self.scores[(t * group + g) * room..][..room * SHARED.min(group - g)];
                        let mut rows = rows.chunks_exact_mut(room).map(|r| &mut r[from..]);
                        match (rows.next(), rows.next(), rows.next()) {
                            (Some(a), Some(b), Some(c)) => {
                                math::scores([q(0), q(1), q(2)], &self.span, seen, scale, [a, b, c]);
                            }
                            (a, b, _) => {
                                for (i, row) in a.into_iter().chain(b).enumerate() {
                                    math::scores([q(i)], &self.span, seen, scale, [row]);
                                }
                            }
                        }
                    }
                }
            }
            for t in 0..n {
                for g in 0..group {
                    math::softmax(&mut self.scores[(t * group + g) * room..][..self.len + t + 1]);
                    self.o[query(t, g)..][..head].fill(0.0);
                }
            }
            for from in (0..total).step_by(SPAN) {
                let len = SPAN.min(total - from);
                widen(&self.values[base + from * head..][..len * head], &mut self.span);
                for t in 0..n {
                    let seen = visible(t, from, len);
                    for g in (0..group).step_by(SHARED) {
                        let weights = |g: usize| &self.scores[(t * group + g) * room + from..][..seen];
                        let mut out = self.o[query(t, g)..][..head * SHARED.min(group - g)].chunks_exact_mut(head);
                        match (out.next(), out.next(), out.next()) {
                            (Some(a), Some(b), Some(c)) => {
                                let weights = [weights(g), weights(g + 1), weights(g + 2)];
                                math::weighted_sum(weights, &self.span, [a, b, c]);
                            }
                            (a, b, _) => {
                                for (i, out) in a.into_iter().chain(b).enumerate() {
                                    math::weighted_sum([weights(g + i)], &self.span, [out]);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn widen(from: &[u16], to: &mut [f32]) {
    for (x, h) in to.iter_mut().zip(from) {
        *x = half::to_f32(*h);
    }
}

fn add_to(x: &mut [f32], y: &[f32]) {
    for (x, y) in x.iter_mut().zip(y) {
        *x += y;
    }
}
