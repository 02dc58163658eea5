//! Symbolic links on a real disk (decision 28: browsers show none, so this is where they are met).
#![cfg(unix)]

use kernel::mount::{Entry, EntryKind, MountError, MountPath, Need, Reply, drive};
use skills::packages::{Discovery, Packages, RootScan, Standing};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

/// A folder that goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("skills-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder for the test");
        Self(path)
    }
    fn skill(&self, at: &str) {
        let folder = self.0.join(at);
        fs::create_dir_all(&folder).expect("folder");
        let name = folder.file_name().and_then(|n| n.to_str()).expect("name");
        let text = format!("---\nname: {name}\ndescription: Says in one sentence when to use it.\n---\nSteps.\n");
        fs::write(folder.join("SKILL.md"), text).expect("file");
    }
    fn link(&self, to: &str, at: &str) {
        let at = self.0.join(at);
        fs::create_dir_all(at.parent().expect("parent")).expect("folder");
        symlink(to, at).expect("link");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn kind(path: &Path) -> Result<(EntryKind, u64), MountError> {
    let meta = fs::symlink_metadata(path).map_err(error)?;
    let kind = match meta.file_type() {
        t if t.is_symlink() => EntryKind::Link,
        t if t.is_dir() => EntryKind::Folder,
        _ => EntryKind::File,
    };
    Ok((kind, meta.len()))
}

fn error(e: std::io::Error) -> MountError {
    match e.kind() {
        std::io::ErrorKind::NotFound => MountError::NotFound,
        std::io::ErrorKind::NotADirectory | std::io::ErrorKind::IsADirectory => MountError::WrongKind,
        _ => MountError::Io(e.to_string()),
    }
}

/// A driver that follows no link in the last place, and says what each entry is.
fn perform(root: &Path, need: &Need) -> Reply {
    let answer = || -> Result<Reply, MountError> {
        Ok(match need {
            Need::Stat { path } => {
                let (kind, size) = kind(&root.join(path.as_str()))?;
                Reply::Found { kind, size }
            }
            Need::List { path, max } => {
                let mut entries = vec![];
                for entry in fs::read_dir(root.join(path.as_str())).map_err(error)? {
                    let entry = entry.map_err(error)?;
                    let name = entry.file_name().to_string_lossy().into_owned();
                    entries.push(Entry { name, kind: kind(&entry.path())?.0, size: None });
                }
                entries.sort_by(|a, b| a.name.cmp(&b.name));
                let truncated = entries.len() > *max;
                entries.truncate(*max);
                Reply::Listed { entries, truncated }
            }
            Need::Read { path, max } => {
                let path = root.join(path.as_str());
                if kind(&path)?.0 != EntryKind::File {
                    return Err(MountError::WrongKind);
                }
                let mut bytes = fs::read(path).map_err(error)?;
                let total = bytes.len() as u64;
                bytes.truncate(*max);
                Reply::Bytes { bytes, total }
            }
            other => panic!("{other:?} changes something"),
        })
    };
    answer().unwrap_or_else(Reply::Failed)
}

fn look(root: &Path) -> Packages {
    let mut d = Discovery::new(&MountPath::root());
    drive(|r| d.step(r), |n| perform(root, n))
}

#[test]
fn i133_links_to_packages_files_and_loops_are_listed_and_not_followed() {
    let f = Folder::new("links");
    f.skill(".agents/skills/tide-table");
    f.skill("elsewhere/hidden-away");
    f.link("../../elsewhere/hidden-away", ".agents/skills/hidden-away");
    f.link("..", ".agents/skills/loop");
    f.link("/nowhere", ".agents/skills/dangling");
    f.link("../tide-table/SKILL.md", ".agents/skills/borrowed/SKILL.md");
    f.skill(".claude/skills/hidden-away");
    let p = look(&f.0);
    assert_eq!(p.names().collect::<Vec<_>>(), ["tide-table"]);
    for name in ["hidden-away", "loop", "dangling", "borrowed"] {
        let found = p.found().iter().find(|e| e.folder == name).unwrap_or_else(|| panic!("{name} is listed"));
        assert!(found.diagnostics[0].to_string().contains("symbolic link"), "{:?}", found.diagnostics);
        assert!(matches!(found.standing, Standing::Refused(_)));
    }
}

#[test]
fn i127_a_root_behind_a_link_counts_as_unseen() {
    for at in [".agents", ".agents/skills"] {
        let f = Folder::new(&at.replace('/', "-"));
        f.skill("elsewhere/skills/tide-table");
        f.skill(".claude/skills/quay");
        let to = if at == ".agents" { "elsewhere" } else { "../elsewhere/skills" };
        f.link(to, at);
        let p = look(&f.0);
        assert_eq!(p.roots()[0].1, RootScan::Linked, "{at}");
        assert_eq!(p.names().count(), 0);
        let e = p.get("quay").map(|f| f.folder.clone()).expect_err("a root above it is unseen");
        assert!(e.to_string().contains("symbolic link"), "{e}");
    }
}

#[test]
fn t158_a_file_that_became_a_link_is_not_read_again() {
    let f = Folder::new("swap");
    f.skill(".agents/skills/tide-table");
    let p = look(&f.0);
    let file = f.0.join(".agents/skills/tide-table/SKILL.md");
    fs::rename(&file, f.0.join("moved.md")).expect("moved");
    symlink(f.0.join("moved.md"), &file).expect("link");
    let mut a = p.activate("tide-table").expect("listed");
    let e = drive(|r| a.step(r), |n| perform(&f.0, n)).expect_err("the same bytes, behind a link");
    assert!(e.to_string().contains("changed since"), "{e}");
}
