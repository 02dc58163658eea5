//! The corpus of the fuzz target `rules`, replayed on the stable toolchain.

use instructions::scope::{self, AlwaysBy, Scope};
use instructions::{Family, Limits, Reason, Targets, load};
use kernel::MountId;
use kernel::mount::{MemMount, MountPath};

const PLACES: [(Family, &str); 5] = [
    (Family::AiEchoRule, ".ai-echo/rules/a.md"),
    (Family::FolderRule, "rules/a.md"),
    (Family::ClaudeRule, ".claude/rules/a.md"),
    (Family::CopilotRule, ".github/instructions/a.instructions.md"),
    (Family::CursorRule, ".cursor/rules/a.mdc"),
];

#[test]
fn i105_the_fuzz_corpus_is_read_without_a_panic_and_never_widens() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/rules");
    let work = MountId::new("work").expect("id");
    let mut seen = 0;
    for file in std::fs::read_dir(dir).expect("the corpus is there") {
        let file = file.expect("entry").path();
        let bytes = std::fs::read(&file).expect("bytes");
        let Some((first, text)) = bytes.split_first() else { continue };
        let own = usize::from(*first) % PLACES.len();
        // Every input is read as every family: a shape that one of them writes must harm none.
        for (family, place) in PLACES.iter().cycle().skip(own).take(PLACES.len()) {
            let lossy = String::from_utf8_lossy(text);
            let rule = scope::read(*family, family.dialect().expect("a rule"), &lossy);
            if let Scope::Always(AlwaysBy::NoScope) = rule.scope {
                assert!(family.unscoped_applies() && !lossy.contains("---\n"), "{}", file.display());
            }
            let mut mount = MemMount::default();
            mount.files.insert(MountPath::parse(place).expect("path"), text.to_vec());
            let targets = Targets::resolve(Some(&work), &MountPath::root(), &["src/a.rs"]).expect("targets");
            let set = load(targets, Limits::within(2000), |need| mount.perform(need)).expect("loaded");
            assert!(set.evidence().len() <= 2000);
            // What is not shown whole is answered for.
            let whole = set.blocks.iter().any(|b| b.kept == b.total);
            assert!(
                whole || set.omissions.iter().any(|o| !matches!(o.reason, Reason::Import(_))),
                "{}",
                file.display()
            );
        }
        seen += 1;
    }
    assert!(seen >= 40, "{seen} inputs");
}
