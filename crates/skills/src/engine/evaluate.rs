//! From an objective to verdicts.

use std::collections::HashMap;

use kernel::SkillId;

use super::clause::{Reading, Stand};
use super::gates::{self, Paths};
use super::language::Language;
use super::mask::{MaskKind, Masked, mask};
use super::phrase::Phrases;
use super::terms::{Hits, Index, Terms};
use super::text::{Kind, Tokens, is_unspaced, stands_alone, tokens};
use super::{
    ACTIVE_BYTES_MAX, ACTIVE_MAX, CATALOGUE_MAX, Context, EVIDENCE_MAX, Evaluation, Evidence, OBJECTIVE_MAX,
    REQUIRED_TOOLS_MAX, ReasonCode, SUBJECT_WINDOW, SkillMeta, SkillRefusal, Span, TARGETS_MAX, TRIGGER_CHARS_MAX,
    TRIGGERS_MAX, Verdict, cut,
};

/// Fewest characters of a trigger that is one word.
const ONE_WORD_MIN: usize = 6;
/// Fewest characters of a trigger in a script without spaces.
const UNSPACED_MIN: usize = 3;

/// Scores by kind of evidence; within a kind more is more.
const SCORE_EXACT: u32 = 10_000;
const SCORE_TRIGGER: u32 = 1_000;

/// Whose phrase it is, and what it says.
#[derive(Clone, Copy, Debug)]
struct Owner {
    skill: u32,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Trigger,
    /// The id without its mark.
    Bare,
    NearMiss,
}

/// A compiled catalogue.
#[derive(Clone, Debug)]
pub struct Engine {
    skills: Vec<SkillMeta>,
    by_id: HashMap<Box<str>, u32>,
    phrases: Phrases,
    owners: Vec<Vec<Owner>>,
    index: Index,
    include: Vec<Paths>,
    exclude: Vec<Paths>,
}

/// How an objective reads, for the inspector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Analysis {
    /// Its language; unknown without a table.
    pub language: Option<Language>,
    /// What is shown rather than said.
    pub masked: Vec<Masked>,
    /// Its clauses.
    pub clauses: Vec<Span>,
    /// Bytes that were read.
    pub read: usize,
}

impl Analysis {
    /// Reads an objective.
    #[must_use]
    pub fn of(objective: &str) -> Self {
        let text = cut(objective, OBJECTIVE_MAX);
        let masked = mask(text);
        let words = tokens(text, &masked);
        let reading = Reading::of(&words, text.len() < objective.len());
        Self { language: reading.language, clauses: reading.clause_spans(&words), masked, read: text.len() }
    }
}

/// True when a phrase is long enough to be a trigger: two words, or one of six characters, or three
/// characters of a script without spaces (engine.md §2.3, 6).
#[must_use]
pub(crate) fn is_trigger(phrase: &str) -> bool {
    let words = tokens(phrase, &[]);
    let unspaced = phrase.chars().filter(|&c| is_unspaced(c)).count();
    let spaced = words.list.iter().filter(|t| t.kind == Kind::Word).count();
    let long = words.list.iter().any(|t| words.text(t).chars().count() >= ONE_WORD_MIN);
    phrase.chars().count() <= TRIGGER_CHARS_MAX
        && (unspaced >= UNSPACED_MIN
            || (unspaced == 0 && (spaced >= 2 || (spaced == 1 && long)))
            || (unspaced > 0 && spaced > 0))
}

/// What is found for one skill while reading.
#[derive(Clone, Debug, Default)]
struct Found {
    exact: Option<Span>,
    trigger: Option<(Span, usize)>,
    near_miss: bool,
    refused: bool,
    evidence: Vec<Evidence>,
}

/// A phrase in the objective.
#[derive(Clone, Debug)]
struct Match {
    span: Span,
    len: usize,
    /// Why it is no evidence.
    reason: Option<ReasonCode>,
    /// An invocation verb stands right before it.
    follows: bool,
}

impl Found {
    fn note(&mut self, reason: ReasonCode, span: Span) {
        if self.evidence.len() < EVIDENCE_MAX {
            self.evidence.push(Evidence { span, reason });
        }
    }
}

fn masked_reason(kind: MaskKind) -> ReasonCode {
    match kind {
        MaskKind::Quote => ReasonCode::MaskedQuote,
        MaskKind::Blockquote => ReasonCode::MaskedBlockquote,
        MaskKind::Code | MaskKind::Comment | MaskKind::Link => ReasonCode::MaskedCode,
    }
}

fn stand_reason(stand: Stand) -> Option<ReasonCode> {
    match stand {
        Stand::Positive => None,
        Stand::Negated => Some(ReasonCode::NegatedClause),
        Stand::Ambiguous => Some(ReasonCode::NegationAmbiguous),
        Stand::Descriptive => Some(ReasonCode::DescriptiveMention),
    }
}

impl Engine {
    /// Compiles a catalogue; its order does not matter (I-120).
    ///
    /// # Errors
    /// [`SkillRefusal::SkillCap`] over a bound of engine.md §2.12, or with an id twice.
    pub fn new(mut skills: Vec<SkillMeta>) -> Result<Self, SkillRefusal> {
        cap("the catalogue", "skills", CATALOGUE_MAX, skills.len())?;
        skills.sort_by(|a, b| a.id.cmp(&b.id));
        for pair in skills.windows(2) {
            if pair[0].id == pair[1].id {
                cap(pair[0].id.as_str(), "skill of one id", 1, 2)?;
            }
        }
        for skill in &skills {
            cap(skill.id.as_str(), "triggers", TRIGGERS_MAX, skill.triggers.len())?;
            cap(skill.id.as_str(), "near-miss terms", TRIGGERS_MAX, skill.negative_terms.len())?;
            cap(skill.id.as_str(), "required tools", REQUIRED_TOOLS_MAX, skill.required_tools.len())?;
        }
        let mut engine = Self {
            by_id: HashMap::with_capacity(skills.len()),
            phrases: Phrases::default(),
            owners: Vec::new(),
            index: Index::build(&skills.iter().map(|s| Terms::of(&s.description)).collect::<Vec<_>>()),
            include: skills.iter().map(|s| Paths::of(&s.include_paths)).collect(),
            exclude: skills.iter().map(|s| Paths::of(&s.exclude_paths)).collect(),
            skills: Vec::new(),
        };
        for (n, skill) in skills.iter().enumerate() {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            engine.by_id.insert(skill.id.as_str().into(), n);
            for phrase in skill.triggers.iter().filter(|p| is_trigger(p)) {
                engine.listen(phrase, Owner { skill: n, role: Role::Trigger });
            }
            for phrase in skill.negative_terms.iter().filter(|p| p.chars().count() <= TRIGGER_CHARS_MAX) {
                engine.listen(phrase, Owner { skill: n, role: Role::NearMiss });
            }
            if skill.id.as_str().contains(['-', '_']) {
                engine.listen(skill.id.as_str(), Owner { skill: n, role: Role::Bare });
            }
        }
        engine.phrases.finish();
        engine.skills = skills;
        Ok(engine)
    }

    fn listen(&mut self, phrase: &str, owner: Owner) {
        let words = tokens(phrase, &[]);
        if words.list.is_empty() || words.list.len() > super::phrase::PHRASE_TOKENS_MAX {
            return;
        }
        let id = self.phrases.add(&words) as usize;
        self.owners.resize_with(self.owners.len().max(id + 1), Vec::new);
        self.owners[id].push(owner);
    }

    /// The skills, by id.
    #[must_use]
    pub fn skills(&self) -> &[SkillMeta] {
        &self.skills
    }

    /// A skill that was named outright, as by a palette row: every gate, no evidence.
    ///
    /// # Errors
    /// The first gate that is shut.
    pub fn admit(&self, id: &SkillId, context: &Context) -> Result<&SkillMeta, SkillRefusal> {
        let n = *self.by_id.get(id.as_str()).ok_or_else(|| SkillRefusal::SkillUnknown(id.clone()))? as usize;
        let id = || id.clone();
        match self.gates(n, context).into_iter().next() {
            None => Ok(&self.skills[n]),
            Some(ReasonCode::Disabled) => Err(SkillRefusal::SkillDisabled(id())),
            Some(ReasonCode::RequiredToolMissing { tool }) => Err(SkillRefusal::SkillToolMissing { id: id(), tool }),
            Some(ReasonCode::PathExcluded | ReasonCode::PathNotIncluded) => Err(SkillRefusal::SkillPathExcluded(id())),
            Some(reason) => {
                Err(SkillRefusal::SkillUnreviewed { id: id(), changed: reason == ReasonCode::ReviewBindingChanged })
            }
        }
    }

    fn gates(&self, n: usize, context: &Context) -> Vec<ReasonCode> {
        let targets = &context.target_paths[..context.target_paths.len().min(TARGETS_MAX)];
        gates::shut(&self.skills[n], &self.include[n], &self.exclude[n], &context.live_tools, targets)
    }

    /// Judges every skill against the current objective, and nothing else (I-112): one evaluation
    /// a skill, by id. Cost is linear in the objective and in the catalogue (I-121).
    #[must_use]
    pub fn evaluate(&self, objective: &str, context: &Context) -> Vec<Evaluation> {
        let text = cut(objective, OBJECTIVE_MAX);
        let truncated = text.len() < objective.len();
        let words = tokens(text, &mask(text));
        let reading = Reading::of(&words, truncated);
        let mut found = vec![Found::default(); self.skills.len()];
        self.read_ids(&words, &reading, &mut found);
        self.read_phrases(text, &words, &reading, &mut found);
        let hits = self.index.hits(&words, &reading, SUBJECT_WINDOW);
        let mut out: Vec<Evaluation> = found
            .into_iter()
            .zip(&hits)
            .enumerate()
            .map(|(n, (found, hits))| self.judge(n, found, hits, &reading, context, truncated))
            .collect();
        self.fill(&mut out);
        out
    }

    /// Exact invocations. The last word on an id holds: denied after it was asked for, it is taken
    /// back.
    fn read_ids(&self, words: &Tokens, reading: &Reading, found: &mut [Found]) {
        for (n, token) in words.list.iter().enumerate().filter(|(_, t)| t.kind == Kind::Id) {
            let Some(&skill) = self.by_id.get(words.text(token)) else { continue };
            let found = &mut found[skill as usize];
            let reason = match (token.mask, reading.place[n]) {
                (None, Some(place)) => stand_reason(reading.invocation(place)),
                (kind, _) => kind.map(masked_reason),
            };
            match reason {
                None => {
                    found.exact.get_or_insert(token.span);
                    found.refused = false;
                    found.note(ReasonCode::ExactInvocation, token.span);
                }
                Some(reason) => {
                    let denied = matches!(reason, ReasonCode::NegatedClause | ReasonCode::NegationAmbiguous);
                    if denied && found.exact.is_some() {
                        found.refused = true;
                    }
                    found.note(reason, token.span);
                }
            }
        }
    }

    fn read_phrases(&self, text: &str, words: &Tokens, reading: &Reading, found: &mut [Found]) {
        // For each phrase its first positive match, and its first of another standing.
        let mut best: HashMap<u32, [Option<Match>; 2]> = HashMap::new();
        self.phrases.run(words, 0..words.list.len(), |phrase, last, len| {
            let first = last + 1 - len;
            let slot = best.entry(phrase).or_default();
            if slot[0].is_some() {
                return;
            }
            let span = Span { start: words.list[first].span.start, end: words.list[last].span.end };
            let mut follows = false;
            let reason = match (words.list[first].mask, reading.place[first]) {
                (None, Some(place)) => {
                    follows = reading.follows_verb(place);
                    let stand = reading.stand(place, place + len);
                    let stand =
                        if stand == Stand::Positive && reading.is_told(place) { Stand::Descriptive } else { stand };
                    stand_reason(stand)
                }
                (kind, _) => kind.map(masked_reason),
            };
            let at = usize::from(reason.is_some());
            if slot[at].is_none() {
                slot[at] = Some(Match { span, len, reason, follows });
            }
        });
        let mut best: Vec<_> = best.into_iter().collect();
        best.sort_by_key(|(phrase, slot)| (slot.iter().flatten().next().map(|m| m.span), *phrase));
        for (phrase, slot) in best {
            for owner in &self.owners[phrase as usize] {
                let found = &mut found[owner.skill as usize];
                for Match { span, len, reason, follows } in slot.iter().flatten() {
                    // The bare id counts only letter by letter.
                    let id = self.skills[owner.skill as usize].id.as_str();
                    let literal = &text[span.start..span.end] == id && stands_alone(text, *span);
                    match (owner.role, reason) {
                        (Role::Bare, _) if !literal => {}
                        (Role::Bare, None) if !follows => found.note(ReasonCode::DescriptiveMention, *span),
                        (Role::NearMiss, None) => {
                            found.near_miss = true;
                            found.note(ReasonCode::NearMissVeto, *span);
                        }
                        (Role::NearMiss, Some(_)) => {}
                        (_, None) if reading.language.is_none() => found.note(ReasonCode::LanguageUnknown, *span),
                        (_, None) => {
                            if found.trigger.is_none_or(|(_, l)| l < *len) {
                                found.trigger = Some((*span, *len));
                            }
                            found.note(ReasonCode::TriggerPhrase, *span);
                        }
                        (_, Some(reason)) => found.note(reason.clone(), *span),
                    }
                }
            }
        }
    }

    fn judge(
        &self,
        n: usize,
        mut found: Found,
        hits: &Hits,
        reading: &Reading,
        context: &Context,
        truncated: bool,
    ) -> Evaluation {
        let vetoed = found.near_miss || hits.is_vetoed();
        let described = reading.language.is_some() && self.index.is_enough(n, hits);
        if described && let (Some(first), Some(last)) = (hits.first, hits.last) {
            found.note(ReasonCode::DescriptionTerms, Span { start: first.start, end: last.end.max(first.end) });
        }
        if hits.is_vetoed()
            && let Some(span) = hits.first_veto
        {
            found.note(ReasonCode::NearMissVeto, span);
        }
        if found.refused {
            for evidence in &mut found.evidence {
                if evidence.reason == ReasonCode::ExactInvocation {
                    evidence.reason = ReasonCode::NegationAmbiguous;
                }
            }
        }
        let exact = found.exact.is_some() && !found.refused;
        let weaker = !found.refused && !vetoed;
        let trigger = found.trigger.filter(|_| weaker);
        let shut = self.gates(n, context);
        let score = if exact {
            SCORE_EXACT
        } else if let Some((_, len)) = trigger {
            SCORE_TRIGGER + u32::try_from(len).unwrap_or(0)
        } else if described && weaker {
            u32::try_from(hits.terms).unwrap_or(0)
        } else {
            0
        };
        let active = score > 0 && shut.is_empty();
        found.evidence.sort_by_key(|e| (e.span, e.reason.clone()));
        let mut reasons: Vec<ReasonCode> = found.evidence.iter().map(|e| e.reason.clone()).collect();
        reasons.extend(shut);
        if truncated {
            reasons.push(ReasonCode::ObjectiveTruncated);
        }
        if score == 0 {
            reasons.push(ReasonCode::BelowThreshold);
        }
        reasons.sort();
        reasons.dedup();
        Evaluation {
            skill: self.skills[n].id.clone(),
            verdict: if active { Verdict::Active } else { Verdict::Inactive },
            reasons,
            evidence: found.evidence,
            score,
        }
    }

    /// Keeps the strongest within the turn's caps; equal ones by id.
    fn fill(&self, out: &mut [Evaluation]) {
        let mut active: Vec<usize> = (0..out.len()).filter(|&n| out[n].is_active()).collect();
        active.sort_by_key(|&n| (std::cmp::Reverse(out[n].score), n));
        let (mut count, mut bytes) = (0, 0usize);
        for n in active {
            let body = self.skills[n].body_bytes;
            if count < ACTIVE_MAX && bytes.saturating_add(body) <= ACTIVE_BYTES_MAX {
                (count, bytes) = (count + 1, bytes + body);
            } else {
                out[n].verdict = Verdict::Inactive;
                out[n].reasons.push(ReasonCode::ActiveCap);
            }
        }
    }
}

fn cap(subject: &str, what: &'static str, most: usize, there: usize) -> Result<(), SkillRefusal> {
    if there > most { Err(SkillRefusal::SkillCap { subject: subject.to_owned(), what, most, there }) } else { Ok(()) }
}
