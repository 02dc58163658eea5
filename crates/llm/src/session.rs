//! A loaded model and the one conversation its cache holds.
//!
//! The cache is a list of token ids and their keys and values. A run says which ids it wants in front of it; what the
//! cache already holds of them is kept, the rest is forgotten and fed. Nobody has to say "new conversation": another
//! prompt shares less.

use crate::chat::{Message, Template};
use crate::constrain::Automaton;
use crate::error::{LoadError, RunError};
use crate::forward::{CHUNK, Forward, Want};
use crate::gguf::Gguf;
use crate::kernels::Kernel;
use crate::model::Model;
use crate::sample::{Sampler, Sampling};
use crate::stream::TextStream;
use crate::tokenizer::Tokenizer;

/// Window of the cache where the caller names none: 47 MB for the bundled model.
pub const DEFAULT_CTX: usize = 2048;
/// Smallest and largest window a caller may ask for.
pub const CTX_BOUNDS: (usize, usize) = (64, 8192);

/// A model ready to answer.
#[derive(Debug)]
pub struct Session {
    model: Model,
    forward: Forward,
    tokenizer: Tokenizer,
    template: Template,
    fed: Vec<u32>,
    epoch: u64,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The model said that it is done, or a stop text or the end of the constraint was reached.
    Stop,
    /// The most tokens, or the end of the window.
    Length,
    /// Somebody stopped it, or another run took its place.
    Cancelled,
    /// It was done without having said anything: never a success.
    Empty,
}

/// What one step did.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A part of the prompt was read.
    Prefill {
        /// Prompt tokens in the cache.
        done: usize,
        /// Prompt tokens in all.
        total: usize,
    },
    /// A token was chosen; the text that became certain, which may be none.
    Text(String),
    /// The run is over.
    End {
        /// Why.
        reason: Reason,
        /// Text that was still held back.
        text: String,
    },
}

/// What a run used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt: usize,
    /// Of these, tokens the cache already held.
    pub cached: usize,
    /// Tokens of the answer.
    pub completion: usize,
}

/// An answer in the making; advanced by [`Session::step`].
#[derive(Debug)]
pub struct Run {
    epoch: u64,
    /// Tokens to feed before the next one is chosen.
    queue: Vec<u32>,
    prefilled: bool,
    sampler: Sampler,
    max_tokens: usize,
    stream: TextStream,
    spoke: bool,
    constraint: Option<Automaton>,
    usage: Usage,
    over: bool,
}

impl Run {
    /// Tokens used so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }
    /// Ends the run: the next step says [`Reason::Cancelled`]. The mark is the run's own and dies with it.
    pub fn cancel(&mut self) {
        self.epoch = 0;
    }
}

impl Session {
    /// Loads a model from the bytes of a GGUF file, with room for `ctx` tokens.
    ///
    /// # Errors
    /// [`LoadError`] for a file that is broken, of another kind, or too large for the machine.
    pub fn load(bytes: Vec<u8>, ctx: usize) -> Result<Self, LoadError> {
        Self::load_with(bytes, ctx, Kernel::best())
    }

    /// As [`Self::load`], with a given kernel.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_with(bytes: Vec<u8>, ctx: usize, kernel: Kernel) -> Result<Self, LoadError> {
        let (tokenizer, template) = {
            let g = Gguf::parse(&bytes)?;
            let vocab = g.tensors.get("token_embd.weight").and_then(|t| t.dims.get(1)).copied().unwrap_or(0);
            let tokenizer = Tokenizer::read(&g, vocab)?;
            let template = Template::read(&g, &tokenizer)?;
            (tokenizer, template)
        };
        let model = Model::load(bytes)?;
        let ctx = ctx.clamp(CTX_BOUNDS.0, CTX_BOUNDS.1).min(model.config.trained_ctx.max(CTX_BOUNDS.0));
        let forward = Forward::new(&model, ctx, kernel)?;
        Ok(Self { model, forward, tokenizer, template, fed: Vec::new(), epoch: 0 })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }
    /// The vocabulary.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }
    /// The chat template.
    pub fn template(&self) -> &Template {
        &self.template
    }
    /// Tokens the window holds.
    pub fn ctx(&self) -> usize {
        self.forward.ctx()
    }
    /// The kernel in use.
    pub fn kernel(&self) -> Kernel {
        self.forward.kernel()
    }
    /// Token ids whose keys and values are in the cache.
    pub fn cached(&self) -> &[u32] {
        &self.fed
    }
    /// Logits after the last token fed with logits wanted.
    pub fn logits(&self) -> &[f32] {
        self.forward.logits()
    }
    /// Tokens of a text.
    pub fn count(&self, text: &str) -> usize {
        self.tokenizer.encode(text).len()
    }

    /// Tokens a prompt may have so that `answer` more fit; at least three quarters of the window are the prompt's.
    pub fn room(&self, answer: usize) -> usize {
        self.ctx() - answer.clamp(1, self.ctx() / 4)
    }

    /// Starts an answer to a conversation; the oldest turns leave where the window is too small. With how many
    /// messages left.
    ///
    /// # Errors
    /// [`RunError`] where the last turn alone does not fit.
    pub fn chat(
        &mut self,
        messages: &[Message],
        assistant: &str,
        sampling: Sampling,
        stops: Vec<String>,
        constraint: Option<Automaton>,
    ) -> Result<(Run, usize), RunError> {
        let room = self.room(sampling.max_tokens);
        let (prompt, dropped) = self.template.fit(&self.tokenizer, messages, assistant, room)?;
        let mut run = self.begin(&prompt, sampling, stops)?;
        run.constraint = constraint;
        Ok((run, dropped))
    }

    /// Starts a continuation of token ids.
    ///
    /// # Errors
    /// [`RunError`] for an empty prompt, one larger than the window, or unknown ids.
    pub fn begin(&mut self, prompt: &[u32], sampling: Sampling, stops: Vec<String>) -> Result<Run, RunError> {
        let cached = self.want(prompt, 1)?;
        Ok(Run {
            epoch: self.epoch,
            queue: prompt[cached..].to_vec(),
            prefilled: false,
            max_tokens: sampling.max_tokens.max(1),
            sampler: Sampler::new(sampling),
            stream: TextStream::new(stops),
            spoke: false,
            constraint: None,
            usage: Usage { prompt: prompt.len(), cached, completion: 0 },
            over: false,
        })
    }

    /// Makes the cache a beginning of `prompt`, short of at least its last token, whose logits are to be computed,
    /// with room for `more` tokens after it. Gives the number of tokens kept. Any earlier run is over.
    pub(crate) fn want(&mut self, prompt: &[u32], more: usize) -> Result<usize, RunError> {
        if prompt.is_empty() {
            return Err(RunError::EmptyPrompt);
        }
        if prompt.len() + more > self.ctx() {
            return Err(RunError::Window { room: self.ctx().saturating_sub(more), needed: prompt.len() });
        }
        if let Some(id) = prompt.iter().find(|id| **id as usize >= self.model.config.vocab) {
            return Err(RunError::Token(*id));
        }
        let shared = self.fed.iter().zip(prompt).take_while(|(a, b)| a == b).count();
        let kept = shared.min(prompt.len() - 1);
        self.rewind(kept);
        self.epoch += 1;
        Ok(kept)
    }

    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn rewind(&mut self, len: usize) {
        self.fed.truncate(len);
        self.forward.truncate(len);
    }

    pub(crate) fn feed(&mut self, tokens: &[u32], want: Want) {
        self.forward.feed(&self.model, tokens, want);
        self.fed.extend_from_slice(tokens);
    }

    /// Does one piece of work: a chunk of the prompt, or one token. Between two steps the caller may cancel.
    ///
    /// # Errors
    /// [`RunError::DeadEnd`] where a constraint allows nothing.
    pub fn step(&mut self, run: &mut Run) -> Result<Step, RunError> {
        if run.over || run.epoch != self.epoch {
            return Ok(end(run, Reason::Cancelled));
        }
        if self.forward.len() + run.queue.len().min(CHUNK) > self.ctx() {
            return Ok(end(run, Reason::Length));
        }
        if !run.queue.is_empty() {
            let n = run.queue.len().min(CHUNK);
            let last = n == run.queue.len();
            let now: Vec<u32> = run.queue.drain(..n).collect();
            self.feed(&now, if last { Want::Last } else { Want::Nothing });
            if !run.prefilled {
                run.prefilled = last;
                return Ok(Step::Prefill { done: self.fed.len(), total: run.usage.prompt });
            }
            if !last {
                return Ok(Step::Text(String::new()));
            }
        }
        if run.usage.completion >= run.max_tokens {
            return Ok(end(run, Reason::Length));
        }
        if run.constraint.is_some() {
            return self.constrained(run);
        }
        let logits = self.forward.logits_mut();
        run.sampler.penalise(logits);
        let token = run.sampler.choose(logits);
        if self.tokenizer.is_end(token) {
            return Ok(end(run, Reason::Stop));
        }
        let text = self.say(run, &[token]);
        if run.stream.stopped() {
            return Ok(finish(run, Reason::Stop, text));
        }
        Ok(Step::Text(text))
    }

    /// Takes tokens as said: they are fed before the next choice, and their text goes out.
    fn say(&self, run: &mut Run, tokens: &[u32]) -> String {
        let mut text = String::new();
        for token in tokens {
            run.sampler.note(*token);
            text += &run.stream.push(self.tokenizer.token_bytes(*token));
        }
        run.usage.completion += tokens.len();
        run.queue.extend_from_slice(tokens);
        run.spoke |= !text.trim().is_empty();
        text
    }

    /// The best token that the automaton takes; what can only be one way is said without asking the model.
    fn constrained(&self, run: &mut Run) -> Result<Step, RunError> {
        let Some(automaton) = &mut run.constraint else { return Err(RunError::DeadEnd) };
        if automaton.finished() {
            return Ok(end(run, Reason::Stop));
        }
        let forced = automaton.forced();
        let tokens = match std::str::from_utf8(&forced) {
            Ok(text) if !text.is_empty() => self.tokenizer.encode(text),
            _ => Vec::new(),
        };
        let tokens = if tokens.is_empty() || self.tokenizer.decode(&tokens) != forced {
            let mut best: Option<(f32, u32, Automaton)> = None;
            for (id, logit) in (0u32..).zip(self.forward.logits()) {
                if best.as_ref().is_some_and(|b| *logit <= b.0) {
                    continue;
                }
                if let Some(after) = automaton.after(self.tokenizer.token_bytes(id)) {
                    best = Some((*logit, id, after));
                }
            }
            match best {
                Some((_, id, after)) => {
                    *automaton = after;
                    vec![id]
                }
                None if automaton.may_end() => return Ok(end(run, Reason::Stop)),
                None => return Err(RunError::DeadEnd),
            }
        } else {
            *automaton = automaton.after(&forced).ok_or(RunError::DeadEnd)?;
            tokens
        };
        Ok(Step::Text(self.say(run, &tokens)))
    }
}

fn end(run: &mut Run, reason: Reason) -> Step {
    finish(run, reason, String::new())
}

fn finish(run: &mut Run, reason: Reason, mut text: String) -> Step {
    if !run.over {
        text += &run.stream.finish();
    }
    run.over = true;
    run.spoke |= !text.trim().is_empty();
    let reason = if reason != Reason::Cancelled && !run.spoke { Reason::Empty } else { reason };
    Step::End { reason, text }
}
