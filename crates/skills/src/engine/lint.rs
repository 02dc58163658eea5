//! `skill lint`: the authoring rules of engine.md §2.11 over a parsed package. A finding is advice;
//! only a missing case keeps a skill from its review (I-176).

use serde::Serialize;

use super::cases::tried;
use super::evaluate::is_trigger;
use super::{SkillMeta, check_glob};
use crate::packages::review::CaseSet;
use crate::packages::{Manifest, inspect};
use kernel::registry::Review;

/// Shortest description that can say what, when and when not, in code points.
const DESCRIPTION_MIN: usize = 24;
/// Most lines of a body; more belongs into a reference.
const BODY_LINES_MAX: usize = 500;
/// Most lines of one code block in a body.
const BLOCK_LINES_MAX: usize = 60;
/// Names of other products, whose ways belong into a section that says so.
const VENDORS: [&str; 8] = ["claude", "codex", "copilot", "cursor", "gemini", "opencode", "windsurf", "chatgpt"];
/// Most findings.
const FINDINGS_MAX: usize = 64;

/// A rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Rule {
    /// The folder is named as the skill.
    FolderIsName,
    /// The description says what it does.
    DescriptionWhat,
    /// And when.
    DescriptionWhen,
    /// And when not.
    DescriptionWhenNot,
    /// The body says what it needs.
    BodyInputs,
    /// It has steps.
    BodySteps,
    /// Their number, or their repetition, is bounded.
    BodyBounded,
    /// It says what comes out.
    BodyOutputs,
    /// It says when to stop.
    BodyStop,
    /// It says how the result is checked.
    BodyValidation,
    /// It says what to do when something fails.
    BodyFailure,
    /// Long material lies outside the core body.
    ReferencesOutside,
    /// Tools it names are hints.
    ToolsAreHints,
    /// Ways of one product stand in a section named after it.
    VendorAdapter,
    /// Its triggers can be heard.
    Triggers,
    /// Its paths can be read.
    Paths,
    /// Every kind of case is there (I-176).
    CaseSet,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule.
    pub rule: Rule,
    /// Line of the body, from 1, where there is one.
    pub line: Option<usize>,
    /// What is wrong.
    pub cause: String,
    /// What to do.
    pub fix: &'static str,
}

/// What is looked at.
#[derive(Clone, Copy, Debug)]
pub struct LintInput<'a> {
    /// The package's folder.
    pub folder: &'a str,
    /// Its frontmatter.
    pub manifest: &'a Manifest,
    /// Its body.
    pub body: &'a str,
    /// What the engine makes of it.
    pub meta: &'a SkillMeta,
    /// The cases it was tried with.
    pub cases: &'a CaseSet,
}

/// Words by which the parts of a body are known, in the languages with a table.
struct Part {
    rule: Rule,
    words: &'static [&'static str],
    cause: &'static str,
    fix: &'static str,
}

const PARTS: [Part; 6] = [
    Part {
        rule: Rule::BodyInputs,
        words: &[
            "input",
            "given",
            "needs",
            "need ",
            "require",
            "ask for",
            "ask which",
            "ask the",
            "before you",
            "eingabe",
            "brauch",
            "frage",
            "entrée",
            "besoin",
            "entrada",
            "necesit",
            "输入",
            "需要",
            "入力",
            "必要",
        ],
        cause: "the body does not say what it needs",
        fix: "begin with what must be given, and what to ask for when it is not",
    },
    Part {
        rule: Rule::BodyBounded,
        words: &[
            "at most",
            "no more than",
            "maximum",
            "until",
            "once",
            "each",
            "only",
            "höchstens",
            "bis ",
            "jede",
            "au plus",
            "jusqu",
            "chaque",
            "como máximo",
            "hasta",
            "cada",
            "最多",
            "直到",
            "每",
            "最大",
            "まで",
            "ごと",
        ],
        cause: "nothing bounds the steps",
        fix: "say how many, or until when a step repeats",
    },
    Part {
        rule: Rule::BodyOutputs,
        words: &[
            "output",
            "result",
            "write",
            "report",
            "produce",
            "return",
            "answer",
            "draft",
            "summary",
            "list",
            "ausgabe",
            "ergebnis",
            "schreib",
            "sortie",
            "résultat",
            "écri",
            "salida",
            "resultado",
            "escrib",
            "输出",
            "结果",
            "写",
            "出力",
            "結果",
            "書",
        ],
        cause: "the body does not say what comes out",
        fix: "say what is written, where, and in which form",
    },
    Part {
        rule: Rule::BodyStop,
        words: &[
            "stop",
            "end with",
            "end when",
            "finish",
            "done when",
            "done",
            "nothing more",
            "fertig",
            "ende",
            "beende",
            "arrête",
            "termin",
            "fini",
            "detén",
            "acaba",
            "停止",
            "结束",
            "完成",
            "終わ",
            "終了",
            "止め",
        ],
        cause: "the body does not say when to stop",
        fix: "say what being done looks like, and what ends the work early",
    },
    Part {
        rule: Rule::BodyValidation,
        words: &[
            "check",
            "verify",
            "validate",
            "confirm",
            "compare",
            "test",
            "prüf",
            "kontrollier",
            "vérifi",
            "contrôl",
            "comprueba",
            "verific",
            "检查",
            "验证",
            "確認",
            "検証",
        ],
        cause: "the body does not say how the result is checked",
        fix: "name one check that would fail if the result were wrong",
    },
    Part {
        rule: Rule::BodyFailure,
        words: &[
            "fail",
            "error",
            "missing",
            "cannot",
            "can't",
            "if nothing",
            "otherwise",
            "contradict",
            "unclear",
            "fehl",
            "sonst",
            "échou",
            "erreur",
            "sinon",
            "manque",
            "falla",
            "error",
            "si no",
            "失败",
            "错误",
            "否则",
            "失敗",
            "エラー",
            "なければ",
        ],
        cause: "the body does not say what to do when something fails",
        fix: "say what to do when an input is missing or a step fails",
    },
];

const WHEN: [&str; 14] = [
    "use when",
    "use it when",
    "when ",
    "whenever",
    "if ",
    "wenn",
    "sobald",
    "quand",
    "lorsque",
    "cuando",
    "当",
    "时",
    "とき",
    "場合",
];
const WHEN_NOT: [&str; 18] = [
    "do not",
    "don't",
    "not for",
    "never",
    "except",
    "avoid",
    "nicht",
    "kein",
    "ne pas",
    "n'utilise",
    "pas pour",
    "no usar",
    "no para",
    "no us",
    "不要",
    "不用于",
    "使わない",
    "対象外",
];
/// What a text says that takes a hint for a right.
const CLAIMS: [&str; 8] = [
    "without asking",
    "no confirmation",
    "pre-approved",
    "preapproved",
    "you have permission",
    "are allowed to run",
    "permission is granted",
    "auto-approve",
];

/// Looks at a package; findings in the order of the rules.
#[must_use]
pub fn lint(input: &LintInput<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    let mut say = |rule, line, cause: String, fix| out.push(Finding { rule, line, cause, fix });
    let LintInput { folder, manifest, body, meta, cases } = *input;
    if manifest.name != folder {
        let cause = format!("the folder is “{folder}”, the name “{}”", manifest.name);
        say(Rule::FolderIsName, None, cause, "give both the same name");
    }
    let description = manifest.description.to_lowercase();
    let length = description.chars().count();
    if length < DESCRIPTION_MIN {
        let cause = format!("the description has {length} characters");
        say(Rule::DescriptionWhat, None, cause, "say in a sentence what the skill does");
    }
    if !holds(&description, &WHEN) {
        let cause = "the description does not say when to use the skill".to_owned();
        say(Rule::DescriptionWhen, None, cause, "add “Use when …”");
    }
    if !holds(&description, &WHEN_NOT) {
        let cause = "the description does not say when not to use the skill".to_owned();
        say(Rule::DescriptionWhenNot, None, cause, "add “Do not use for …”");
    }
    let lower = body.to_lowercase();
    if !body.lines().any(is_step) {
        let cause = "the body has no list of steps".to_owned();
        say(Rule::BodySteps, None, cause, "write the steps as a numbered list");
    }
    for part in &PARTS {
        if !holds(&lower, part.words) {
            say(part.rule, None, part.cause.to_owned(), part.fix);
        }
    }
    let lines = body.lines().count();
    if lines > BODY_LINES_MAX {
        let cause = format!("the body has {lines} lines");
        say(Rule::ReferencesOutside, None, cause, "move what is not needed each time into references/");
    }
    for (line, length) in long_blocks(body) {
        let cause = format!("a code block of {length} lines begins here");
        say(Rule::ReferencesOutside, Some(line), cause, "move it into references/ or assets/ and name it");
    }
    for hint in manifest.tool_hints.iter().filter(|hint| *hint == "*" || hint.ends_with("(*)")) {
        let cause = format!("“{hint}” asks for everything; a hint gives nothing, and this one says nothing");
        say(Rule::ToolsAreHints, None, cause, "name the tools that the steps use");
    }
    for (n, line) in lower.lines().enumerate().filter(|(_, line)| holds(line, &CLAIMS)) {
        let cause = format!("“{}” reads as a right, and a skill has none", kernel::clip::label(line.trim(), 80));
        say(Rule::ToolsAreHints, Some(n + 1), cause, "say which tool helps; the person's review decides");
    }
    for (line, vendor) in vendor_lines(&lower) {
        let cause = format!("“{vendor}” is named outside a section of its own");
        say(Rule::VendorAdapter, Some(line), cause, "put what only holds there under a heading that names it");
    }
    for trigger in meta.triggers.iter().filter(|t| !is_trigger(t)) {
        let cause = format!("the trigger “{trigger}” is never heard");
        say(Rule::Triggers, None, cause, "use two words, one of six letters, or three characters without spaces");
    }
    for error in meta.include_paths.iter().chain(&meta.exclude_paths).filter_map(|p| check_glob(p).err()) {
        say(Rule::Paths, None, error.to_string(), "use *, **, ? and {a,b} only");
    }
    for kind in cases.missing() {
        let cause = format!("there is no case of the kind {kind:?}");
        say(Rule::CaseSet, None, cause, "add one: without it the skill cannot be reviewed");
    }
    out.sort_by_key(|f| (f.rule, f.line));
    out.truncate(FINDINGS_MAX);
    out
}

/// Looks at a whole `SKILL.md` in a folder of this name: read, tried with the objectives that its
/// name makes, and held against the rules. `None` where it cannot even be read.
#[must_use]
pub fn lint_file(folder: &str, bytes: &[u8]) -> Option<Vec<Finding>> {
    let seen = inspect(folder, bytes, bytes.len() as u64);
    let manifest = seen.manifest.as_ref()?;
    let body = std::str::from_utf8(bytes.get(seen.body.clone())?).ok()?;
    let meta = SkillMeta::of_package(manifest, seen.digest, body.len(), Review::Unreviewed).ok()?;
    Some(lint(&LintInput { folder, manifest, body, meta: &meta, cases: &tried(&meta) }))
}

fn holds(text: &str, words: &[&str]) -> bool {
    words.iter().any(|w| text.contains(w))
}

fn is_step(line: &str) -> bool {
    let line = line.trim_start();
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let numbered = digits > 0 && line[digits..].starts_with(['.', ')', '、', '．']);
    numbered || line.starts_with("- ") || line.starts_with("* ")
}

/// Code blocks over the bound: their first line and their length.
fn long_blocks(body: &str) -> Vec<(usize, usize)> {
    let (mut out, mut open) = (Vec::new(), None::<usize>);
    for (n, line) in body.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            match open.take() {
                None => open = Some(n),
                Some(from) if n - from - 1 > BLOCK_LINES_MAX => out.push((from + 1, n - from - 1)),
                Some(_) => {}
            }
        }
    }
    out
}

/// Lines that name a vendor outside a section whose heading names it.
fn vendor_lines(lower: &str) -> Vec<(usize, &'static str)> {
    let (mut out, mut heading) = (Vec::new(), "");
    for (n, line) in lower.lines().enumerate() {
        if line.starts_with('#') {
            heading = line;
            continue;
        }
        for vendor in VENDORS {
            let named = line.split(|c: char| !c.is_alphanumeric()).any(|word| word == vendor);
            if named && !heading.contains(vendor) {
                out.push((n + 1, vendor));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faculty::BUILT_IN;
    use crate::packages::review::{CaseKind, CaseResult};

    fn manifest(name: &str, description: &str) -> Manifest {
        Manifest {
            name: name.into(),
            description: description.into(),
            license: None,
            compatibility: None,
            metadata: vec![],
            tool_hints: vec![],
            extra: vec![],
        }
    }

    fn full() -> CaseSet {
        let mut cases = CaseSet::default();
        for kind in CaseKind::ALL {
            cases.put(kind, CaseResult::Ran { passed: 1, failed: 0 });
        }
        cases
    }

    const BODY: &str = "Needs the path of a tide table; ask for it when it is missing.\n\n1. Read it once.\n2. Write the next five \
                        tides as a list.\n3. Check each time against the table. If one is missing, say so and stop.\n";

    fn rules(folder: &str, manifest: &Manifest, body: &str, cases: &CaseSet) -> Vec<Rule> {
        let meta = BUILT_IN[0].meta().expect("meta");
        lint(&LintInput { folder, manifest, body, meta: &meta, cases }).into_iter().map(|f| f.rule).collect()
    }

    #[test]
    fn a_package_as_the_rules_want_it_has_no_finding() {
        let good = manifest("tide-table", "Lists the next tides. Use when asked about tides. Do not use for weather.");
        assert_eq!(rules("tide-table", &good, BODY, &full()), []);
    }

    #[test]
    fn a_whole_file_is_read_tried_and_held_against_the_rules() {
        let file =
            |description: &str, body: &str| format!("---\nname: tide-table\ndescription: {description}\n---\n{body}");
        let good = file("Lists the next tides. Use when asked about tides. Do not use for weather.", BODY);
        assert_eq!(lint_file("tide-table", good.as_bytes()), Some(vec![]));
        let poor = lint_file("tides", file("Tides.", "Tides.").as_bytes()).expect("readable");
        assert_eq!(poor[0].rule, Rule::FolderIsName);
        assert!(poor.iter().all(|f| f.rule != Rule::CaseSet), "its name made every case: {poor:?}");
        assert_eq!(lint_file("tide-table", b"no frontmatter"), None);
        assert_eq!(lint_file("tide-table", &[0xff, 0xfe]), None);
    }

    #[test]
    fn each_rule_finds_what_it_is_about() {
        let good = manifest("tide-table", "Lists the next tides. Use when asked about tides. Do not use for weather.");
        assert_eq!(rules("tides", &good, BODY, &full()), [Rule::FolderIsName]);
        let short = manifest("tide-table", "Tides.");
        assert_eq!(
            rules("tide-table", &short, BODY, &full()),
            [Rule::DescriptionWhat, Rule::DescriptionWhen, Rule::DescriptionWhenNot]
        );
        assert_eq!(
            rules("tide-table", &good, "Tides.", &full()),
            [
                Rule::BodyInputs,
                Rule::BodySteps,
                Rule::BodyBounded,
                Rule::BodyOutputs,
                Rule::BodyStop,
                Rule::BodyValidation,
                Rule::BodyFailure
            ]
        );
        let long = format!("{BODY}{}", "word\n".repeat(BODY_LINES_MAX));
        assert_eq!(rules("tide-table", &good, &long, &full()), [Rule::ReferencesOutside]);
        let block = format!("{BODY}```\n{}```\n", "x\n".repeat(BLOCK_LINES_MAX + 1));
        assert_eq!(rules("tide-table", &good, &block, &full()), [Rule::ReferencesOutside]);
        let greedy = Manifest { tool_hints: vec!["Bash(*)".into()], ..good.clone() };
        assert_eq!(rules("tide-table", &greedy, BODY, &full()), [Rule::ToolsAreHints]);
        let claim = format!("{BODY}Run the tool without asking.\n");
        assert_eq!(rules("tide-table", &good, &claim, &full()), [Rule::ToolsAreHints]);
        let vendor = format!("{BODY}In Cursor press F1.\n## Cursor\nIn Cursor press F2.\n");
        assert_eq!(rules("tide-table", &good, &vendor, &full()), [Rule::VendorAdapter]);
        assert_eq!(rules("tide-table", &good, BODY, &CaseSet::default()), [Rule::CaseSet; 7]);
        let mut meta = BUILT_IN[0].meta().expect("meta");
        meta.triggers = vec!["go".into(), "总结".into()];
        meta.include_paths = vec!["[a]".into()];
        let found = lint(&LintInput { folder: "tide-table", manifest: &good, body: BODY, meta: &meta, cases: &full() });
        assert_eq!(found.iter().map(|f| f.rule).collect::<Vec<_>>(), [Rule::Triggers, Rule::Triggers, Rule::Paths]);
    }
}
