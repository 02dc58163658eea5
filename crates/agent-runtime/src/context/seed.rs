//! The first guess at what a message wants, from the message and what was already observed.

use std::ops::Range;

use kernel::Digest;
use serde::{Deserialize, Serialize};

use super::{ContextEpoch, ContextRefusal};
use crate::core::{Instant, SchemaTag, decode, digest_of};

/// A seed as bytes.
pub const SEED_TAG: SchemaTag = SchemaTag { name: "IntentSeed", version: 1 };

/// Most of what a word alone is worth, in hundredths of a percent (I-14).
const KEYWORD_BP: u16 = 5_000;
const CONTINUITY_BP: u16 = 7_500;
const STRUCTURE_BP: u16 = 9_000;

/// What a message wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Intent {
    Converse,
    Build,
    Repair,
    Analyze,
    Audit,
    Resume,
    Govern,
    Other,
}

/// How much harm a mistake does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Risk {
    Normal,
    High,
    Critical,
}

/// On what a seed rests. Spans are byte ranges of the message.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum SeedBasis {
    /// A word that hints.
    Keyword(Range<u32>),
    /// A slash command or a path.
    Structural(Range<u32>),
    /// A turn that is open, by its trace.
    ObservedContinuity(Digest),
}

/// What was already observed of the conversation, without reading anything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Continuity {
    /// The open task's intent and the digest of its trace.
    pub open: Option<(Intent, Digest)>,
}

/// `IntentSeedV1`. It is made of a message and of what was observed, and of nothing else:
/// [`IntentSeed::of`] has no parameter through which a store, a file or memory could come (I-13).
///
/// Nobody states a confidence:
/// ```compile_fail,E0451
/// # use agent_runtime::context::{Intent, IntentSeed};
/// # fn f(seed: IntentSeed) -> IntentSeed {
/// IntentSeed { confidence_bp: 10_000, ..seed }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IntentSeed {
    epoch: ContextEpoch,
    message: Digest,
    semantic: Intent,
    risk: Risk,
    confidence_bp: u16,
    basis: Vec<SeedBasis>,
    created: Instant,
}

/// Hints, first match wins; a word is a run of letters, compared in lower case.
const WORDS: [(&str, Intent); 22] = [
    ("resume", Intent::Resume),
    ("continue", Intent::Resume),
    ("weiter", Intent::Resume),
    ("audit", Intent::Audit),
    ("prüfe", Intent::Audit),
    ("fix", Intent::Repair),
    ("repair", Intent::Repair),
    ("repariere", Intent::Repair),
    ("build", Intent::Build),
    ("create", Intent::Build),
    ("write", Intent::Build),
    ("add", Intent::Build),
    ("delete", Intent::Build),
    ("lösche", Intent::Build),
    ("schreibe", Intent::Build),
    ("explain", Intent::Analyze),
    ("analyze", Intent::Analyze),
    ("analyse", Intent::Analyze),
    ("summarize", Intent::Analyze),
    ("erkläre", Intent::Analyze),
    ("policy", Intent::Govern),
    ("permission", Intent::Govern),
];
/// Words that make a mistake costly. They raise the risk and settle nothing else.
const RISKY: [&str; 5] = ["delete", "lösche", "overwrite", "deploy", "format"];

fn span(start: usize, part: &str) -> Range<u32> {
    let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    at(start)..at(start + part.len())
}

/// Parts of `text` between `gap`s, with where they begin.
fn parts(text: &str, gap: fn(char) -> bool) -> impl Iterator<Item = (usize, &str)> {
    text.split(gap).map(move |p| (p.as_ptr() as usize - text.as_ptr() as usize, p)).filter(|(_, p)| !p.is_empty())
}

impl IntentSeed {
    /// Reads the message. A greeting is talk; what cannot be told is [`Intent::Other`]; neither is
    /// refused.
    ///
    /// # Errors
    /// `IntentMissing` for a message without content.
    pub fn of(epoch: ContextEpoch, message: &str, seen: Continuity, now: Instant) -> Result<Self, ContextRefusal> {
        if message.trim().is_empty() {
            return Err(ContextRefusal::IntentMissing);
        }
        let words: Vec<_> = parts(message, |c| !c.is_alphabetic()).map(|(at, w)| (at, w.to_lowercase(), w)).collect();
        let hint =
            words.iter().find_map(|(at, low, w)| WORDS.iter().find(|(k, _)| k == low).map(|(_, i)| (*i, span(*at, w))));
        let path = parts(message, char::is_whitespace)
            .find(|(_, p)| p.len() > 1 && p.starts_with('/'))
            .map(|(at, p)| span(at, p));
        let mut basis: Vec<_> = path.map(SeedBasis::Structural).into_iter().collect();
        basis.extend(seen.open.map(|(_, trace)| SeedBasis::ObservedContinuity(trace)));
        basis.extend(hint.clone().map(|(_, at)| SeedBasis::Keyword(at)));
        let confidence_bp = basis.first().map_or(KEYWORD_BP, SeedBasis::worth);
        let semantic = match (hint, seen.open) {
            (Some((intent, _)), _) => intent,
            (None, Some((intent, _))) => intent,
            (None, None) if confidence_bp <= KEYWORD_BP => Intent::Converse,
            _ => Intent::Other,
        };
        let risk = if words.iter().any(|(_, w, _)| RISKY.contains(&w.as_str())) { Risk::High } else { Risk::Normal };
        Ok(Self { epoch, message: Digest::of(message.as_bytes()), semantic, risk, confidence_bp, basis, created: now })
    }

    /// A stored seed, against its message: computed anew and compared, so nothing foreign enters.
    ///
    /// # Errors
    /// `SeedForeignField`, `IntentMissing`.
    pub fn load(bytes: &[u8], message: &str, seen: Continuity) -> Result<Self, ContextRefusal> {
        let stored: Self = decode(SEED_TAG, bytes).map_err(|_| ContextRefusal::SeedForeignField("record"))?;
        let ours = Self::of(stored.epoch, message, seen, stored.created)?;
        let field = [
            ("message", ours.message == stored.message),
            ("semantic", ours.semantic == stored.semantic),
            ("risk", ours.risk == stored.risk),
            ("confidence", ours.confidence_bp == stored.confidence_bp),
            ("basis", ours.basis == stored.basis),
        ];
        let odd = field.iter().find(|(_, same)| !same);
        odd.map_or(Ok(ours), |(name, _)| Err(ContextRefusal::SeedForeignField(name)))
    }

    /// What it most likely wants.
    #[must_use]
    pub fn semantic(&self) -> Intent {
        self.semantic
    }
    /// The intent, where more than a word says so (I-14). Where this is refused, tools are narrowed
    /// to reading or the person is asked.
    ///
    /// # Errors
    /// `IntentNotCanonical`.
    pub fn canonical(&self) -> Result<Intent, ContextRefusal> {
        let enough = self.confidence_bp > KEYWORD_BP;
        if enough { Ok(self.semantic) } else { Err(ContextRefusal::IntentNotCanonical) }
    }
    /// Confidence, 0 to 10 000.
    #[must_use]
    pub fn confidence_bp(&self) -> u16 {
        self.confidence_bp
    }
    /// How much harm a mistake does.
    #[must_use]
    pub fn risk(&self) -> Risk {
        self.risk
    }
    /// On what it rests.
    #[must_use]
    pub fn basis(&self) -> &[SeedBasis] {
        &self.basis
    }
    /// Its epoch.
    #[must_use]
    pub fn epoch(&self) -> ContextEpoch {
        self.epoch
    }
    /// The digest of all of it.
    #[must_use]
    pub fn digest(&self) -> Digest {
        digest_of("seed", self)
    }
}

impl SeedBasis {
    /// Confidence of a seed that rests on this.
    fn worth(&self) -> u16 {
        match self {
            Self::Keyword(_) => KEYWORD_BP,
            Self::Structural(_) => STRUCTURE_BP,
            Self::ObservedContinuity(_) => CONTINUITY_BP,
        }
    }
}
