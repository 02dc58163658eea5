//! Rules, their scopes and their globs are read from any bytes without a panic, and what is not
//! understood never applies to everything (engine.md I-105). The first byte picks the family.
#![no_main]

use instructions::scope::{self, AlwaysBy, Scope};
use instructions::{Family, Limits, Targets, load};
use kernel::mount::{MemMount, MountPath};
use kernel::MountId;
use libfuzzer_sys::fuzz_target;

const PLACES: [(Family, &str); 5] = [
    (Family::AiEchoRule, ".ai-echo/rules/a.md"),
    (Family::FolderRule, "rules/a.md"),
    (Family::ClaudeRule, ".claude/rules/a.md"),
    (Family::CopilotRule, ".github/instructions/a.instructions.md"),
    (Family::CursorRule, ".cursor/rules/a.mdc"),
];

fuzz_target!(|bytes: &[u8]| {
    let Some((first, text)) = bytes.split_first() else { return };
    let (family, place) = PLACES[usize::from(*first) % PLACES.len()];
    let lossy = String::from_utf8_lossy(text);
    let rule = scope::read(family, family.dialect().unwrap(), &lossy);
    match rule.scope {
        Scope::Always(AlwaysBy::NoScope) => assert!(family.unscoped_applies()),
        Scope::Paths(patterns) => {
            for path in ["a", "src/é/b.rs", "x/y/z"] {
                let path = MountPath::parse(path).unwrap();
                let _ = patterns.iter().filter(|p| p.matches(&path)).count();
            }
        }
        _ => {}
    }
    let mut mount = MemMount::default();
    mount.files.insert(MountPath::parse(place).unwrap(), text.to_vec());
    let work = MountId::new("work").unwrap();
    let targets = Targets::resolve(Some(&work), &MountPath::root(), &["src/a.rs"]).unwrap();
    let set = load(targets, Limits::within(2000), |need| mount.perform(need)).unwrap();
    assert!(set.evidence().len() <= 2000);
});
