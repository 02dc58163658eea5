//! How likely the model finds each of some continuations: what ranks tool calls.
//!
//! The prefix is read once and stays cached. Candidates are put into a tree by their tokens, so a shared beginning is
//! fed once too, and an unbranched stretch is fed in one pass.

use crate::error::RunError;
use crate::forward::{CHUNK, Want};
use crate::math;
use crate::session::Session;

/// Most candidates of one run.
pub const MAX_CANDIDATES: usize = 256;
/// Most tokens of one candidate.
pub const MAX_CANDIDATE_TOKENS: usize = 256;

/// Log-probability of one candidate after the prefix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Score {
    /// Sum over its tokens.
    pub sum: f32,
    /// Its tokens.
    pub tokens: usize,
}

impl Score {
    /// Mean over its tokens: comparable between lengths.
    pub fn mean(self) -> f32 {
        self.sum / self.tokens.max(1) as f32
    }
}

#[derive(Debug)]
struct Node {
    token: u32,
    depth: usize,
    children: Vec<usize>,
    logp: f32,
}

/// What one step of scoring did.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoreStep {
    /// Tokens fed, of those that will be.
    Progress {
        /// So far.
        done: usize,
        /// In all.
        total: usize,
    },
    /// One score for each candidate, in the order given.
    Done(Vec<Score>),
    /// Somebody stopped it, or another run took its place.
    Cancelled,
}

/// A scoring run in the making.
#[derive(Debug)]
pub struct ScoreRun {
    epoch: u64,
    prefix: Vec<u32>,
    candidates: Vec<Vec<u32>>,
    tree: Vec<Node>,
    /// Nodes with children whose logits are still to be computed; a parent lies below its children.
    todo: Vec<usize>,
    done: usize,
    total: usize,
    cached: usize,
}

impl ScoreRun {
    /// Ends the run; the mark dies with it.
    pub fn cancel(&mut self) {
        self.epoch = 0;
    }
    /// Tokens of the prefix, and how many of them the cache held.
    pub fn prefix_usage(&self) -> (usize, usize) {
        (self.prefix.len(), self.cached)
    }
}

impl Session {
    /// Starts scoring `candidates` after `prefix`.
    ///
    /// # Errors
    /// [`RunError`] for no or too many candidates, one without tokens, or a prefix and candidate beyond the window.
    pub fn score(&mut self, prefix: &[u32], candidates: Vec<Vec<u32>>) -> Result<ScoreRun, RunError> {
        let refuse = |observed: String| Err(RunError::Candidates { observed });
        if candidates.is_empty() || candidates.len() > MAX_CANDIDATES {
            return refuse(format!("{} candidates", candidates.len()));
        }
        if let Some(i) = candidates.iter().position(|c| c.is_empty() || c.len() > MAX_CANDIDATE_TOKENS) {
            return refuse(format!("candidate {i} with {} tokens", candidates[i].len()));
        }
        if let Some(id) = candidates.iter().flatten().find(|id| **id as usize >= self.tokenizer().vocab()) {
            return Err(RunError::Token(*id));
        }
        let longest = candidates.iter().map(Vec::len).max().unwrap_or(0);
        let cached = self.want(prefix, longest)?;
        let mut tree = vec![Node { token: 0, depth: 0, children: Vec::new(), logp: 0.0 }];
        for c in &candidates {
            let mut at = 0;
            for token in c {
                at = match child(&tree, at, *token) {
                    Some(next) => next,
                    None => {
                        tree.push(Node { token: *token, depth: tree[at].depth + 1, children: Vec::new(), logp: 0.0 });
                        let new = tree.len() - 1;
                        tree[at].children.push(new);
                        new
                    }
                };
            }
        }
        let inner = tree.iter().skip(1).filter(|n| !n.children.is_empty()).count();
        let total = prefix.len() - cached + inner;
        Ok(ScoreRun {
            epoch: self.epoch(),
            prefix: prefix.to_vec(),
            candidates,
            tree,
            todo: Vec::new(),
            done: 0,
            total,
            cached,
        })
    }

    /// Does one piece of the work: at most one chunk is fed.
    pub fn score_step(&mut self, run: &mut ScoreRun) -> ScoreStep {
        if run.epoch != self.epoch() {
            return ScoreStep::Cancelled;
        }
        let at = self.cached().len();
        if at < run.prefix.len() {
            let n = (run.prefix.len() - at).min(CHUNK);
            let last = at + n == run.prefix.len();
            self.feed(&run.prefix[at..at + n], if last { Want::Last } else { Want::Nothing });
            run.done += n;
            if last {
                self.note(run, &[0]);
            }
            return ScoreStep::Progress { done: run.done, total: run.total };
        }
        let Some(start) = run.todo.pop() else {
            self.rewind(run.prefix.len());
            return ScoreStep::Done(run.candidates.iter().map(|c| sum(&run.tree, c)).collect());
        };
        let mut chain = vec![start];
        let mut at = start;
        while chain.len() < CHUNK
            && let Some(next) = run.tree[at].children.iter().find(|c| !run.tree[**c].children.is_empty())
        {
            at = *next;
            chain.push(at);
        }
        self.rewind(run.prefix.len() + run.tree[start].depth - 1);
        let tokens: Vec<u32> = chain.iter().map(|n| run.tree[*n].token).collect();
        self.feed(&tokens, Want::All);
        run.done += tokens.len();
        self.note(run, &chain);
        ScoreStep::Progress { done: run.done, total: run.total }
    }

    /// Takes the log-probabilities of the children of each node of a chain that was just fed.
    fn note(&self, run: &mut ScoreRun, chain: &[usize]) {
        let vocab = self.model().config.vocab;
        for (i, (node, logits)) in chain.iter().zip(self.logits().chunks_exact(vocab)).enumerate() {
            let z = math::log_sum_exp(logits);
            for c in run.tree[*node].children.clone() {
                run.tree[c].logp = logits[run.tree[c].token as usize] - z;
                if !run.tree[c].children.is_empty() && chain.get(i + 1) != Some(&c) {
                    run.todo.push(c);
                }
            }
        }
    }
}

fn child(tree: &[Node], at: usize, token: u32) -> Option<usize> {
    tree[at].children.iter().copied().find(|c| tree[*c].token == token)
}

fn sum(tree: &[Node], candidate: &[u32]) -> Score {
    let mut at = 0;
    let mut score = Score { sum: 0.0, tokens: candidate.len() };
    for token in candidate {
        let Some(next) = child(tree, at, *token) else { break };
        at = next;
        score.sum += tree[at].logp;
    }
    score
}
