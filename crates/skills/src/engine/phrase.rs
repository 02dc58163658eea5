//! Phrases of tokens as one Aho-Corasick automaton: a text is read once, whatever the number of
//! phrases (I-121). Symbols are words, so a phrase matches whole tokens only.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

use super::text::{Kind, Tokens};

/// Most tokens of a phrase; what is longer is not taken. It bounds the matches that end at one
/// token.
pub(super) const PHRASE_TOKENS_MAX: usize = 32;
const NONE: u32 = u32::MAX;

/// Edges are keyed by two small numbers that we count up ourselves, so nobody can choose them to
/// collide and one multiplication spreads them.
#[derive(Clone, Copy, Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.write_u64(u64::from(b));
        }
    }
    fn write_u64(&mut self, n: u64) {
        self.0 = (self.0 ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}

/// A node and a word as one key.
fn edge(node: u32, word: u32) -> u64 {
    (u64::from(node) << 32) | u64::from(word)
}

#[derive(Clone, Debug)]
struct Node {
    /// The longest proper suffix that is a node.
    fail: u32,
    /// The nearest node along `fail` that ends a phrase.
    shorter: u32,
    /// The phrase that ends here.
    phrase: u32,
    depth: u32,
}

impl Node {
    fn at(depth: u32) -> Self {
        Self { fail: 0, shorter: NONE, phrase: NONE, depth }
    }
}

/// The automaton. Add all phrases, then finish, then run.
#[derive(Clone, Debug)]
pub(super) struct Phrases {
    words: HashMap<Box<str>, u32>,
    edges: HashMap<u64, u32, BuildHasherDefault<Spread>>,
    nodes: Vec<Node>,
    count: u32,
}

impl Default for Phrases {
    fn default() -> Self {
        Self { words: HashMap::new(), edges: HashMap::default(), nodes: vec![Node::at(0)], count: 0 }
    }
}

impl Phrases {
    /// Adds a phrase and returns its number; the same phrase has the same number. Only its first
    /// [`PHRASE_TOKENS_MAX`] tokens count, and an empty one is never found.
    pub(super) fn add(&mut self, phrase: &Tokens) -> u32 {
        let mut node = 0;
        for token in phrase.list.iter().take(PHRASE_TOKENS_MAX) {
            let next_word = self.words.len() as u32;
            let word = *self.words.entry(phrase.text(token).into()).or_insert(next_word);
            let fresh = self.nodes.len() as u32;
            let depth = self.nodes[node as usize].depth + 1;
            node = *self.edges.entry(edge(node, word)).or_insert(fresh);
            if node == fresh {
                self.nodes.push(Node::at(depth));
            }
        }
        let at = &mut self.nodes[node as usize];
        if at.phrase == NONE {
            at.phrase = self.count;
            self.count += 1;
        }
        at.phrase
    }

    /// Links the nodes, in order of depth.
    pub(super) fn finish(&mut self) {
        let mut children: Vec<Vec<(u32, u32)>> = vec![Vec::new(); self.nodes.len()];
        for (&key, &to) in &self.edges {
            // The upper half is the node, the lower one the word.
            children[(key >> 32) as usize].push((key as u32, to));
        }
        let mut queue: VecDeque<u32> = VecDeque::from([0]);
        while let Some(from) = queue.pop_front() {
            for &(word, to) in &children[from as usize] {
                let fail = if from == 0 { 0 } else { self.step(self.nodes[from as usize].fail, word) };
                let shorter = match &self.nodes[fail as usize] {
                    node if fail != 0 && node.phrase != NONE => fail,
                    node => node.shorter,
                };
                let node = &mut self.nodes[to as usize];
                (node.fail, node.shorter) = (fail, shorter);
                queue.push_back(to);
            }
        }
    }

    fn step(&self, mut node: u32, word: u32) -> u32 {
        loop {
            if let Some(&next) = self.edges.get(&edge(node, word)) {
                return next;
            }
            if node == 0 {
                return 0;
            }
            node = self.nodes[node as usize].fail;
        }
    }

    /// The phrase that is this one word.
    pub(super) fn single(&self, word: &str) -> Option<u32> {
        let node = self.edges.get(&edge(0, *self.words.get(word)?))?;
        Some(self.nodes[*node as usize].phrase).filter(|&p| p != NONE)
    }

    /// Reads the tokens named by `read`; for each phrase found calls `found(phrase, position in
    /// read of its last token, its length)`. Nothing is found across what separates, nor in paths.
    pub(super) fn run(
        &self,
        text: &Tokens,
        read: impl Iterator<Item = usize>,
        mut found: impl FnMut(u32, usize, usize),
    ) {
        let mut node = 0;
        let mut last = None;
        for (at, n) in read.enumerate() {
            let token = &text.list[n];
            if !token.gap.joined || last.is_some_and(|last: usize| last + 1 != n) {
                node = 0;
            }
            last = Some(n);
            node = match self.words.get(text.text(token)) {
                Some(&word) if token.kind != Kind::Id && !token.path => self.step(node, word),
                _ => 0,
            };
            let mut end = node;
            while end != NONE && end != 0 {
                let here = &self.nodes[end as usize];
                if here.phrase != NONE {
                    found(here.phrase, at, here.depth as usize);
                }
                end = here.shorter;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::tokens;
    use super::*;

    #[test]
    fn all_phrases_are_found_and_only_whole_ones() {
        let mut phrases = Phrases::default();
        let ids: Vec<u32> =
            ["a b c", "b c", "c", "b d", "会议纪要"].iter().map(|p| phrases.add(&tokens(p, &[]))).collect();
        assert_eq!(phrases.add(&tokens("B  c", &[])), ids[1]);
        phrases.finish();
        let find = |text: &str| {
            let words = tokens(text, &[]);
            let mut found = Vec::new();
            phrases.run(&words, 0..words.list.len(), |p, at, len| found.push((p, at, len)));
            found
        };
        assert_eq!(find("x a b c"), [(ids[0], 3, 3), (ids[1], 3, 2), (ids[2], 3, 1)]);
        assert_eq!(find("a b d"), [(ids[3], 2, 2)]);
        assert_eq!(find("a b, c"), [(ids[2], 2, 1)], "nothing is found across a comma");
        assert_eq!(find("ab cd bc"), []);
        assert_eq!(find("写会议纪要吧"), [(ids[4], 4, 4)]);
    }
}
