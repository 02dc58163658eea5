//! A history of which only the end is kept, and a digest of all of it.

use std::collections::VecDeque;

use kernel::Digest;
use serde::{Deserialize, Serialize};

use super::digest_of;

/// The last `N` items of a history, how many there were, and one digest over every one of them in
/// their order. What leaves is folded into the digest, so no two histories share one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chain<T, const N: usize> {
    kept: VecDeque<T>,
    total: u64,
    digest: Digest,
}

impl<T, const N: usize> Default for Chain<T, N> {
    fn default() -> Self {
        Self { kept: VecDeque::new(), total: 0, digest: Digest::of(b"") }
    }
}

impl<T: Serialize, const N: usize> Chain<T, N> {
    /// Adds to the end.
    pub fn push(&mut self, item: T) {
        self.digest = digest_of("chain", &(self.digest, self.total, &item));
        self.total = self.total.saturating_add(1);
        self.kept.push_back(item);
        if self.kept.len() > N {
            self.kept.pop_front();
        }
    }
    /// The items that are kept, oldest first.
    pub fn kept(&self) -> impl DoubleEndedIterator<Item = &T> + ExactSizeIterator {
        self.kept.iter()
    }
    /// Whether every item is still kept.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.total == self.kept.len() as u64
    }
    /// How many there were.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.total
    }
    /// The digest of all.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.digest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_stays_in_the_digest() {
        let of = |items: &[u8]| {
            let mut chain = Chain::<u8, 2>::default();
            items.iter().for_each(|i| chain.push(*i));
            chain
        };
        let chain = of(&[1, 2, 3]);
        assert_eq!(
            (chain.kept().copied().collect::<Vec<_>>(), chain.total(), chain.is_whole()),
            (vec![2, 3], 3, false)
        );
        assert_ne!(chain.digest(), of(&[9, 2, 3]).digest());
        assert_ne!(of(&[]).digest(), of(&[0]).digest());
        assert!(of(&[1, 2]).is_whole());
    }
}
