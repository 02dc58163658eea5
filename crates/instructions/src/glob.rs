//! Globs of four dialects, each translated into `globset`'s language after the bounds were
//! checked (engine.md §2.2, spec/skills.md §1.2, §1.7, §1.8).
//!
//! What a pattern may hold: `*` (never `/`), `**` (whole segments), `?` (one character) and
//! `{a,b}`, one level deep. Negation, classes and backslashes are refused rather than guessed.

use crate::bounds::{EXPANSIONS_MAX, GLOB_BYTES, GLOBS_MAX};
use crate::family::Dialect;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use kernel::mount::MountPath;

/// Why a glob was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, serde::Serialize)]
pub enum GlobError {
    /// More globs than a rule may have.
    #[error("a rule may have {GLOBS_MAX} patterns")]
    TooMany,
    /// Longer than a glob may be.
    #[error("a pattern may have {GLOB_BYTES} bytes, this one has {0}")]
    TooLong(usize),
    /// `!` at the start: what it takes away cannot be taken away here.
    #[error("patterns that exclude (“!”) are not read")]
    Negated,
    /// A class, a backslash or a control character.
    #[error("the character “{}” is not read in patterns", .0.escape_default())]
    Character(char),
    /// A brace without its partner.
    #[error("a brace has no partner")]
    BraceOpen,
    /// Braces inside braces.
    #[error("braces inside braces are not read")]
    BraceNested,
    /// More alternatives than a rule may have.
    #[error("the braces of a rule may stand for {EXPANSIONS_MAX} alternatives, these for {0} or more")]
    Expansions(usize),
    /// An empty segment, `.` or `..`.
    #[error("a segment is empty, “.” or “..”")]
    Segment,
    /// Too many different characters beside `?`, or more than the engine takes.
    #[error("the pattern is too large to be matched")]
    Engine,
}

/// What the globs of one rule may still use up.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    globs: usize,
    expansions: usize,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { globs: GLOBS_MAX, expansions: EXPANSIONS_MAX }
    }
}

/// One pattern, ready to match.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: String,
    always: bool,
    fold_case: bool,
    fold: Option<Fold>,
    set: GlobSet,
    size: usize,
}

/// The parts of a comma list, trimmed; commas inside braces do not split, and empty parts are
/// dropped.
#[must_use]
pub fn split_list(text: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (i, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..i]);
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.into_iter().map(str::trim).filter(|part| !part.is_empty()).collect()
}

impl Pattern {
    /// Compiles a pattern of a dialect, taking what it uses from the rule's allowance.
    ///
    /// # Errors
    /// [`GlobError`].
    pub fn compile(dialect: Dialect, text: &str, left: &mut Allowance) -> Result<Self, GlobError> {
        left.globs = left.globs.checked_sub(1).ok_or(GlobError::TooMany)?;
        if text.len() > GLOB_BYTES {
            return Err(GlobError::TooLong(text.len()));
        }
        if text.starts_with('!') {
            return Err(GlobError::Negated);
        }
        if let Some(c) = text.chars().find(|c| c.is_control() || matches!(c, '[' | ']' | '\\')) {
            return Err(GlobError::Character(c));
        }
        let fold_case = dialect == Dialect::Copilot;
        let always = dialect == Dialect::Copilot && matches!(text, "**" | "**/*" | "*");
        let mut globs = Vec::new();
        for alternative in expand(&anchored(dialect, text), left)? {
            let glob = normal(&alternative)?;
            globs.push(if fold_case { glob.to_lowercase() } else { glob });
        }
        let fold = match globs.iter().any(|g| g.contains('?')) {
            true => Some(Fold::of(&globs).ok_or(GlobError::Engine)?),
            false => None,
        };
        let mut set = GlobSetBuilder::new();
        let mut size = 0;
        for glob in &globs {
            let glob = fold.as_ref().map_or_else(|| glob.clone(), |f| f.apply(glob));
            size += glob.len();
            let built = GlobBuilder::new(&glob).literal_separator(true).backslash_escape(false).build();
            set.add(built.map_err(|_| GlobError::Engine)?);
        }
        let set = set.build().map_err(|_| GlobError::Engine)?;
        Ok(Self { source: text.to_owned(), always, fold_case, fold, set, size })
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// True where the dialect means every task, whatever its targets.
    #[must_use]
    pub fn is_always(&self) -> bool {
        self.always
    }

    /// Bytes of the globs it became. `globset` matches by automata: the steps of one match are
    /// at most this many for each byte of the path.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// True when it matches a path below the workspace's root. The root itself is matched by
    /// what means always, and by nothing else.
    #[must_use]
    pub fn matches(&self, path: &MountPath) -> bool {
        if self.always || path.is_root() {
            return self.always;
        }
        let mut text = path.as_str().to_owned();
        if self.fold_case {
            text = text.to_lowercase();
        }
        if let Some(fold) = &self.fold {
            text = fold.apply(&text);
        }
        self.set.is_match(text)
    }
}

/// The text with its dialect's anchor written out: afterwards it is relative to the root.
fn anchored(dialect: Dialect, text: &str) -> String {
    let mut rest = text;
    let mut at_root = dialect != Dialect::Copilot;
    if let Some(below) = rest.strip_prefix("./").or_else(|| rest.strip_prefix('/')) {
        (rest, at_root) = (below, true);
    }
    // A folder means what lies in it.
    let tail = if rest.ends_with('/') { "**" } else { "" };
    let head = if at_root || rest.starts_with("**/") || rest == "**" { "" } else { "**/" };
    format!("{head}{rest}{tail}")
}

/// The alternatives that the braces stand for; their number is known before one is made.
fn expand(text: &str, left: &mut Allowance) -> Result<Vec<String>, GlobError> {
    let (mut parts, mut rest, mut count) = (Vec::new(), text, 1_usize);
    while let Some(open) = rest.find(['{', '}']) {
        let inside = rest[open..].strip_prefix('{').ok_or(GlobError::BraceOpen)?;
        let close = inside.find(['{', '}']).ok_or(GlobError::BraceOpen)?;
        let body = inside[..close].split(',').map(str::trim).collect::<Vec<_>>();
        let after = inside[close..].strip_prefix('}').ok_or(GlobError::BraceNested)?;
        count = count.saturating_mul(body.len());
        parts.push((&rest[..open], body));
        rest = after;
    }
    if parts.is_empty() {
        return Ok(vec![rest.to_owned()]);
    }
    left.expansions = left.expansions.checked_sub(count).ok_or(GlobError::Expansions(count))?;
    let mut out = vec![String::new()];
    for (before, body) in parts {
        out = out.iter().flat_map(|o| body.iter().map(move |b| format!("{o}{before}{b}"))).collect();
    }
    for o in &mut out {
        o.push_str(rest);
    }
    Ok(out)
}

/// A glob with one `**` where several follow each other, and `*` for stars inside a segment.
fn normal(glob: &str) -> Result<String, GlobError> {
    let mut out: Vec<String> = Vec::new();
    for segment in glob.split('/') {
        match segment {
            "" | "." | ".." => return Err(GlobError::Segment),
            "**" => {
                if out.last().is_none_or(|last| last != "**") {
                    out.push("**".to_owned());
                }
            }
            _ => {
                let mut one = String::with_capacity(segment.len());
                for c in segment.chars() {
                    if c != '*' || !one.ends_with('*') {
                        one.push(c);
                    }
                }
                out.push(one);
            }
        }
    }
    Ok(out.join("/"))
}

/// `globset` reads `?` as one byte. Where a pattern has one, pattern and path are written in
/// single bytes first: each character of the pattern that is not ASCII becomes a control
/// character of its own (paths have none), every other one DEL.
#[derive(Clone, Debug)]
struct Fold(Vec<char>);

impl Fold {
    /// Control characters there are for the pattern's own characters.
    const ROOM: usize = 31;

    fn of(globs: &[String]) -> Option<Self> {
        let mut known: Vec<char> = globs.iter().flat_map(|g| g.chars()).filter(|c| !c.is_ascii()).collect();
        known.sort_unstable();
        known.dedup();
        (known.len() <= Self::ROOM).then_some(Self(known))
    }

    fn apply(&self, text: &str) -> String {
        let one = |c: char| match self.0.binary_search(&c) {
            _ if c.is_ascii() => c,
            Ok(i) => u8::try_from(i + 1).map_or('\u{7f}', char::from),
            Err(_) => '\u{7f}',
        };
        text.chars().map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hit(dialect: Dialect, glob: &str, path: &str) -> bool {
        let path = MountPath::parse(path).expect("path");
        Pattern::compile(dialect, glob, &mut Allowance::default()).is_ok_and(|p| p.matches(&path))
    }

    #[test]
    fn the_anchored_dialects_read_a_star_at_the_root_only() {
        for dialect in [Dialect::Claude, Dialect::Cursor, Dialect::AiEcho] {
            for (glob, yes, no) in [
                ("*.md", "a.md", "d/a.md"),
                ("**/*.md", "a.md", "a.mdx"),
                ("**/*.md", "d/e/a.md", "md"),
                ("src/**", "src/a/b", "srcs/a"),
                ("src/**/t.rs", "src/t.rs", "src/at.rs"),
                ("src/*", "src/.env", "src/a/b"),
                ("/src/a", "src/a", "x/src/a"),
                ("./src/a", "src/a", "x/src/a"),
                ("src/", "src/a/b", "src"),
                ("?.md", "ü.md", "uu.md"),
                ("ä?ö", "äüö", "äüüö"),
                ("ä?ö", "äzö", "özä"),
                ("a**b", "axxb", "ax/xb"),
                ("**.ts", "a.ts", "d/a.ts"),
                ("{src,lib}/**/*.{rs,toml}", "lib/x/a.toml", "bin/a.rs"),
                ("{ a , b }.md", "b.md", "c.md"),
                ("app/(group)/+page.ts", "app/(group)/+page.ts", "app/group/page.ts"),
                ("日本/*.md", "日本/語.md", "日/語.md"),
            ] {
                assert!(hit(dialect, glob, yes), "{dialect:?} {glob} {yes}");
                assert!(!hit(dialect, glob, no), "{dialect:?} {glob} {no}");
            }
        }
        assert!(!hit(Dialect::Claude, "*.MD", "a.md"), "case as written");
    }

    #[test]
    fn the_copilot_dialect_goes_to_any_depth_without_regard_to_case() {
        for (glob, yes, no) in [
            ("*.md", "d/e/A.MD", "a.mdx"),
            ("/*.md", "a.md", "d/a.md"),
            ("Src/**", "x/src/a", "srcs/a"),
            ("**/*.{TS,tsx}", "a.ts", "a.tsy"),
            ("{docs,site}/*.ÄB", "x/site/q.äb", "docs/x/a.äb"),
        ] {
            assert!(hit(Dialect::Copilot, glob, yes), "{glob} {yes}");
            assert!(!hit(Dialect::Copilot, glob, no), "{glob} {no}");
        }
        for always in ["**", "**/*", "*"] {
            let pattern = Pattern::compile(Dialect::Copilot, always, &mut Allowance::default()).expect(always);
            assert!(pattern.is_always() && pattern.matches(&MountPath::root()), "{always}");
            assert!(!hit(Dialect::Claude, always, ""), "the root is no file of its own");
        }
    }

    #[test]
    fn what_is_not_read_is_refused_by_name() {
        for (glob, want) in [
            ("!a/**", GlobError::Negated),
            ("app/[id]/page.tsx", GlobError::Character('[')),
            ("a\\b", GlobError::Character('\\')),
            ("a\u{1}", GlobError::Character('\u{1}')),
            ("{a", GlobError::BraceOpen),
            ("a}", GlobError::BraceOpen),
            ("{a,{b,c}}", GlobError::BraceNested),
            ("../a", GlobError::Segment),
            ("a//b", GlobError::Segment),
            ("a/./b", GlobError::Segment),
            ("{..,a}/b", GlobError::Segment),
            (&"a".repeat(GLOB_BYTES + 1), GlobError::TooLong(GLOB_BYTES + 1)),
        ] {
            let found = Pattern::compile(Dialect::AiEcho, glob, &mut Allowance::default());
            assert_eq!(found.map(|_| ()), Err(want), "{glob}");
        }
        let many: String = ('\u{4e00}'..='\u{4e1f}').chain(['?']).collect();
        let found = Pattern::compile(Dialect::AiEcho, &many, &mut Allowance::default());
        assert_eq!(found.map(|_| ()), Err(GlobError::Engine));
    }

    #[test]
    fn t138_a_glob_bomb_is_counted_before_it_is_made() {
        let bomb = "{a,b}".repeat(20);
        let mut left = Allowance::default();
        let found = Pattern::compile(Dialect::Claude, &bomb, &mut left);
        assert_eq!(found.map(|_| ()), Err(GlobError::Expansions(1 << 20)));
        // What is refused takes nothing from the rest of the rule; exactly the bound is fine.
        let full = "{a,b}".repeat(6);
        assert!(Pattern::compile(Dialect::Claude, &full, &mut left).is_ok());
        let found = Pattern::compile(Dialect::Claude, "{a,b}", &mut left);
        assert_eq!(found.map(|_| ()), Err(GlobError::Expansions(2)));

        let stars = format!("{}x", "**/".repeat(85));
        let pattern = Pattern::compile(Dialect::Claude, &stars, &mut Allowance::default()).expect("fits");
        assert_eq!(pattern.size(), "**/x".len(), "one `**` stands for a run of them");
        let deep = MountPath::parse(&vec!["a".repeat(30); 32].join("/")).expect("path");
        assert!(!pattern.matches(&deep));
    }

    #[test]
    fn t135_a_rule_has_32_globs_and_not_33() {
        let mut left = Allowance::default();
        for i in 0..GLOBS_MAX {
            assert!(Pattern::compile(Dialect::Claude, &format!("{i}"), &mut left).is_ok());
        }
        let found = Pattern::compile(Dialect::Claude, "x", &mut left);
        assert_eq!(found.map(|_| ()), Err(GlobError::TooMany));
    }

    #[test]
    fn field_2h2_commas_inside_braces_do_not_split() {
        assert_eq!(split_list("**/*.rs, **/*.toml"), ["**/*.rs", "**/*.toml"]);
        assert_eq!(split_list(" **/*.{rs,toml} ,, a,"), ["**/*.{rs,toml}", "a"]);
        assert_eq!(split_list("{a,b"), ["{a,b"]);
        assert_eq!(split_list("} , b"), ["}", "b"]);
        assert!(split_list(" , ").is_empty());
    }

    proptest! {
        #[test]
        fn no_text_panics_and_a_plain_path_matches_itself(text in "\\PC{0,40}", path in "[a-zé]{1,6}(/[a-z?*{},.]{1,6}){0,3}") {
            for dialect in [Dialect::Claude, Dialect::Copilot, Dialect::Cursor, Dialect::AiEcho] {
                let _ = hit(dialect, &text, "a/b.md");
                let _ = hit(dialect, &path, "a/b.md");
            }
            if let Ok(plain) = MountPath::parse(&path) && !path.contains(['?', '*', '{', '}', ',']) && plain.as_str() == path {
                prop_assert!(hit(Dialect::Claude, &path, &path));
            }
        }

        /// `?` is one character and a star any run within a segment, whatever the alphabet.
        #[test]
        fn question_marks_count_characters(name in "[aé日🌊]{1,12}") {
            let n = name.chars().count();
            prop_assert!(hit(Dialect::Claude, &"?".repeat(n), &name));
            prop_assert!(!hit(Dialect::Claude, &"?".repeat(n + 1), &name));
            let starred = format!("{}*", "?".repeat(n));
            prop_assert!(hit(Dialect::Claude, &starred, &name));
        }
    }
}
