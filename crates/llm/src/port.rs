//! Bytes in, bytes out: what the C ABI carries, without a pointer in sight, so that native tests drive it too.
//!
//! Requests are little-endian numbers and length-prefixed UTF-8 strings; answers lie in [`Port::out`]. One run at a
//! time; starting another ends the one before.

use crate::chat::Message;
use crate::constrain::{Automaton, Part};
use crate::error::{Refusal, RunError, zeroed};
use crate::kernels;
use crate::sample::Sampling;
use crate::score::{ScoreRun, ScoreStep};
use crate::session::{Reason, Run, Session, Step};
use crate::sha256::{self, Sha256};

/// Version of this byte protocol; the worker refuses a module of another.
pub const VERSION: u32 = 1;
/// Longest request.
pub const MAX_REQUEST: usize = 16 << 20;
/// Largest model file: what is left of 32-bit memory after cache and room to work.
pub const MAX_MODEL: usize = 3 << 30;

/// What a call did; the numbers the worker sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Did {
    /// Done; `out` holds the answer, if there is one.
    Ok = 0,
    /// Refused; `out` holds code, subject, expected, observed, a line each.
    Refused = 1,
    /// Prompt read: two numbers, done and total.
    Prefill = 2,
    /// Text, in UTF-8.
    Text = 3,
    /// Over: reason (0 stop, 1 length, 2 cancelled, 3 empty), prompt, cached, completion, then the last text.
    End = 4,
    /// Scores: for each candidate its sum (f32) and its tokens.
    Scores = 5,
    /// There is no run.
    Idle = 6,
}

#[derive(Debug)]
enum Work {
    Chat(Run),
    Score(ScoreRun),
}

/// One engine behind the ABI.
#[derive(Debug, Default)]
pub struct Port {
    /// Where the caller writes a request.
    pub input: Vec<u8>,
    /// Where the answer of the last call lies.
    pub out: Vec<u8>,
    /// The model file while it arrives.
    pub file: Vec<u8>,
    hash: Sha256,
    session: Option<Session>,
    work: Option<Work>,
}

/// A request, read piece by piece.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Refusal> {
        let (now, rest) = self.0.split_first_chunk::<N>().ok_or_else(short)?;
        self.0 = rest;
        Ok(*now)
    }
    fn u32(&mut self) -> Result<u32, Refusal> {
        self.array().map(u32::from_le_bytes)
    }
    fn f32(&mut self) -> Result<f32, Refusal> {
        self.array().map(f32::from_le_bytes)
    }
    fn count(&mut self) -> Result<usize, Refusal> {
        let n = self.u32()? as usize;
        // every item takes at least four bytes, so a larger count is a lie
        if n > self.0.len() / 4 { Err(short()) } else { Ok(n) }
    }
    fn text(&mut self) -> Result<&'a str, Refusal> {
        let n = self.u32()? as usize;
        let (now, rest) = self.0.split_at_checked(n).ok_or_else(short)?;
        self.0 = rest;
        std::str::from_utf8(now).map_err(|_| Refusal::new("request-text", "request", "UTF-8", "other bytes"))
    }
    fn texts(&mut self) -> Result<Vec<String>, Refusal> {
        let n = self.count()?;
        (0..n).map(|_| self.text().map(str::to_owned)).collect()
    }
    fn messages(&mut self) -> Result<Vec<Message>, Refusal> {
        let n = self.count()?;
        (0..n).map(|_| Ok(Message::new(self.text()?, self.text()?))).collect()
    }
    fn constraint(&mut self) -> Result<Option<Automaton>, Refusal> {
        let n = self.count()?;
        if n == 0 {
            return Ok(None);
        }
        let parts = (0..n).map(|_| self.part()).collect::<Result<Vec<_>, _>>()?;
        Automaton::new(parts).map(Some).map_err(|e| {
            Refusal::new("constraint", format!("part {}", e.part), "a part that can be filled", e.observed)
        })
    }
    fn part(&mut self) -> Result<Part, Refusal> {
        Ok(match self.u32()? {
            0 => Part::Literal(self.text()?.to_owned()),
            1 => Part::Text { max: self.u32()? as usize },
            2 => Part::OneOf(self.texts()?),
            3 => Part::Span { max: self.u32()? as usize, of: self.text()?.to_owned() },
            4 => Part::Int { max: self.u32()? as usize },
            n => return Err(Refusal::new("request-part", "constraint", "a part of kind 0 to 4", n.to_string())),
        })
    }
}

fn short() -> Refusal {
    Refusal::new("request-short", "request", "more bytes", "its end")
}

impl Port {
    /// Makes room for a request of `n` bytes.
    pub fn reserve(&mut self, n: usize) -> bool {
        n <= MAX_REQUEST && resize(&mut self.input, n)
    }

    /// Makes room for a model file of `n` bytes and starts its digest. A model already loaded is let go first: two do
    /// not fit.
    pub fn reserve_file(&mut self, n: usize) -> bool {
        (self.session, self.work) = (None, None);
        self.file = Vec::new();
        self.hash = Sha256::default();
        n <= MAX_MODEL && resize(&mut self.file, n)
    }

    /// Takes `len` bytes of the file from `from` on into the digest.
    pub fn hash_file(&mut self, from: usize, len: usize) -> bool {
        match from.checked_add(len).and_then(|end| self.file.get(from..end)) {
            Some(bytes) => {
                self.hash.update(bytes);
                true
            }
            None => false,
        }
    }

    /// The digest in hexadecimal, into `out`; a new one begins.
    pub fn digest(&mut self) {
        self.out = sha256::hex(&std::mem::take(&mut self.hash).finish()).into_bytes();
    }

    /// Compares this module's kernels with the reference, on this machine: refused where one differs.
    pub fn check(&mut self) -> Did {
        match kernels::self_check() {
            Ok(()) => Did::Ok,
            Err(kernel) => self.refuse(&Refusal::new("kernel-differs", kernel, "the reference's numbers", "others")),
        }
    }

    /// Loads the file; `out` tells what was loaded, a `key=value` a line.
    pub fn load(&mut self, ctx: usize) -> Did {
        match Session::load(std::mem::take(&mut self.file), ctx) {
            Ok(s) => {
                self.out = format!(
                    "kernel={}\nctx={}\nbytes={}\nvocab={}\nlayers={}\nbytesPerToken={}",
                    s.kernel().name(),
                    s.ctx(),
                    s.model().file_bytes(),
                    s.tokenizer().vocab(),
                    s.model().config.layers,
                    s.model().bytes_per_token()
                )
                .into_bytes();
                self.session = Some(s);
                Did::Ok
            }
            Err(e) => self.refuse(&e.refusal()),
        }
    }

    /// Tokens of the text in `input`; none without a model or with bytes that are no text.
    pub fn count(&self) -> Option<usize> {
        let text = std::str::from_utf8(&self.input).ok()?;
        Some(self.session.as_ref()?.count(text))
    }

    /// Starts an answer. Request: temperature f32, top-k, top-p f32, penalty f32, seed (low, high), most tokens; then
    /// messages (role and content), the assistant's beginning, stop texts, parts of the constraint. `out`: prompt
    /// tokens, cached tokens, messages dropped.
    pub fn chat(&mut self) -> Did {
        let input = std::mem::take(&mut self.input);
        match self.start_chat(&input) {
            Ok(()) => Did::Ok,
            Err(e) => self.refuse(&e),
        }
    }

    fn start_chat(&mut self, input: &[u8]) -> Result<(), Refusal> {
        let mut r = Reader(input);
        let sampling = Sampling {
            temperature: r.f32()?,
            top_k: r.u32()? as usize,
            top_p: r.f32()?,
            penalty: r.f32()?,
            seed: u64::from(r.u32()?) | u64::from(r.u32()?) << 32,
            max_tokens: r.u32()? as usize,
        };
        let messages = r.messages()?;
        let assistant = r.text()?;
        let stops = r.texts()?;
        let constraint = r.constraint()?;
        let session = self.session.as_mut().ok_or_else(no_model)?;
        let (run, dropped) =
            session.chat(&messages, assistant, sampling, stops, constraint).map_err(|e| e.refusal())?;
        let usage = run.usage();
        self.work = Some(Work::Chat(run));
        self.numbers(&[usage.prompt, usage.cached, dropped]);
        Ok(())
    }

    /// Starts scoring. Request: messages, text (used where there are no messages), the assistant's beginning,
    /// candidates. `out`: prefix tokens, cached tokens, messages dropped.
    pub fn score(&mut self) -> Did {
        let input = std::mem::take(&mut self.input);
        match self.start_score(&input) {
            Ok(()) => Did::Ok,
            Err(e) => self.refuse(&e),
        }
    }

    fn start_score(&mut self, input: &[u8]) -> Result<(), Refusal> {
        let mut r = Reader(input);
        let messages = r.messages()?;
        let text = r.text()?;
        let assistant = r.text()?;
        let candidates = r.texts()?;
        let session = self.session.as_mut().ok_or_else(no_model)?;
        let t = session.tokenizer();
        let candidates: Vec<Vec<u32>> = candidates.iter().map(|c| t.encode(c)).collect();
        let longest = candidates.iter().map(Vec::len).max().unwrap_or(0);
        let (prefix, dropped) = if messages.is_empty() {
            (t.encode(&format!("{text}{assistant}")), 0)
        } else {
            let room = session.ctx().saturating_sub(longest);
            session.template().fit(t, &messages, assistant, room).map_err(|e: RunError| e.refusal())?
        };
        let run = session.score(&prefix, candidates).map_err(|e| e.refusal())?;
        let (prefix, cached) = run.prefix_usage();
        self.work = Some(Work::Score(run));
        self.numbers(&[prefix, cached, dropped]);
        Ok(())
    }

    /// One piece of work of the current run.
    pub fn step(&mut self) -> Did {
        self.out.clear();
        let (Some(session), Some(work)) = (self.session.as_mut(), self.work.as_mut()) else { return Did::Idle };
        match work {
            Work::Chat(run) => match session.step(run) {
                Ok(Step::Prefill { done, total }) => {
                    self.numbers(&[done, total]);
                    Did::Prefill
                }
                Ok(Step::Text(text)) => {
                    self.out = text.into_bytes();
                    Did::Text
                }
                Ok(Step::End { reason, text }) => {
                    let usage = run.usage();
                    self.work = None;
                    self.end(reason, &[usage.prompt, usage.cached, usage.completion], &text);
                    Did::End
                }
                Err(e) => {
                    self.work = None;
                    self.refuse(&e.refusal())
                }
            },
            Work::Score(run) => match session.score_step(run) {
                ScoreStep::Progress { done, total } => {
                    self.numbers(&[done, total]);
                    Did::Prefill
                }
                ScoreStep::Done(scores) => {
                    self.work = None;
                    for s in scores {
                        self.out.extend_from_slice(&s.sum.to_le_bytes());
                        self.out.extend_from_slice(&(s.tokens as u32).to_le_bytes());
                    }
                    Did::Scores
                }
                ScoreStep::Cancelled => {
                    let (prefix, cached) = run.prefix_usage();
                    self.work = None;
                    self.end(Reason::Cancelled, &[prefix, cached, 0], "");
                    Did::End
                }
            },
        }
    }

    /// Ends the current run; its next step says so.
    pub fn cancel(&mut self) {
        match &mut self.work {
            Some(Work::Chat(run)) => run.cancel(),
            Some(Work::Score(run)) => run.cancel(),
            None => {}
        }
    }

    fn end(&mut self, reason: Reason, numbers: &[usize], text: &str) {
        let reason = match reason {
            Reason::Stop => 0,
            Reason::Length => 1,
            Reason::Cancelled => 2,
            Reason::Empty => 3,
        };
        self.numbers(&[reason]);
        for n in numbers {
            self.out.extend_from_slice(&(*n as u32).to_le_bytes());
        }
        self.out.extend_from_slice(text.as_bytes());
    }

    fn numbers(&mut self, numbers: &[usize]) {
        self.out.clear();
        for n in numbers {
            self.out.extend_from_slice(&(*n as u32).to_le_bytes());
        }
    }

    fn refuse(&mut self, r: &Refusal) -> Did {
        let line = |s: &str| s.replace(['\n', '\r'], " ");
        self.out = [r.code, &line(&r.subject), &line(&r.expected), &line(&r.observed)].join("\n").into_bytes();
        Did::Refused
    }
}

fn no_model() -> Refusal {
    Refusal::new("model-none", "run", "a loaded model", "none")
}

/// Resizes where memory allows; the old content is of no interest.
fn resize(v: &mut Vec<u8>, n: usize) -> bool {
    if v.capacity() >= n {
        v.resize(n, 0);
        return true;
    }
    *v = Vec::new();
    match zeroed(n) {
        Ok(new) => {
            *v = new;
            true
        }
        Err(_) => false,
    }
}
