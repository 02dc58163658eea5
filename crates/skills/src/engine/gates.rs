//! The gates: what a skill needs beside evidence. A gate only ever takes away (I-115).

use std::collections::BTreeSet;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use kernel::ToolName;
use kernel::mount::MountPath;
use kernel::registry::Review;

use super::{ReasonCode, SkillMeta};

/// Most patterns of one list of a skill (engine.md §2.12).
pub const PATTERNS_MAX: usize = 32;
/// Longest pattern, in bytes (engine.md §2.12).
pub const PATTERN_BYTES_MAX: usize = 256;
/// Most alternatives of one pattern.
const ALTERNATIVES_MAX: usize = 64;

/// Why a pattern is no glob of ours (engine.md §2.2, glob language).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GlobError {
    /// Empty, or over its bound.
    #[error("the pattern has {0} bytes, 1 to {PATTERN_BYTES_MAX} are allowed")]
    Length(usize),
    /// A construct outside the language.
    #[error("the pattern “{pattern}” holds “{construct}”, which is no part of the glob language")]
    Construct {
        /// Pattern.
        pattern: String,
        /// What it holds.
        construct: char,
    },
    /// Too many alternatives, or braces that do not close.
    #[error("the braces of “{0}” do not close, nest, or name more than {ALTERNATIVES_MAX} alternatives")]
    Braces(String),
}

/// Checks one pattern.
///
/// # Errors
/// [`GlobError`] with what is wrong with it.
pub fn check_glob(pattern: &str) -> Result<(), GlobError> {
    if pattern.is_empty() || pattern.len() > PATTERN_BYTES_MAX {
        return Err(GlobError::Length(pattern.len()));
    }
    let (mut open, mut alternatives) = (false, 1usize);
    let mut choices = 1;
    for c in pattern.chars() {
        match c {
            '[' | ']' | '\\' | '!' => return Err(GlobError::Construct { pattern: pattern.into(), construct: c }),
            '{' if !open => (open, choices) = (true, 1),
            ',' if open => choices += 1,
            '}' if open => (open, alternatives) = (false, alternatives.saturating_mul(choices)),
            '{' | '}' => return Err(GlobError::Braces(pattern.into())),
            _ => {}
        }
    }
    if open || alternatives > ALTERNATIVES_MAX { Err(GlobError::Braces(pattern.into())) } else { Ok(()) }
}

/// The patterns of one list. A list that cannot be read fails closed.
#[derive(Clone, Debug)]
pub(super) enum Paths {
    /// No pattern given.
    Any,
    /// Some.
    Set(GlobSet),
    /// Not readable.
    Broken,
}

impl Paths {
    pub(super) fn of(patterns: &[String]) -> Self {
        if patterns.is_empty() {
            return Self::Any;
        }
        if patterns.len() > PATTERNS_MAX {
            return Self::Broken;
        }
        let mut set = GlobSetBuilder::new();
        for pattern in patterns {
            if check_glob(pattern).is_err() {
                return Self::Broken;
            }
            match GlobBuilder::new(pattern).literal_separator(true).build() {
                Ok(glob) => _ = set.add(glob),
                Err(_) => return Self::Broken,
            }
        }
        set.build().map_or(Self::Broken, Self::Set)
    }

    /// True when no target rules the skill in: it is scoped, and none lies inside.
    fn leaves_out(&self, targets: &[MountPath]) -> bool {
        match self {
            Self::Any => false,
            Self::Set(set) => !targets.iter().any(|t| set.is_match(t.as_str())),
            Self::Broken => true,
        }
    }

    /// True when a target rules the skill out.
    fn shuts_out(&self, targets: &[MountPath]) -> bool {
        match self {
            Self::Any => false,
            Self::Set(set) => targets.iter().any(|t| set.is_match(t.as_str())),
            Self::Broken => true,
        }
    }
}

/// The gates that are shut for a skill.
pub(super) fn shut(
    skill: &SkillMeta,
    include: &Paths,
    exclude: &Paths,
    live: &BTreeSet<ToolName>,
    targets: &[MountPath],
) -> Vec<ReasonCode> {
    let mut reasons = Vec::new();
    if !skill.enabled {
        reasons.push(ReasonCode::Disabled);
    }
    match &skill.review {
        Review::BuiltIn => {}
        Review::HumanReviewed { binding } if *binding == skill.digest => {}
        Review::HumanReviewed { .. } => reasons.push(ReasonCode::ReviewBindingChanged),
        Review::Unreviewed => reasons.push(ReasonCode::Unreviewed),
    }
    for tool in skill.required_tools.iter().filter(|t| !live.contains(t)) {
        reasons.push(ReasonCode::RequiredToolMissing { tool: tool.clone() });
    }
    if exclude.shuts_out(targets) {
        reasons.push(ReasonCode::PathExcluded);
    } else if include.leaves_out(targets) {
        reasons.push(ReasonCode::PathNotIncluded);
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_outside_the_language_are_refused() {
        for good in ["src/**", "*.md", "a/?/b", "{a,b}/*.{rs,md}", "docs/**/x.md"] {
            assert_eq!(check_glob(good), Ok(()), "{good}");
        }
        for bad in ["", "[ab]", "a\\b", "!a", "{a", "a}", "{a,{b,c}}", &"a".repeat(257), &"{a,b}".repeat(7)] {
            assert!(check_glob(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_star_stays_in_its_folder_and_case_counts() {
        let paths = Paths::of(&["docs/*.md".into()]);
        let hit = |p: &str| !paths.leaves_out(&[MountPath::parse(p).expect("path")]);
        assert!(hit("docs/a.md") && !hit("docs/x/a.md") && !hit("Docs/a.md") && !hit("a.md"));
        assert!(Paths::of(&["[".into()]).leaves_out(&[]) && Paths::of(&["[".into()]).shuts_out(&[]), "fails closed");
    }
}
