//! What holds for every workspace: the budget, the order, and no panic on any bytes.

use instructions::{Because, ConventionSet, Limits, Loader, Reason, Targets, load};
use kernel::MountId;
use kernel::mount::{Entry, EntryKind, MemMount, MountError, MountPath, Reply, Step};
use proptest::prelude::*;

const PLACES: [&str; 12] = [
    "AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    ".ai-echo/rules/a.md",
    "rules/b.md",
    ".claude/rules/c.md",
    ".github/instructions/d.instructions.md",
    ".cursor/rules/e.mdc",
    "src/AGENTS.md",
    "src/ui/AGENTS.md",
    "src/ui/AGENTS.override.md",
];
const TARGETS: [&str; 4] = ["src/ui/a.rs", "src/b.rs", "c.md", "new/d/e.ts"];

fn targets(given: &[&str]) -> Targets {
    Targets::resolve(Some(&MountId::new("work").expect("id")), &MountPath::root(), given).expect("targets")
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let plain = "(\\PC|\\n){0,200}".prop_map(String::into_bytes);
    let scoped = ("(paths|globs|applyTo|alwaysApply|Paths)", "(\\PC|[*/{},\\[\\]\"'!.]){0,30}", "(\\PC|\\n){1,80}")
        .prop_map(|(key, value, body)| format!("---\n{key}: {value}\n---\n{body}").into_bytes());
    let large = (1..60_000_usize).prop_map(|n| "é line\n".repeat(n / 8 + 1).into_bytes());
    prop_oneof![3 => plain, 3 => scoped, 1 => large, 1 => proptest::collection::vec(any::<u8>(), 0..100)]
}

fn workspace() -> impl Strategy<Value = MemMount> {
    proptest::collection::vec((0..PLACES.len(), text()), 0..10).prop_map(|files| {
        let mut mount = MemMount::default();
        for (place, bytes) in files {
            mount.files.insert(MountPath::parse(PLACES[place]).expect("path"), bytes);
        }
        mount
    })
}

fn run(mount: &MemMount, given: &[&str], budget: usize) -> ConventionSet {
    let mut mount = mount.clone();
    load(targets(given), Limits::within(budget), |need| mount.perform(need)).expect("loaded")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn i107_the_budget_is_never_exceeded(mount in workspace(), budget in 0..80_000_usize) {
        let set = run(&mount, &TARGETS, budget);
        prop_assert!(set.evidence().len() <= set.used);
        prop_assert!(set.used <= budget.min(64 * 1024));
        for block in &set.blocks {
            prop_assert!(block.kept <= block.total && block.text.len() <= 32 * 1024);
            // Whatever is cut says so twice: in the text and among the omissions.
            if block.kept < block.total {
                prop_assert!(block.text.contains("cut here"));
                prop_assert!(set.omissions.iter().any(|o| o.path == block.source && o.reason.is_cap()));
            }
        }
    }

    #[test]
    fn i104_the_order_is_stable_and_two_runs_are_equal(mount in workspace(), budget in 0..9000_usize) {
        let set = run(&mount, &TARGETS, budget);
        prop_assert_eq!(&set, &run(&mount, &TARGETS, budget));
        prop_assert!(set.blocks.is_sorted_by(|a, b| a.order < b.order));
        let mut turned = TARGETS;
        turned.reverse();
        let other = run(&mount, &turned, budget);
        prop_assert_eq!(set.evidence(), other.evidence());
        prop_assert_eq!(set.combined_digest, other.combined_digest);
    }

    /// Every file of the workspace that could be an instruction is answered for.
    #[test]
    fn every_file_is_here_or_left_out_with_a_reason(mount in workspace(), budget in 0..9000_usize) {
        let set = run(&mount, &TARGETS, budget);
        for path in mount.files.keys() {
            prop_assert!(set.why(path) != instructions::Answer::Unknown, "{path}");
        }
    }

    /// A smaller budget shows no file more, and never gives up the nearest file for another one.
    #[test]
    fn i108_less_budget_never_shows_more(mount in workspace(), budget in 0..9000_usize, less in 0..2000_usize) {
        let (more, fewer) = (run(&mount, &TARGETS, budget), run(&mount, &TARGETS, budget.saturating_sub(less)));
        let kept = |set: &ConventionSet| set.blocks.iter().map(|b| b.kept).sum::<usize>();
        prop_assert!(kept(&fewer) <= kept(&more) + 96 * PLACES.len());
        let near = |set: &ConventionSet| set.blocks.iter().filter(|b| b.order.depth == 2).map(|b| b.kept).sum::<usize>();
        prop_assert!(near(&fewer) <= near(&more));
    }

    /// Without a target no rule with a scope applies.
    #[test]
    fn i105_no_target_no_scoped_rule(mount in workspace()) {
        let set = run(&mount, &[], 64 * 1024);
        prop_assert!(set.blocks.iter().all(|b| b.because != Because::Matched));
    }

    /// Drivers that answer nonsense, too little or too much get an answer all the same.
    #[test]
    fn no_reply_makes_the_loader_panic_or_run_on(replies in proptest::collection::vec(reply(), 0..40)) {
        let mut loader = Loader::new(targets(&TARGETS), Limits::default());
        let mut replies = replies.into_iter();
        let mut given = Vec::new();
        let mut rounds = 0;
        while let Step::Need(needs) = loader.step(given) {
            rounds += 1;
            prop_assert!(rounds < 64 && !needs.is_empty());
            given = needs.iter().filter_map(|_| replies.next()).collect();
        }
    }
}

fn reply() -> impl Strategy<Value = Reply> {
    let name = prop_oneof![
        Just("AGENTS.md".to_owned()),
        Just("src".to_owned()),
        Just("ui".to_owned()),
        Just("rules".to_owned()),
        Just(".cursor".to_owned()),
        Just("x.mdc".to_owned()),
        "\\PC{0,8}",
    ];
    let kind = prop_oneof![Just(EntryKind::File), Just(EntryKind::Folder), Just(EntryKind::Link)];
    let entry = (name, kind).prop_map(|(name, kind)| Entry { name, kind, size: None });
    prop_oneof![
        4 => (proptest::collection::vec(entry, 0..12), any::<bool>())
            .prop_map(|(entries, truncated)| Reply::Listed { entries, truncated }),
        2 => (text(), any::<u64>()).prop_map(|(bytes, total)| Reply::Bytes { bytes, total }),
        1 => Just(Reply::Done),
        1 => Just(Reply::Failed(MountError::NotFound)),
        1 => Just(Reply::Failed(MountError::NeedsReconnect)),
    ]
}

#[test]
fn more_omissions_than_are_listed_are_counted() {
    let mut mount = MemMount::default();
    for place in ["rules", ".claude/rules"] {
        for i in 0..500 {
            mount.files.insert(MountPath::parse(&format!("{place}/{i}.txt")).expect("path"), vec![]);
        }
    }
    let set = run(&mount, &[], 1000);
    assert_eq!(set.omissions.len(), instructions::bounds::OMISSIONS_MAX);
    assert_eq!(set.omissions.last().map(|o| &o.reason), Some(&Reason::More(1000 - 511)));
}
