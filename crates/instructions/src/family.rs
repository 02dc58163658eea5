//! The families of instruction files: where they lie, how their scopes are read, and the order
//! in which they are shown.

use serde::Serialize;

/// A family, in the order of engine.md §2.2; decision 25 sorts by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Family {
    /// `AGENTS.md` of the root or of a folder above a target.
    Agents,
    /// `AGENTS.override.md`, which stands for the `AGENTS.md` beside it (I-103).
    AgentsOverride,
    /// `CLAUDE.md`.
    Claude,
    /// `.claude/CLAUDE.md`.
    ClaudeFolder,
    /// `GEMINI.md`.
    Gemini,
    /// `.github/copilot-instructions.md`.
    Copilot,
    /// `.cursorrules`.
    Cursor,
    /// `.windsurfrules`.
    Windsurf,
    /// `CONVENTIONS.md`.
    Conventions,
    /// `STYLE.md`.
    Style,
    /// `RULES.md`.
    Rules,
    /// `.ai-echo/RULES.md`.
    AiEcho,
    /// `.ai-echo/rules/*.md`.
    AiEchoRule,
    /// `rules/*.md`.
    FolderRule,
    /// `.claude/rules/*.md`.
    ClaudeRule,
    /// `.github/instructions/*.instructions.md`.
    CopilotRule,
    /// `.cursor/rules/*.mdc`.
    CursorRule,
}

/// How a family writes globs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Dialect {
    /// Ours: anchored at the workspace's root, case as written.
    AiEcho,
    /// `paths`: anchored at the workspace's root, so `*.md` is the root only.
    Claude,
    /// `applyTo`: any depth unless it starts with `/`, without regard to case; `**`, `**/*` and
    /// `*` alone mean always.
    Copilot,
    /// `globs`: anchored at the workspace's root, written without quotes.
    Cursor,
}

/// Name of the file that every folder above a target may have.
pub const AGENTS: &str = "AGENTS.md";
/// Name of the file that stands for it (I-103).
pub const OVERRIDE: &str = "AGENTS.override.md";

/// Files of the workspace's root and of its fixed folders: family, folder, name.
pub(crate) const FIXED: [(Family, &str, &str); 10] = [
    (Family::Claude, "", "CLAUDE.md"),
    (Family::ClaudeFolder, ".claude", "CLAUDE.md"),
    (Family::Gemini, "", "GEMINI.md"),
    (Family::Copilot, ".github", "copilot-instructions.md"),
    (Family::Cursor, "", ".cursorrules"),
    (Family::Windsurf, "", ".windsurfrules"),
    (Family::Conventions, "", "CONVENTIONS.md"),
    (Family::Style, "", "STYLE.md"),
    (Family::Rules, "", "RULES.md"),
    (Family::AiEcho, ".ai-echo", "RULES.md"),
];

/// Folders of modular rules, one level each: family, folder, end of the name.
pub(crate) const MODULAR: [(Family, &str, &str); 5] = [
    (Family::AiEchoRule, ".ai-echo/rules", ".md"),
    (Family::FolderRule, "rules", ".md"),
    (Family::ClaudeRule, ".claude/rules", ".md"),
    (Family::CopilotRule, ".github/instructions", ".instructions.md"),
    (Family::CursorRule, ".cursor/rules", ".mdc"),
];

impl Family {
    /// The dialect of its scopes; `None` for a file that has no frontmatter.
    #[must_use]
    pub fn dialect(self) -> Option<Dialect> {
        match self {
            Self::AiEchoRule | Self::FolderRule => Some(Dialect::AiEcho),
            Self::ClaudeRule => Some(Dialect::Claude),
            Self::CopilotRule => Some(Dialect::Copilot),
            Self::CursorRule => Some(Dialect::Cursor),
            _ => None,
        }
    }

    /// True where a rule without any scope key applies to every task (I-105).
    #[must_use]
    pub fn unscoped_applies(self) -> bool {
        !matches!(self, Self::CopilotRule | Self::CursorRule)
    }

    /// True for the two files that nest with folders.
    #[must_use]
    pub fn nests(self) -> bool {
        matches!(self, Self::Agents | Self::AgentsOverride)
    }

    /// What a person calls it.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Agents => "AGENTS.md",
            Self::AgentsOverride => "AGENTS.override.md",
            Self::Claude | Self::ClaudeFolder => "CLAUDE.md",
            Self::Gemini => "GEMINI.md",
            Self::Copilot => "Copilot instructions",
            Self::Cursor => ".cursorrules",
            Self::Windsurf => ".windsurfrules",
            Self::Conventions => "CONVENTIONS.md",
            Self::Style => "STYLE.md",
            Self::Rules | Self::AiEcho => "RULES.md",
            Self::AiEchoRule => "AI Echo rule",
            Self::FolderRule => "rule",
            Self::ClaudeRule => "Claude rule",
            Self::CopilotRule => "Copilot rule",
            Self::CursorRule => "Cursor rule",
        }
    }
}
