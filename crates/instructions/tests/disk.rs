//! Real folders with real links (T-134; decision 28 keeps these tests native).
#![cfg(unix)]

use instructions::{ConventionSet, Limits, Targets, load};
use kernel::MountId;
use kernel::mount::{Entry, EntryKind, MountError, MountPath, Need, Reply};
use std::fs;
use std::path::{Path, PathBuf};

/// A folder of this test that goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("instructions-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).expect("folder");
        Self(dir)
    }
    fn put(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("parent")).expect("folder");
        fs::write(path, text).expect("written");
    }
    fn link(&self, to: &str, at: &str) {
        std::os::unix::fs::symlink(to, self.0.join(at)).expect("link");
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn io(e: &std::io::Error) -> Reply {
    Reply::Failed(match e.kind() {
        std::io::ErrorKind::NotFound => MountError::NotFound,
        std::io::ErrorKind::PermissionDenied => MountError::Denied,
        _ => MountError::Io(e.to_string()),
    })
}

fn perform(root: &Path, need: &Need) -> Reply {
    match need {
        Need::List { path, max } => {
            let read = match fs::read_dir(root.join(path.as_str())) {
                Ok(read) => read,
                Err(e) => return io(&e),
            };
            let mut entries: Vec<Entry> = read
                .map(|e| {
                    let e = e.expect("entry");
                    let kind = e.file_type().expect("kind");
                    let kind = match (kind.is_symlink(), kind.is_dir()) {
                        (true, _) => EntryKind::Link,
                        (_, true) => EntryKind::Folder,
                        _ => EntryKind::File,
                    };
                    Entry { name: e.file_name().to_string_lossy().into_owned(), kind, size: None }
                })
                .collect();
            entries.sort_by(|a, b| a.name.cmp(&b.name));
            let truncated = entries.len() > *max;
            entries.truncate(*max);
            Reply::Listed { entries, truncated }
        }
        Need::Read { path, max } => match fs::read(root.join(path.as_str())) {
            Ok(mut bytes) => {
                let total = bytes.len() as u64;
                bytes.truncate(*max);
                Reply::Bytes { bytes, total }
            }
            Err(e) => io(&e),
        },
        other => panic!("a loader only lists and reads: {other:?}"),
    }
}

fn run(dir: &Scratch, given: &[&str]) -> (ConventionSet, Vec<String>) {
    let targets =
        Targets::resolve(Some(&MountId::new("work").expect("id")), &MountPath::root(), given).expect("targets");
    let mut touched = Vec::new();
    let set = load(targets, Limits::default(), |need| {
        let (Need::List { path, .. } | Need::Read { path, .. }) = need else { panic!("{need:?}") };
        touched.push(path.to_string());
        perform(&dir.0, need)
    });
    (set.expect("loaded"), touched)
}

#[test]
fn t134_links_loops_and_ways_out_are_refused_on_a_real_disk() {
    let outside = Scratch::new("outside");
    outside.put("AGENTS.md", "SECRET");
    outside.put("rules/x.md", "SECRET");
    let dir = Scratch::new("inside");
    dir.put("AGENTS.md", "root");
    dir.put("real/AGENTS.md", "real");
    dir.put("rules/a.md", "a");
    dir.link("AGENTS.md", "CLAUDE.md");
    dir.link(".", "loop");
    dir.link(&outside.0.to_string_lossy(), "out");
    dir.link(&outside.0.join("rules").to_string_lossy(), ".cursor");
    dir.link(&outside.0.join("rules/x.md").to_string_lossy(), "rules/x.md");
    dir.link("nowhere", "GEMINI.md");

    let (set, touched) = run(&dir, &["loop/loop/a", "out/a", "real/a"]);
    assert_eq!(set.blocks.iter().map(|b| b.text.as_str()).collect::<Vec<_>>(), ["root", "a", "real"]);
    let refused: Vec<&str> =
        set.omissions.iter().filter(|o| o.reason.code() == "SymlinkRefused").map(|o| o.path.as_str()).collect();
    assert_eq!(refused, [".cursor", "CLAUDE.md", "GEMINI.md", "loop", "out", "rules/x.md"]);
    for link in refused {
        assert!(!touched.iter().any(|t| t == link || t.starts_with(&format!("{link}/"))), "{link}");
    }
}

#[test]
fn names_that_are_no_paths_are_said_and_not_opened() {
    let dir = Scratch::new("names");
    for name in ["a\u{202e}dm.md", "b\n.md", "c\\d.md", "e .md"] {
        dir.put(&format!("rules/{name}"), "x");
    }
    let (set, touched) = run(&dir, &[]);
    assert_eq!(set.blocks.iter().map(|b| b.source.as_str()).collect::<Vec<_>>(), ["rules/e .md"]);
    let unsafe_names: Vec<String> =
        set.omissions.iter().filter(|o| o.reason.code() == "NameUnsafe").map(|o| o.reason.to_string()).collect();
    assert_eq!(unsafe_names.len(), 3);
    assert!(unsafe_names.iter().any(|n| n.contains("U+202E")), "what hides is shown: {unsafe_names:?}");
    assert_eq!(touched.len(), 3, "two folders and one file");
}
