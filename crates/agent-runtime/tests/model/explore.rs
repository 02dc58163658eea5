//! Breadth first over every state there is. A state is remembered by 128 bits of its hash, with
//! the step that first led there, so a violation prints the shortest way to it.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What an exploration saw.
#[derive(Debug)]
pub struct Report {
    /// Different states.
    pub states: usize,
    /// Steps between them.
    pub steps: usize,
    /// Length of the longest shortest way.
    pub depth: usize,
    /// Whether nothing was left to explore.
    pub fixpoint: bool,
    /// What was reached at least once.
    pub reached: BTreeSet<&'static str>,
    /// What did not hold, and the shortest way to it.
    pub violation: Option<(String, Vec<String>)>,
}

fn mark<S: Hash>(state: &S) -> u128 {
    [0u8, 1].into_iter().fold(0, |all, seed| {
        let mut hasher = DefaultHasher::new();
        (seed, state).hash(&mut hasher);
        all << 64 | u128::from(hasher.finish())
    })
}

/// Explores from `init`, until nothing is new or `limit` states are known. `next` gives all steps
/// of a state; `check` looks at each step and tells what it reached.
pub fn explore<S: Hash, A: Debug>(
    init: S,
    limit: usize,
    next: impl Fn(&S) -> Vec<(A, S)>,
    check: impl Fn(&S, &A, &S, &mut BTreeSet<&'static str>) -> Result<(), String>,
) -> Report {
    let root = mark(&init);
    let mut known: HashMap<u128, (u128, String)> = [(root, (root, String::new()))].into();
    let mut queue = VecDeque::from([(init, root, 0)]);
    let mut report =
        Report { states: 1, steps: 0, depth: 0, fixpoint: true, reached: BTreeSet::new(), violation: None };
    while let Some((state, from, depth)) = queue.pop_front() {
        report.depth = depth;
        for (action, after) in next(&state) {
            report.steps += 1;
            let to = mark(&after);
            let verdict = check(&state, &action, &after, &mut report.reached);
            if let Err(why) = verdict {
                let mut way = vec![format!("{action:?}")];
                let mut at = from;
                while at != root {
                    let (before, step) = &known[&at];
                    way.push(step.clone());
                    at = *before;
                }
                way.reverse();
                report.violation = Some((why, way));
                return report;
            }
            if let Entry::Vacant(place) = known.entry(to) {
                if report.states >= limit {
                    report.fixpoint = false;
                    return report;
                }
                place.insert((from, format!("{action:?}")));
                report.states += 1;
                queue.push_back((after, to, depth + 1));
            }
        }
    }
    report
}
