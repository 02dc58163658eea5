//! Whether a rule applies (I-105): what its frontmatter says about scope, and what that means
//! for the targets. The one thing that never happens is that a scope which is empty, misspelt or
//! not understood counts as no scope at all.

use crate::bounds::{DESCRIPTION_CHARS, KEYS_SHOWN, SHOWN_BYTES};
use crate::family::{Dialect, Family};
use crate::front::{self, FenceError, Field, Front, Value};
use crate::glob::{Allowance, GlobError, Pattern, split_list};
use kernel::clip;

/// Keys that scope a rule. Each counts in every family, in that family's dialect: a Claude rule
/// with `globs` was meant to be scoped, whichever product its author had in mind.
const SCOPE_KEYS: [&str; 3] = ["paths", "globs", "applyTo"];
/// The key that takes scope away.
const ALWAYS: &str = "alwaysApply";

/// When a rule applies.
#[derive(Clone, Debug)]
pub enum Scope {
    /// To every task.
    Always(AlwaysBy),
    /// To tasks with a target that one of these matches.
    Paths(Vec<Pattern>),
    /// To none by itself: a person or an agent picks it by its description.
    Candidate {
        /// Its description, cut to [`DESCRIPTION_CHARS`].
        description: String,
    },
    /// To none, because what it says about scope cannot be trusted.
    Closed(ScopeFault),
}

/// Why a rule applies to every task.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub enum AlwaysBy {
    /// `alwaysApply: true`.
    Key,
    /// It has no scope, and its family takes that for always.
    NoScope,
    /// A pattern that its dialect takes for always.
    Pattern(String),
}

/// What is wrong with a scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize)]
pub enum ScopeFault {
    /// Longer than a frontmatter may be.
    #[error("its frontmatter is longer than {} bytes", crate::bounds::FRONTMATTER_BYTES)]
    TooLarge,
    /// It has no end.
    #[error("its frontmatter has no closing “---”")]
    Unclosed,
    /// A scope key without a value.
    #[error("“{0}” is there and names no path")]
    Empty(String),
    /// A value that is not understood.
    #[error("“{key}” is {why}")]
    Unreadable {
        /// Key.
        key: String,
        /// What it is instead of a list of patterns.
        why: String,
    },
    /// A key twice.
    #[error("“{0}” stands there twice")]
    Twice(String),
    /// A scope key with another case.
    #[error("“{found}” is not “{expected}”")]
    KeyCase {
        /// As written.
        found: String,
        /// As it is read.
        expected: String,
    },
    /// Lines that are no keys, and no scope that could be read.
    #[error("its frontmatter has lines that are not “key: value”")]
    Lines,
    /// No pattern is left that can be matched.
    #[error("none of its patterns can be read")]
    NoPattern,
    /// It excludes paths; without that part it would apply to more than was meant.
    #[error("“{0}” excludes paths, which is not read here")]
    Negated(String),
}

/// A rule's text taken apart.
#[derive(Clone, Debug)]
pub struct Rule<'a> {
    /// When it applies.
    pub scope: Scope,
    /// The text below the frontmatter.
    pub body: &'a str,
    /// Patterns that match nothing because they are refused.
    pub refused: Vec<(String, GlobError)>,
    /// Keys that mean nothing here.
    pub ignored: Vec<String>,
}

/// Reads a rule of a family.
#[must_use]
pub fn read<'a>(family: Family, dialect: Dialect, text: &'a str) -> Rule<'a> {
    let mut rule = Rule { scope: Scope::Always(AlwaysBy::NoScope), body: text, refused: vec![], ignored: vec![] };
    let header = match front::split(text) {
        Ok((header, body)) => {
            rule.body = body;
            header
        }
        Err(e) => {
            rule.body = "";
            rule.scope = Scope::Closed(match e {
                FenceError::TooLarge => ScopeFault::TooLarge,
                FenceError::Unclosed => ScopeFault::Unclosed,
            });
            return rule;
        }
    };
    let front = header.map(front::read).unwrap_or_default();
    rule.ignored = ignored(&front);
    rule.scope = match scope(family, dialect, &front, &mut rule.refused) {
        Ok(scope) => scope,
        Err(fault) => Scope::Closed(fault),
    };
    rule
}

fn scope(
    family: Family,
    dialect: Dialect,
    front: &Front,
    refused: &mut Vec<(String, GlobError)>,
) -> Result<Scope, ScopeFault> {
    for key in SCOPE_KEYS.into_iter().chain([ALWAYS]) {
        let mut same = front.fields.iter().filter(|f| f.key.eq_ignore_ascii_case(key));
        if let Some(first) = same.next() {
            if same.next().is_some() {
                return Err(ScopeFault::Twice(key.to_owned()));
            }
            if first.key != key {
                return Err(ScopeFault::KeyCase { found: shown(&first.key), expected: key.to_owned() });
            }
        }
    }
    let find = |key: &str| front.fields.iter().find(|f| f.key == key).map(|f| &f.value);
    let always = find(ALWAYS);
    if let Some(Value::Text { text, quoted: false }) = always
        && matches!(text.as_str(), "true" | "True" | "TRUE")
    {
        return Ok(Scope::Always(AlwaysBy::Key));
    }
    let mut sources = Vec::new();
    let mut scoped = false;
    for key in SCOPE_KEYS {
        match find(key) {
            None => continue,
            // Cursor's own template leaves `globs:` empty for rules that are picked by hand.
            Some(Value::Empty) if family == Family::CursorRule && key == "globs" => continue,
            Some(Value::Empty) => return Err(ScopeFault::Empty(key.to_owned())),
            Some(Value::Unreadable(why)) => {
                return Err(ScopeFault::Unreadable { key: key.to_owned(), why: (*why).to_owned() });
            }
            Some(Value::Text { text, .. }) => sources.extend(split_list(text)),
            Some(Value::List(items)) => sources.extend(items.iter().flat_map(|i| split_list(i))),
        }
        scoped = true;
        if sources.is_empty() {
            return Err(ScopeFault::Empty(key.to_owned()));
        }
    }
    if !scoped {
        if front.strays > 0 {
            return Err(ScopeFault::Lines);
        }
        // `alwaysApply: false` and whatever else is not `true` is a scope as well: not always.
        if always.is_none() && family.unscoped_applies() {
            return Ok(Scope::Always(AlwaysBy::NoScope));
        }
        return Ok(Scope::Candidate { description: description(front) });
    }
    let mut patterns = Vec::new();
    let mut left = Allowance::default();
    for source in sources {
        match Pattern::compile(dialect, source, &mut left) {
            Ok(pattern) if pattern.is_always() => return Ok(Scope::Always(AlwaysBy::Pattern(source.to_owned()))),
            Ok(pattern) => patterns.push(pattern),
            Err(GlobError::Negated) => return Err(ScopeFault::Negated(shown(source))),
            // One omission says that there were too many.
            Err(GlobError::TooMany) => {
                refused.push((shown(source), GlobError::TooMany));
                break;
            }
            Err(e) => refused.push((shown(source), e)),
        }
    }
    if patterns.is_empty() { Err(ScopeFault::NoPattern) } else { Ok(Scope::Paths(patterns)) }
}

fn shown(text: &str) -> String {
    clip::label(text, SHOWN_BYTES).into_owned()
}

fn description(front: &Front) -> String {
    let text = front.fields.iter().find(|f| f.key == "description").map(|f| &f.value);
    let text = match text {
        Some(Value::Text { text, .. }) => text.clone(),
        Some(Value::List(items)) => items.join(", "),
        _ => String::new(),
    };
    text.chars().take(DESCRIPTION_CHARS).collect()
}

fn ignored(front: &Front) -> Vec<String> {
    let known = |key: &str| SCOPE_KEYS.into_iter().chain([ALWAYS, "description"]).any(|k| k.eq_ignore_ascii_case(key));
    let means = |f: &&Field| !known(&f.key);
    front.fields.iter().filter(means).take(KEYS_SHOWN).map(|f| shown(&f.key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kernel::mount::MountPath;
    use proptest::prelude::*;

    const RULES: [(Family, Dialect); 5] = [
        (Family::AiEchoRule, Dialect::AiEcho),
        (Family::FolderRule, Dialect::AiEcho),
        (Family::ClaudeRule, Dialect::Claude),
        (Family::CopilotRule, Dialect::Copilot),
        (Family::CursorRule, Dialect::Cursor),
    ];

    fn rule(family: Family, header: &str) -> Rule<'static> {
        let text = format!("---\n{header}\n---\nbody").leak();
        read(family, family.dialect().expect("a rule"), text)
    }

    fn sources(scope: &Scope) -> Vec<&str> {
        match scope {
            Scope::Paths(p) => p.iter().map(Pattern::source).collect(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn i105_a_rule_without_scope_applies_or_waits_by_its_family() {
        for (family, dialect) in RULES {
            let found = read(family, dialect, "body");
            assert_eq!(found.body, "body");
            match found.scope {
                Scope::Always(AlwaysBy::NoScope) => assert!(family.unscoped_applies()),
                Scope::Candidate { .. } => assert!(!family.unscoped_applies()),
                other => panic!("{family:?} {other:?}"),
            }
            let found = rule(family, "title: x\nalwaysApply: true\nglobs:");
            assert!(matches!(found.scope, Scope::Always(AlwaysBy::Key)), "{family:?}");
            assert_eq!(found.ignored, ["title"]);
            for not in ["false", "\"true\"", "yes", "", "[true]"] {
                let found = rule(family, &format!("description: Use it\nalwaysApply: {not}"));
                assert!(
                    matches!(&found.scope, Scope::Candidate { description } if description == "Use it"),
                    "{family:?} {not}"
                );
            }
        }
        let found = rule(Family::CursorRule, "description: d\nglobs:\nalwaysApply: false");
        assert!(matches!(found.scope, Scope::Candidate { .. }), "Cursor's own template");
    }

    #[test]
    fn i105_an_empty_or_unreadable_scope_never_widens() {
        let bodies = [
            "paths:",
            "paths: []",
            "paths: \"\"",
            "paths: [\"\"]",
            "paths: ,",
            "applyTo: [a",
            "paths: |\n  a",
            "paths:\n  a: b",
            "Paths: a",
            "applyto: a",
            "paths: a\npaths: b",
            "paths: a\nalwaysApply: false\nalwaysApply: true",
            "paths: app/[id]/**",
            "paths: \"**/*.py, !**/t.py\"",
            "nothing here is a key",
            "globs: [\"a\"] b",
        ];
        for (family, _) in RULES {
            for header in bodies {
                let found = rule(family, header);
                assert!(matches!(found.scope, Scope::Closed(_)), "{family:?} {header:?} {:?}", found.scope);
            }
            let unclosed = read(family, family.dialect().expect("a rule"), "---\npaths: a\nbody");
            assert!(matches!(unclosed.scope, Scope::Closed(ScopeFault::Unclosed)));
            assert_eq!(unclosed.body, "");
        }
    }

    #[test]
    fn field_2h2_any_pattern_counts_and_their_order_does_not() {
        for header in [
            "paths: [\"docs/**/*.md\",\"site/**/*.html\"]",
            "paths: [\"site/**/*.html\",\"docs/**/*.md\"]",
            "paths: \"docs/**/*.md, site/**/*.html\"",
            "paths:\n  - docs/**/*.md\n  - site/**/*.html",
        ] {
            let found = rule(Family::ClaudeRule, header);
            let Scope::Paths(patterns) = &found.scope else { panic!("{header}") };
            let path = MountPath::parse("site/a/b.html").expect("path");
            let by: Vec<&str> = patterns.iter().filter(|p| p.matches(&path)).map(Pattern::source).collect();
            assert_eq!(by, ["site/**/*.html"], "{header}");
        }
        assert_eq!(
            sources(&rule(Family::CopilotRule, "applyTo: \"**/*.rs, **/*.toml\"").scope),
            ["**/*.rs", "**/*.toml"]
        );
        assert_eq!(sources(&rule(Family::CursorRule, "globs: \"**/*.{rs,toml}\"").scope), ["**/*.{rs,toml}"]);
        assert_eq!(sources(&rule(Family::ClaudeRule, "globs: a").scope), ["a"], "a scope in every family");
    }

    #[test]
    fn a_pattern_that_is_refused_matches_nothing_and_the_others_stay() {
        let found = rule(Family::ClaudeRule, "paths: [\"app/[id]/**\", \"lib/**\"]");
        assert_eq!(sources(&found.scope), ["lib/**"]);
        assert_eq!(found.refused, [("app/[id]/**".to_owned(), GlobError::Character('['))]);
        let many = (0..40).map(|i| i.to_string()).collect::<Vec<_>>().join(",");
        let found = rule(Family::CursorRule, &format!("globs: {many}"));
        assert_eq!((sources(&found.scope).len(), found.refused.len()), (32, 1));
    }

    #[test]
    fn copilot_takes_its_three_stars_for_always() {
        for star in ["**", "**/*", "\"*\""] {
            let found = rule(Family::CopilotRule, &format!("applyTo: {star}"));
            assert!(matches!(found.scope, Scope::Always(AlwaysBy::Pattern(_))), "{star}");
            assert!(matches!(rule(Family::ClaudeRule, &format!("paths: {star}")).scope, Scope::Paths(_)));
        }
    }

    proptest! {
        /// Whatever stands behind a scope key, the rule never applies to every task, unless the
        /// dialect itself says so.
        #[test]
        fn i105_no_scope_value_makes_a_rule_apply_to_everything(value in "(\\PC|[\\n\\[\\]\"',:#{}*/ -]){0,40}", key in 0..3_usize) {
            let mut text = format!("---\n{}: {value}\n---\nbody", SCOPE_KEYS[key]);
            if value.contains("---") || value.contains(ALWAYS) {
                text = String::from("---\npaths:\n---\n");
            }
            for (family, dialect) in RULES {
                match read(family, dialect, &text).scope {
                    Scope::Always(AlwaysBy::Pattern(p)) => prop_assert!(family == Family::CopilotRule && p.starts_with('*')),
                    Scope::Always(by) => prop_assert!(false, "{family:?} {by:?} {text:?}"),
                    _ => {}
                }
            }
        }
    }
}
