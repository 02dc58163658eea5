//! What is said, what is denied, what is only spoken about: clauses, negation and descriptive
//! mention (engine.md §2.3, text analysis 2 to 4). The tables say what words do; here stands how
//! far it reaches.

use super::Span;
use super::language::{Class, Language, Mark, Scope, bit, lexicon};
use super::text::{Kind, Tokens};

/// Tokens that may stand between an invocation verb and its object.
const VERB_REACH: usize = 3;
/// The same, in characters, for scripts without spaces, and for verbs that follow.
const VERB_REACH_UNSPACED: usize = 8;

/// Words of asking that may stand before an id.
const POLITE_MAX: usize = 6;
/// Adverbs that may stand between somebody and the verb.
const ADVERBS_MAX: usize = 4;

/// How some words stand in the objective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    /// Said, in a positive clause.
    Positive,
    /// In reach of one negator.
    Negated,
    /// In reach of several.
    Ambiguous,
    /// Spoken about.
    Descriptive,
}

#[derive(Clone, Copy, Debug, Default)]
struct Clause {
    start: usize,
    end: usize,
    /// Where its first verb of speaking about ends, and where that stands.
    meta: Option<usize>,
    /// Extent of all phrases that make the whole clause a description.
    any: Option<(usize, usize)>,
    /// It asks about something from its first word on.
    question: bool,
    /// It holds a request.
    request: bool,
    /// It announces somebody's text.
    reporter: bool,
    /// It tells what happened.
    past: bool,
    /// A colon stands before it.
    colon: bool,
    /// A blank line or a list mark stands before it.
    block: bool,
    /// It is somebody's text.
    reported: bool,
}

/// The reading of an objective.
pub(super) struct Reading {
    pub language: Option<Language>,
    /// What is said: indices of tokens that are not masked.
    pub said: Vec<usize>,
    /// For each token its place in `said`.
    pub place: Vec<Option<usize>>,
    flags: Vec<u32>,
    /// By place: the next word from there on that is no greeting and no conjunction.
    next: Vec<usize>,
    /// By place: how many words before it name somebody who acts.
    subjects: Vec<usize>,
    clause: Vec<usize>,
    clauses: Vec<Clause>,
    segment: Vec<usize>,
    negated: Vec<u16>,
    /// By place: how many negators that count end before it.
    negators: Vec<u16>,
    marks: Vec<Mark>,
    /// By place: the mark of an invocation verb that ends there.
    verb_ending: Vec<Option<usize>>,
    /// By place: the mark of an invocation verb that begins there and looks back.
    after_starting: Vec<Option<usize>>,
    /// How many words at the beginning only greet.
    greeting: usize,
}

impl Reading {
    /// Reads the tokens. `cut` says that the text goes on beyond what was read: its last clause
    /// then proves nothing.
    pub(super) fn of(text: &Tokens, cut: bool) -> Self {
        let said: Vec<usize> = (0..text.list.len()).filter(|&n| text.list[n].mask.is_none()).collect();
        let mut place = vec![None; text.list.len()];
        for (p, &n) in said.iter().enumerate() {
            place[n] = Some(p);
        }
        let found = lexicon().scan(text, &said);
        let language = lexicon().detect(text, &said, &found);
        let marks = lexicon().marks(&found, language);
        let mut flags = vec![0; said.len()];
        let (mut verb_ending, mut after_starting) = (vec![None; said.len()], vec![None; said.len()]);
        for (n, mark) in marks.iter().enumerate() {
            flags[mark.start..mark.end].iter_mut().for_each(|f| *f |= mark.classes);
            if mark.is(Class::Verb) || mark.is(Class::Preposition) {
                verb_ending[mark.end - 1] = Some(n);
            }
            if mark.is(Class::After) || (mark.is(Class::Preposition) && language == Some(Language::Japanese)) {
                after_starting[mark.start] = Some(n);
            }
        }
        let mut next = vec![said.len(); said.len() + 1];
        let idle = bit(Class::Filler) | bit(Class::Joint) | bit(Class::Break);
        for p in (0..said.len()).rev() {
            next[p] = if flags[p] & idle == 0 { p } else { next[p + 1] };
        }
        let mut subjects = vec![0; said.len() + 1];
        for p in 0..said.len() {
            subjects[p + 1] = subjects[p] + usize::from(flags[p] & bit(Class::Subject) != 0);
        }
        let greeting = flags.iter().take_while(|f| **f & bit(Class::Filler) != 0).count();
        let mut reading = Self {
            language,
            place,
            flags,
            next,
            subjects,
            clause: Vec::with_capacity(said.len()),
            clauses: Vec::new(),
            segment: Vec::with_capacity(said.len()),
            negated: Vec::new(),
            negators: Vec::new(),
            marks,
            verb_ending,
            after_starting,
            greeting,
            said,
        };
        reading.split(text);
        reading.describe();
        reading.negate();
        if cut && let Some(&last) = reading.clause.last() {
            let from = reading.clause.partition_point(|&c| c < last);
            reading.negated[from..].iter_mut().for_each(|n| *n += 2);
        }
        reading
    }

    fn has(&self, place: usize, class: Class) -> bool {
        self.flags.get(place).is_some_and(|f| f & bit(class) != 0)
    }

    /// Clauses and segments.
    fn split(&mut self, text: &Tokens) {
        // Phrases that begin or end something, by place.
        let (mut begins, mut joins) = (vec![false; self.said.len()], vec![false; self.said.len()]);
        let mut open = vec![false; self.said.len()];
        let leads_on =
            bit(Class::Negator) | bit(Class::Verb) | bit(Class::Meta) | bit(Class::Lead) | bit(Class::Follower);
        for mark in &self.marks {
            begins[mark.start] |= mark.is(Class::Break);
            joins[mark.start] |= mark.is(Class::Joint);
            open[mark.end - 1] |= mark.classes & leads_on != 0;
            let word = self.language.is_none_or(|l| !l.is_unspaced());
            open[mark.end - 1] |= word && mark.is(Class::Function);
        }
        for place in 0..self.said.len() {
            let token = &text.list[self.said[place]];
            // What separates two said words may stand before or behind what is masked between them.
            let from = if place == 0 { 0 } else { self.said[place - 1] + 1 };
            let gaps = || text.list[from..=self.said[place]].iter().map(|t| t.gap);
            let any = |f: fn(&super::text::Gap) -> bool| gaps().any(|g| f(&g));
            let newline = any(|g| g.newline);
            let wrapped = newline && (token.lower || place == 0 || open[place - 1] || token.gap.comma);
            let clause = place == 0 || any(|g| g.hard || g.block) || (newline && !wrapped) || begins[place];
            if clause {
                let (colon, block) = (any(|g| g.colon), any(|g| g.block));
                self.clauses.push(Clause { start: place, colon, block, ..Clause::default() });
            }
            let n = self.clauses.len() - 1;
            self.clause.push(n);
            self.clauses[n].end = place + 1;
            let segment = clause || any(|g| g.comma) || joins[place];
            let before = self.segment.last().copied().unwrap_or(0);
            self.segment.push(if segment { place } else { before });
        }
    }

    /// The first word of what begins at `place` that says something, at most `end`.
    fn opening(&self, place: usize, end: usize) -> usize {
        self.next[place].min(end)
    }

    fn describe(&mut self) {
        for n in 0..self.marks.len() {
            let mark = self.marks[n];
            let clause = self.clause[mark.start];
            let opens = self.opening(self.clauses[clause].start, self.clauses[clause].end);
            let leads =
                mark.start > 0 && self.clause[mark.start - 1] == clause && self.has(mark.start - 1, Class::Lead);
            let acts = leads || self.opening(self.segment[mark.start], self.clauses[clause].end) == mark.start;
            let here = &mut self.clauses[clause];
            if mark.is(Class::Meta) || (mark.is(Class::Guarded) && acts) {
                here.meta = Some(here.meta.map_or(mark.end, |m| m.min(mark.end)));
            }
            if mark.is(Class::MetaAny) {
                let (from, to) = here.any.unwrap_or((mark.start, mark.end));
                here.any = Some((from.min(mark.start), to.max(mark.end)));
            }
            here.question |= mark.is(Class::Question) && mark.start == opens;
            here.request |= mark.is(Class::Request);
            here.reporter |= mark.is(Class::Reporter);
            here.past |= mark.is(Class::Starter);
        }
        // After a colon that announces a text, it is that text up to the next blank line.
        let (mut reported, mut announced) = (false, false);
        for clause in &mut self.clauses {
            reported = !clause.block && (reported || (clause.colon && announced));
            (clause.reported, announced) = (reported, clause.reporter);
        }
    }

    fn negate(&mut self) {
        let mut steps = vec![0i32; self.said.len() + 1];
        let mut segment_end = vec![self.said.len(); self.said.len() + 1];
        for p in (0..self.said.len().saturating_sub(1)).rev() {
            segment_end[p] = if self.segment[p + 1] == self.segment[p] { segment_end[p + 1] } else { p + 1 };
        }
        let mut ends = vec![0u16; self.said.len() + 1];
        let (mut covered, mut leader) = (0, None);
        for mark in self.marks.iter().filter(|m| m.is(Class::Negator)) {
            let clause = self.clause[mark.start];
            if mark.start < covered || (mark.is(Class::Follower) && leader == Some(clause)) {
                continue;
            }
            covered = mark.end;
            ends[mark.end] = ends[mark.end].saturating_add(1);
            if !mark.is(Class::Follower) {
                leader = Some(clause);
            }
            let segment = self.segment[mark.start];
            let (from, to) = match mark.scope.unwrap_or(Scope::Around) {
                Scope::Forward => (mark.start, self.clauses[clause].end),
                Scope::Back => (segment, mark.end),
                Scope::Segment => (segment, segment_end[mark.start]),
                Scope::Around => (segment, self.clauses[clause].end),
                Scope::Clause => (self.clauses[clause].start, self.clauses[clause].end),
            };
            // A phrase may lie across a boundary that a shorter one set.
            let to = to.max(mark.end);
            steps[from] += 1;
            steps[to] -= 1;
        }
        for p in 0..self.said.len() {
            ends[p + 1] = ends[p + 1].saturating_add(ends[p]);
        }
        self.negators = ends;
        let mut depth = 0;
        self.negated = steps[..self.said.len()]
            .iter()
            .map(|step| {
                depth += step;
                u16::try_from(depth).unwrap_or(u16::MAX)
            })
            .collect();
    }

    /// How the words from `start` to before `end` stand.
    pub(super) fn stand(&self, start: usize, end: usize) -> Stand {
        // What negates inside the words themselves is part of what they say.
        let own = if end > start + 1 { self.negators[end] - self.negators[start + 1] } else { 0 };
        match self.negated[end - 1].saturating_sub(own) {
            0 => {}
            1 => return Stand::Negated,
            _ => return Stand::Ambiguous,
        }
        let clause = &self.clauses[self.clause[start]];
        let about = clause.meta.is_some_and(|m| m <= start)
            || clause.any.is_some_and(|(from, to)| from < start || to > end)
            || clause.question
            || clause.reported;
        if about { Stand::Descriptive } else { Stand::Positive }
    }

    /// True when words tell of something: they are the subject of a statement.
    pub(super) fn is_told(&self, start: usize) -> bool {
        let segment = self.segment[start];
        let clause = &self.clauses[self.clause[start]];
        // Where the verb comes last it says whether something is told.
        if self.language.is_some_and(Language::is_unspaced) {
            return clause.past && !clause.request;
        }
        let opens = self.opening(segment, clause.end);
        start == opens + 1 && self.has(opens, Class::Starter) && !clause.request
    }

    /// How an invocation mark at a place stands (engine.md §2.3, 4).
    pub(super) fn invocation(&self, place: usize) -> Stand {
        let stand = self.stand(place, place + 1);
        let clause = &self.clauses[self.clause[place]];
        // At the head of the objective no question went before; a phrase that speaks about its whole
        // clause still does. In Japanese a particle makes it the object of the sentence.
        let object = self.language == Some(Language::Japanese) && self.has(place + 1, Class::Function);
        let head = place <= self.greeting && clause.any.is_none() && !object;
        match stand {
            Stand::Negated | Stand::Ambiguous => stand,
            _ if head => Stand::Positive,
            Stand::Descriptive => Stand::Descriptive,
            Stand::Positive if self.is_begged(place) || self.is_asked_for(place) => Stand::Positive,
            Stand::Positive => Stand::Descriptive,
        }
    }

    /// True when nothing but a word of asking stands before the id in its clause.
    fn is_begged(&self, place: usize) -> bool {
        let polite = bit(Class::Filler) | bit(Class::Request);
        let clause = self.clause[place];
        let begins = |p: usize| p == 0 || self.clause[p - 1] != clause;
        let before = (place.saturating_sub(POLITE_MAX)..place)
            .rev()
            .take_while(|&p| self.clause[p] == clause && self.flags[p] & polite != 0)
            .last();
        before.is_some_and(|first| begins(first) && self.clauses[clause].request)
    }

    /// True when a bare id follows its verb closely.
    pub(super) fn follows_verb(&self, start: usize) -> bool {
        let reach = start.saturating_sub(2);
        (reach..start).rev().any(|p| {
            self.clause[p] == self.clause[start]
                && self.verb_ending[p]
                    .is_some_and(|n| self.marks[n].is(Class::Verb) && self.acts(&self.marks[n], start))
        })
    }

    fn is_asked_for(&self, place: usize) -> bool {
        let clause = self.clause[place];
        let unspaced = self.language.is_none_or(Language::is_unspaced);
        let reach = if unspaced { VERB_REACH_UNSPACED } else { VERB_REACH };
        let before = (place.saturating_sub(reach)..place)
            .rev()
            .take_while(|&p| self.clause[p] == clause)
            .find_map(|p| self.verb_ending[p]);
        if let Some(n) = before
            && self.acts(&self.marks[n], place)
        {
            return true;
        }
        let end = self.clauses[clause].end.min(place + 1 + VERB_REACH_UNSPACED);
        (place + 1..end).any(|p| {
            self.after_starting[p].is_some_and(|n| {
                let mark = &self.marks[n];
                let close = mark.is(Class::After) || (p == place + 1 && self.clauses[clause].request);
                close && self.acts(mark, place)
            })
        })
    }

    /// True when a verb asks for something rather than tells that somebody does it.
    fn acts(&self, verb: &Mark, place: usize) -> bool {
        let clause = &self.clauses[self.clause[place]];
        if self.language.is_none_or(Language::is_unspaced) {
            let from = self.segment[place];
            if self.subjects[place] > self.subjects[from] && !clause.request {
                return false;
            }
            if self.language.is_some() {
                return true;
            }
        }
        if verb.is(Class::Verb) && !self.is_free(verb) {
            return false;
        }
        let opens = self.opening(self.segment[verb.start], clause.end);
        clause.request || !self.has(opens, Class::Starter)
    }

    /// True unless somebody stands right before the verb who does it.
    fn is_free(&self, verb: &Mark) -> bool {
        let clause = self.clause[verb.start];
        let (mut p, limit) = (verb.start, verb.start.saturating_sub(ADVERBS_MAX));
        while p > limit
            && self.clause[p - 1] == clause
            && self.has(p - 1, Class::Adverb)
            && !self.has(p - 1, Class::Subject)
        {
            p -= 1;
        }
        if p == 0 || self.clause[p - 1] != clause || !self.has(p - 1, Class::Subject) {
            return true;
        }
        let asked = p > 1 && self.clause[p - 2] == clause && self.has(p - 2, Class::Asking);
        self.has(p - 1, Class::Addressee) && (asked || self.clauses[clause].request)
    }

    /// The clauses as bytes of the objective.
    pub(super) fn clause_spans(&self, text: &Tokens) -> Vec<Span> {
        let mut spans = Vec::with_capacity(self.clauses.len());
        let mut start = 0;
        for clause in &self.clauses {
            let (first, last) = (&text.list[self.said[start]], &text.list[self.said[clause.end - 1]]);
            spans.push(Span { start: first.span.start, end: last.span.end });
            start = clause.end;
        }
        spans
    }

    /// True when nothing at a place counts as evidence of a description: paths, ids, what is
    /// negated or spoken about.
    pub(super) fn is_mute(&self, text: &Tokens, place: usize) -> bool {
        let token = &text.list[self.said[place]];
        token.path || token.kind == Kind::Id || self.stand(place, place + 1) != Stand::Positive
    }
}
