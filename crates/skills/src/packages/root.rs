//! The five folders where packages lie, in their fixed order, and which names of folders are safe.

use super::bounds::NAME_MAX;
use kernel::mount::{MountError, MountPath, PathError};
use serde::{Deserialize, Serialize};

/// A folder of packages. The order is the precedence (engine.md §2.5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Root {
    /// `.agents/skills`.
    Agents,
    /// `.claude/skills`.
    Claude,
    /// `.github/skills`.
    Github,
    /// `.gemini/skills`.
    Gemini,
    /// `.cursor/skills`.
    Cursor,
}

impl Root {
    /// All, highest precedence first.
    pub const ALL: [Self; 5] = [Self::Agents, Self::Claude, Self::Github, Self::Gemini, Self::Cursor];

    /// The folder above `skills`.
    #[must_use]
    pub fn vendor(self) -> &'static str {
        match self {
            Self::Agents => ".agents",
            Self::Claude => ".claude",
            Self::Github => ".github",
            Self::Gemini => ".gemini",
            Self::Cursor => ".cursor",
        }
    }

    /// Its path below the workspace.
    ///
    /// # Errors
    /// [`PathError`] when the workspace's own path leaves no room for it.
    pub fn path(self, workspace: &MountPath) -> Result<MountPath, PathError> {
        workspace.join(self.vendor())?.join("skills")
    }
}

impl std::fmt::Display for Root {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/skills", self.vendor())
    }
}

/// How the listing of a root went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RootScan {
    /// There is no such folder.
    Absent,
    /// Listed whole.
    Whole {
        /// How many entries.
        entries: usize,
    },
    /// There are more entries than the cap.
    Cut {
        /// How many were listed.
        listed: usize,
    },
    /// It is a symbolic link, or lies below one; it was not followed.
    Linked,
    /// It could not be listed.
    Failed(MountError),
}

impl RootScan {
    /// True when nothing of the root can have been overlooked.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        matches!(self, Self::Absent | Self::Whole { .. })
    }

    /// What happened, in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Absent => "there is no such folder".into(),
            Self::Whole { entries } => format!("{entries} entries"),
            Self::Cut { listed } => format!("it has more than {listed} entries; the rest was not looked at"),
            Self::Linked => "it is a symbolic link, which is not followed".into(),
            Self::Failed(e) => e.to_string(),
        }
    }
}

/// Names that some systems give to devices, with or without an ending.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// Why a folder of this name is never opened (I-133).
#[must_use]
pub fn unsafe_name(name: &str) -> Option<String> {
    if name.len() > NAME_MAX * 4 {
        return Some(format!("the folder's name has {} bytes", name.len()));
    }
    if name == "." {
        return Some("“.” is no folder of its own".into());
    }
    if let Err(e) = MountPath::root().join(name) {
        return Some(e.to_string());
    }
    if let Some(c) = name.chars().find(|c| matches!(c, ':' | '<' | '>' | '"' | '|' | '?' | '*')) {
        return Some(format!("the folder's name holds “{c}”, which not every file system takes"));
    }
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let port =
        port.is_some_and(|n| matches!(n, "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"));
    (port || DEVICES.contains(&stem.as_str())).then(|| format!("“{name}” is the name of a device on some systems"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn i133_names_that_lead_elsewhere_are_unsafe() {
        for bad in [
            "..",
            ".",
            "",
            "a/b",
            "a\\b",
            "a.",
            "a ",
            "a\0",
            "a\u{202e}b",
            "con",
            "NUL",
            "com1",
            "Lpt9.md",
            "a:b",
            "a*",
            "COM¹",
            &"x".repeat(257),
        ] {
            assert!(unsafe_name(bad).is_some(), "{bad:?}");
        }
        for good in ["a", "tide-table", "console", "com10", "com", "技能", "a.b", ".hidden", "%2e%2e"] {
            assert_eq!(unsafe_name(good), None, "{good:?}");
        }
    }

    #[test]
    fn roots_stand_in_their_order() {
        let at = MountPath::parse("work").expect("path");
        let all: Vec<_> = Root::ALL.iter().map(|r| r.path(&at).expect("path").to_string()).collect();
        assert_eq!(all[0], "work/.agents/skills");
        assert_eq!(all[4], "work/.cursor/skills");
        assert!(Root::ALL.is_sorted());
    }
}
