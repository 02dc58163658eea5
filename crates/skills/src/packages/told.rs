//! Telling each fault once: what was told of some bytes is not told again until the bytes change
//! (`field_1h3`). Ten turns over one broken package give one line, not ten.

use super::bounds::TOLD_MAX;
use super::resolve::{Packages, Told};
use kernel::Digest;
use std::collections::{BTreeSet, VecDeque};

/// What was told already.
#[derive(Clone, Debug, Default)]
pub struct ToldBook {
    seen: BTreeSet<Digest>,
    order: VecDeque<Digest>,
}

impl ToldBook {
    /// The diagnostics of this look that were not told before. The oldest are forgotten beyond
    /// [`TOLD_MAX`], and would be told again.
    pub fn news(&mut self, packages: &Packages) -> Vec<Told> {
        let digests: std::collections::BTreeMap<String, Digest> =
            packages.found().iter().filter_map(|f| Some((f.place(), f.inspection.as_ref()?.digest))).collect();
        let mut out = packages.diagnostics();
        out.retain(|t| {
            let bytes = digests.get(&t.place).map_or([0; 32], |d| d.0);
            let key = Digest::of_parts(&[&bytes, t.place.as_bytes(), t.diagnostic.to_string().as_bytes()]);
            let new = self.seen.insert(key);
            if new {
                self.order.push_back(key);
            }
            new
        });
        while self.order.len() > TOLD_MAX {
            if let Some(old) = self.order.pop_front() {
                self.seen.remove(&old);
            }
        }
        out
    }
}
