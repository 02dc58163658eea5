//! The budget: spent on what is nearest to the work first, shown broad to specific (I-108).
//!
//! Spending root first is what starves the nested file that matters (`field_2h1`). So the deepest
//! `AGENTS` file is served first, then its parents, then rules whose patterns match a target,
//! then what holds for the whole workspace. What is counted is what enters the context: frames
//! and markers too.

use crate::bounds::MARKER_BYTES;
use crate::evidence;
use crate::set::{Because, Block, Omission, Reason};
use crate::text;
use kernel::Digest;

/// A shorter remainder of a block than this says nothing; it is left out whole.
const LEAST: usize = 16;

/// Where a block stands in the queue for bytes: smaller is served first.
fn turn(block: &Block) -> (std::cmp::Reverse<usize>, bool) {
    let scoped = block.because == Because::Matched;
    (std::cmp::Reverse(block.order.depth), !scoped)
}

/// Fits blocks that hold their whole text into `budget` bytes. Returns those that are shown,
/// sorted as decision 25 says, what was left out, and the bytes they take.
pub(crate) fn fit(mut blocks: Vec<Block>, budget: usize) -> (Vec<Block>, Vec<Omission>, usize) {
    blocks.sort_by(|a, b| a.order.cmp(&b.order));
    let mut omissions = Vec::new();
    // In the order of spending; the sort is stable, so equal turns keep the order of showing.
    let mut queue: Vec<usize> = (0..blocks.len()).collect();
    queue.sort_by_key(|i| turn(&blocks[*i]));

    let mut keep = vec![true; blocks.len()];
    // Of two files with the same bytes the one that is served first is enough.
    let mut seen: Vec<(Digest, u64, usize)> = Vec::new();
    let mut left = budget.saturating_sub(evidence::HEAD_BYTES);
    let mut spent = false;
    for i in queue {
        let block = &blocks[i];
        let size = block.provenance.size;
        if let Some((.., first)) = seen.iter().find(|(digest, bytes, _)| (*digest, *bytes) == (block.digest, size)) {
            omissions.push(Omission {
                path: block.source.clone(),
                reason: Reason::Duplicate(blocks[*first].source.clone()),
            });
            keep[i] = false;
            continue;
        }
        seen.push((block.digest, size, i));
        let whole = block.text.len() == block.total;
        let need = evidence::cost(&block.source, &block.text) + if whole { 0 } else { MARKER_BYTES };
        if need > left {
            let room = left.saturating_sub(evidence::cost(&block.source, "") + MARKER_BYTES);
            let kept = if room < LEAST { 0 } else { text::cut(&block.text, room).len() };
            let reason = Reason::CombinedCap { kept, total: block.total };
            omissions.push(Omission { path: block.source.clone(), reason });
            if kept == 0 {
                keep[i] = false;
                continue;
            }
            blocks[i].text.truncate(kept);
        }
        let block = &mut blocks[i];
        block.kept = block.text.len();
        if block.kept < block.total {
            block.text.push_str(&text::marker(block.kept, block.total));
        }
        left = left.saturating_sub(evidence::cost(&block.source, &block.text));
        spent = true;
    }
    let mut keep = keep.into_iter();
    blocks.retain(|_| keep.next().unwrap_or(false));
    let used = if spent { budget - left } else { 0 };
    (blocks, omissions, used)
}
