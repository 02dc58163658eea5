//! The palette per key at 2,048 rows: what the kernel does for each key of what people type, beside one plain look
//! at every row's name and title for the same text.
#![allow(clippy::print_stdout, reason = "it reports on standard output")]

mod figure;

use figure::Case;
use kernel::registry::{
    AppEntry, AppKind, ArgKind, ArgSlot, Command, Guidance, ManifestAction, PackageState, Review, Subsurface,
};
use kernel::slash::{Catalog, ROWS_MAX, Recency, SHOWN_MAX, SearchManager, Shape, Situation, classify, hint};
use kernel::tools::{Danger, ToolClass, ToolSource};
use kernel::{ActionId, AppId, CommandName, Digest, Kernel, PackageId, Rev, SkillId, SurfaceId, ToolName};
use std::error::Error;

/// design.md §5, in ms.
const BUDGET: f64 = 2.0;
const ROUNDS: usize = 15;
/// Rows that were used before; their recency breaks ties.
const USED: usize = 200;

const PACKAGES: [&str; 16] = [
    "core", "notes", "calendar", "mail", "maps", "photos", "music", "sheets", "terminal", "git", "docs", "weather",
    "tasks", "contacts", "archive", "draw",
];
const VERBS: [&str; 16] = [
    "open",
    "create",
    "delete",
    "rename",
    "export",
    "import",
    "share",
    "search",
    "compare",
    "merge",
    "publish",
    "summarise",
    "translate",
    "schedule",
    "archive",
    "restore",
];
const NOUNS: [&str; 24] = [
    "file",
    "folder",
    "note",
    "page",
    "event",
    "reminder",
    "message",
    "attachment",
    "route",
    "place",
    "album",
    "picture",
    "playlist",
    "track",
    "table",
    "chart",
    "branch",
    "commit",
    "chapter",
    "forecast",
    "checklist",
    "contact",
    "snapshot",
    "drawing",
];
/// What people type, one key after the other: names, parts, qualifiers, gaps, slips, what nobody has.
const TYPED: [&str; 32] = [
    "/notes",
    "/app:notes",
    "/files",
    "/open file",
    "/opfi",
    "/tool:notes.create-note",
    "/tool:mail",
    "/exprt",
    "/translate",
    "/summarise",
    "/skill:summarise",
    "/cmd:git.merge-branch",
    "/cmd:theme dark",
    "/go:calendar:",
    "/action:maps:create",
    "/weather",
    "/WEATHER",
    "/route",
    "/playlist",
    "/pg",
    "/s",
    "/e",
    "/a",
    "/create a note",
    "/contact",
    "/schedule-event",
    "/größe",
    "/日程",
    "/zzqx",
    "/rstr snpsht",
    "/compare.chart",
    "/the quick brown fox jumps over the lazy dog",
];

fn main() -> Result<(), Box<dyn Error>> {
    let kernel = house()?;
    let now = Situation { agent: AppId::new("notes")?, affordances: ["mount".to_owned()].into() };
    let catalog = Catalog::project(&kernel, &now);
    if catalog.rows.len() != ROWS_MAX {
        return Err(format!("{} rows instead of {ROWS_MAX}", catalog.rows.len()).into());
    }
    let recency: Recency =
        catalog.rows.iter().step_by(ROWS_MAX / USED).zip(1..).map(|(r, n)| (r.canonical.clone(), n)).collect();
    let plain: Vec<(String, String)> =
        catalog.rows.iter().map(|r| (r.canonical.to_lowercase(), r.title.to_lowercase())).collect();
    let mut search = SearchManager::default();
    let prefixes = |typed: &'static str| typed.char_indices().map(move |(at, c)| &typed[..at + c.len_utf8()]);
    let mut cases: Vec<Case> = TYPED.into_iter().flat_map(prefixes).map(Case::new).collect();
    for _ in 0..ROUNDS {
        for case in &mut cases {
            let text = case.label.clone();
            let needle = text[1..].to_lowercase();
            let find = |(n, t): &&(String, String)| n.contains(&needle) || t.contains(&needle);
            case.round(|| key(&kernel, &catalog, &mut search, &recency, &text), || plain.iter().filter(find).count());
        }
    }
    figure::report(&format!("palette per key, {ROWS_MAX} rows"), BUDGET, "one plain look at all", cases);
    Ok(())
}

/// What the palette asks of the kernel when its text changed.
fn key(kernel: &Kernel, catalog: &Catalog, search: &mut SearchManager, recency: &Recency, text: &str) -> usize {
    let mut find = |query: &str| {
        let mut hits = search.search(catalog, query, recency);
        hits.truncate(SHOWN_MAX);
        hits.len()
    };
    match classify(text) {
        Shape::Command { name, rest, finished: true } => match catalog.resolve(name) {
            Ok(row) => hint(kernel, row, rest).completions.len(),
            Err(_) => find(text[1..].trim()),
        },
        Shape::Command { name, .. } => find(name),
        Shape::NotCommand(_) | Shape::Plain => find(text.trim_start_matches('/').trim()),
    }
}

/// A house full of apps, tools, skills and commands: exactly [`ROWS_MAX`] rows.
fn house() -> Result<Kernel, Box<dyn Error>> {
    let mut k = Kernel::new();
    let mut rows = 0;
    for p in PACKAGES {
        let package = PackageId::new(p)?;
        k.put_package(package.clone(), p, PackageState::Present { enabled: true }, Digest::of(p.as_bytes()))?;
        let title = |verb: &str, noun: &str| format!("{} the {noun} in {p}", capital(verb));
        // 16 tools a package, 4 of them for the agent: the others stand there with their reason.
        let mut tools = Vec::new();
        for (i, verb) in VERBS.iter().enumerate() {
            let noun = NOUNS[(i * 5 + p.len()) % NOUNS.len()];
            let name = ToolName::new(&format!("{p}.{verb}-{noun}"))?;
            tools.push(name.clone());
            k.put_tool(ToolSource {
                name,
                owner: package.clone(),
                title: title(verb, noun),
                description: format!("{}s the {noun} that is named", capital(verb)),
                schema: r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#.to_owned(),
                class: ToolClass::Read,
                danger: Danger::None,
                capabilities: [].into(),
                affordances: ["mount".to_owned()].into(),
            })?;
        }
        let mut actions = Vec::new();
        let mut surfaces = Vec::new();
        for (i, verb) in VERBS.iter().enumerate().take(8) {
            let noun = NOUNS[(i * 7 + p.len()) % NOUNS.len()];
            actions.push(ManifestAction { id: ActionId::new(&format!("{verb}-{noun}"))?, title: title(verb, noun) });
            surfaces.push(Subsurface { id: SurfaceId::new(&format!("{noun}s"))?, title: format!("All {noun}s") });
        }
        rows += VERBS.len() + 1 + actions.len() + surfaces.len();
        k.put_app(AppEntry {
            id: AppId::new(p)?,
            package: package.clone(),
            package_digest: Digest::of(b""),
            title: capital(p),
            icon: "app",
            launchable: true,
            kind: AppKind::Window,
            actions,
            surfaces,
            tools: tools.into_iter().take(4).collect(),
            rev: Rev(0),
        })?;
        for (i, noun) in NOUNS.iter().enumerate() {
            let verb = VERBS[(i * 3 + p.len()) % VERBS.len()];
            let id = SkillId::new(&format!("{verb}-{noun}-for-{p}"))?;
            let digest = Digest::of(id.as_str().as_bytes());
            k.put_guidance(Guidance {
                id,
                package: package.clone(),
                title: format!("How to {verb} a {noun} well"),
                summary: format!("Steps and pitfalls when you {verb} a {noun}"),
                enabled: i % 8 != 0,
                problem: None,
                review: Review::BuiltIn,
                digest,
                rev: Rev(0),
            })?;
            rows += 1;
        }
    }
    let modes = ["dark", "light", "system"].map(str::to_owned).to_vec();
    let theme = ArgSlot { name: "mode", kind: ArgKind::Enum(modes), required: true };
    let pairs = VERBS.iter().flat_map(|v| NOUNS.iter().map(move |n| (v, n)));
    let all = PACKAGES
        .iter()
        .flat_map(|p| pairs.clone().map(move |(v, n)| (*p, format!("{p}.{v}-{n}"), format!("{} a {n}", capital(v)))));
    // Every fifth pair, so that the names spread over all packages; one has an argument.
    let named = std::iter::once(("core", "theme".to_owned(), "Switch the theme".to_owned())).chain(all.step_by(5));
    for (p, name, title) in named.take(ROWS_MAX - rows) {
        let args = if name == "theme" { vec![theme.clone()] } else { vec![] };
        let (name, owner) = (CommandName::new(&name)?, PackageId::new(p)?);
        k.put_command(Command { name, owner, title, opt_in_search: true, args, rev: Rev(0) })?;
    }
    Ok(k)
}

fn capital(word: &str) -> String {
    let mut c = word.chars();
    c.next().map_or_else(String::new, |first| first.to_uppercase().chain(c).collect())
}
