//! The catalogue: rows read off the live registries.

use super::{ALIAS_MAX, ROWS_MAX, SlashRefusal};
use crate::Kernel;
use crate::ids::{ActionId, AppId, CommandName, Digest, Rev, SkillId, SurfaceId, ToolName};
use crate::registry::{AppEntry, ArgKind, ArgSlot, RegistryRefusal, Review, SurfaceState};
use crate::tools::ToolRefusal;
use std::collections::{BTreeMap, BTreeSet};

/// What a row is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RowKind {
    App(AppId),
    Action(AppId, ActionId),
    Go(AppId, SurfaceId),
    Command(CommandName),
    Tool(ToolName),
    Skill(SkillId),
}

impl RowKind {
    /// The head of its canonical name.
    #[must_use]
    pub fn head(&self) -> &'static str {
        match self {
            Self::App(_) => "app",
            Self::Action(..) => "action",
            Self::Go(..) => "go",
            Self::Command(_) => "cmd",
            Self::Tool(_) => "tool",
            Self::Skill(_) => "skill",
        }
    }
    /// Its place in the list of everything: what a person most likely wants comes first.
    #[must_use]
    pub fn group(&self) -> u8 {
        match self {
            Self::App(_) => 0,
            Self::Tool(_) => 1,
            Self::Skill(_) => 2,
            Self::Action(..) => 3,
            Self::Go(..) => 4,
            Self::Command(_) => 5,
        }
    }
    /// It acts here and never reaches a model (I-153).
    #[must_use]
    pub fn is_local(&self) -> bool {
        !matches!(self, Self::Tool(_) | Self::Skill(_))
    }
}

/// All heads; no alias may be one of them.
pub(super) const HEADS: [&str; 6] = ["app", "action", "go", "cmd", "tool", "skill"];

/// Which registry a row was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum RegistryKind {
    Apps,
    Commands,
    Tools,
    Guidance,
}

/// Where a row comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Registry.
    pub registry: RegistryKind,
    /// Package that owns it.
    pub package: String,
    /// Revision of the entry.
    pub rev: Rev,
}

/// One row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlashRow {
    /// `/app:files`, `/tool:files.read` …
    pub canonical: String,
    /// What it is.
    pub kind: RowKind,
    /// Name for people.
    pub title: String,
    /// Icon, by name.
    pub icon: &'static str,
    /// Origin.
    pub source: Source,
    /// Digest of everything that a submission relies on.
    pub digest: Digest,
    /// Short name, while it is unique (I-151).
    pub alias: Option<String>,
    /// Arguments.
    pub args: Vec<ArgSlot>,
    /// Why it cannot be used now.
    pub disabled: Option<String>,
    /// Its tool changes something.
    pub mutates: bool,
    pub(super) name_lower: String,
    pub(super) title_lower: String,
}

impl SlashRow {
    /// The part behind the qualifier.
    #[must_use]
    pub fn name(&self) -> &str {
        self.canonical.split_once(':').map_or("", |(_, n)| n)
    }
    /// The last segment: what a short name would be.
    #[must_use]
    pub fn short(&self) -> &str {
        self.canonical.rsplit(':').next().unwrap_or("")
    }
    /// It takes nothing after its name, so a pick runs it (decision 17).
    #[must_use]
    pub fn runs_on_pick(&self) -> bool {
        self.kind.is_local() && self.args.is_empty()
    }
}

/// What the moment offers: for whom tools are eligible and what is available.
#[derive(Clone, Debug)]
pub struct Situation {
    /// The app that runs turns.
    pub agent: AppId,
    /// Affordances available now (`mount` …).
    pub affordances: BTreeSet<String>,
}

/// A projection of the registries at one revision.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// The kernel's revision it was read at.
    pub rev: Rev,
    /// Rows in canonical order.
    pub rows: Vec<SlashRow>,
    /// Rows beyond [`ROWS_MAX`] that were left out.
    pub left_out: usize,
}

fn task_slot() -> Vec<ArgSlot> {
    vec![ArgSlot { name: "task", kind: ArgKind::Text, required: true }]
}

impl Catalog {
    /// Reads the registries.
    #[must_use]
    pub fn project(kernel: &Kernel, now: &Situation) -> Self {
        let mut rows = Vec::new();
        for app in kernel.apps().iter() {
            app_rows(kernel, app, &mut rows);
        }
        for c in kernel.commands().iter().filter(|c| c.opt_in_search && kernel.packages().is_enabled(&c.owner)) {
            let source = Source { registry: RegistryKind::Commands, package: c.owner.to_string(), rev: c.rev };
            let kind = RowKind::Command(c.name.clone());
            rows.push(row(format!("/cmd:{}", c.name), kind, &c.title, "command", source, c.args.clone(), None, &[]));
        }
        let router = kernel.router();
        for t in kernel.tools().iter().filter(|t| kernel.packages().is_enabled(&t.source.owner)) {
            let name = &t.source.name;
            let missing = t
                .source
                .affordances
                .difference(&now.affordances)
                .next()
                .map(|a| ToolRefusal::AffordanceMissing { tool: name.clone(), affordance: a.clone() }.to_string());
            let disabled = router.eligible(name, &now.agent).err().map(|e| e.to_string()).or(missing);
            let source = Source { registry: RegistryKind::Tools, package: t.source.owner.to_string(), rev: t.rev };
            let (canonical, kind) = (format!("/tool:{name}"), RowKind::Tool(name.clone()));
            let made = row(canonical, kind, &t.source.title, "tool", source, task_slot(), disabled, &t.digest.0);
            rows.push(SlashRow { mutates: t.source.class.mutates(), ..made });
        }
        for g in kernel.guidance().iter().filter(|g| kernel.packages().is_enabled(&g.package)) {
            let disabled = skill_problem(g).map(str::to_owned);
            let source = Source { registry: RegistryKind::Guidance, package: g.package.to_string(), rev: g.rev };
            let (canonical, kind) = (format!("/skill:{}", g.id), RowKind::Skill(g.id.clone()));
            rows.push(row(canonical, kind, &g.title, "skill", source, task_slot(), disabled, &g.digest.0));
        }
        rows.sort_by(|a, b| a.canonical.cmp(&b.canonical));
        // Counted over all rows, also those that are left out: a short name is unique or it is
        // not (I-151).
        let mut uses: BTreeMap<&str, u32> = BTreeMap::new();
        for r in &rows {
            *uses.entry(r.short()).or_default() += 1;
        }
        let aliases: Vec<Option<String>> = rows
            .iter()
            .map(|r| r.short())
            .map(|s| (uses[s] == 1 && !HEADS.contains(&s) && s.chars().count() <= ALIAS_MAX).then(|| s.to_owned()))
            .collect();
        for (r, a) in rows.iter_mut().zip(aliases) {
            r.alias = a;
        }
        let left_out = rows.len().saturating_sub(ROWS_MAX);
        rows.truncate(ROWS_MAX);
        Self { rev: kernel.rev(), rows, left_out }
    }

    /// The row with this canonical name.
    #[must_use]
    pub fn get(&self, canonical: &str) -> Option<&SlashRow> {
        self.rows.binary_search_by(|r| r.canonical.as_str().cmp(canonical)).ok().map(|i| &self.rows[i])
    }

    /// The row that a typed name means: canonical, or a short name while it is unique.
    ///
    /// # Errors
    /// `SlashUnknown`, `SlashAliasAmbiguous`.
    pub fn resolve(&self, name: &str) -> Result<&SlashRow, SlashRefusal> {
        if let Some(r) = self.get(&format!("/{name}")) {
            return Ok(r);
        }
        if let Some(r) = self.rows.iter().find(|r| r.alias.as_deref() == Some(name)) {
            return Ok(r);
        }
        let candidates: Vec<String> =
            self.rows.iter().filter(|r| r.short() == name).take(8).map(|r| r.canonical.clone()).collect();
        if candidates.len() > 1 {
            return Err(SlashRefusal::SlashAliasAmbiguous { name: name.to_owned(), candidates });
        }
        Err(SlashRefusal::SlashUnknown(format!("/{}", crate::clip::label(name, ALIAS_MAX))))
    }

    /// Reloads the registries and compares: the row as it was shown must be the row as it is
    /// (I-152).
    ///
    /// # Errors
    /// Why the row is gone, disabled or different.
    pub fn revalidate(kernel: &Kernel, now: &Situation, shown: &SlashRow) -> Result<SlashRow, SlashRefusal> {
        let live = Self::project(kernel, now);
        let Some(r) = live.get(&shown.canonical) else { return Err(why_gone(kernel, now, shown)) };
        if r.disabled.is_some() {
            return Err(why_gone(kernel, now, shown));
        }
        if r.digest != shown.digest {
            return Err(SlashRefusal::SlashStale { name: shown.canonical.clone(), rev: live.rev });
        }
        Ok(r.clone())
    }
}

fn skill_problem(g: &crate::registry::Guidance) -> Option<&str> {
    match &g.review {
        _ if g.problem.is_some() => g.problem.as_deref(),
        _ if !g.enabled => Some("the skill is switched off"),
        Review::Unreviewed => Some("the skill was not reviewed yet"),
        Review::HumanReviewed { binding } if *binding != g.digest => Some("the skill changed since it was reviewed"),
        Review::HumanReviewed { .. } | Review::BuiltIn => None,
    }
}

/// Why a typed name has no row, where a registry knows: a surface that shows no row, a package
/// that is switched off, a command that did not opt in. `None` for a name nobody knows.
pub(super) fn why_absent(kernel: &Kernel, now: &Situation, name: &str) -> Option<SlashRefusal> {
    let (head, id) = name.split_once(':')?;
    let app = |id: &str| AppId::new(id).ok().and_then(|id| kernel.apps().get(&id));
    match head {
        "app" | "action" | "go" => {
            let entry = app(id.split(':').next()?)?;
            let why = match kernel.apps().live(&entry.id, kernel.packages()) {
                Err(e) => e,
                Ok(a) if head == "app" && !a.launchable => RegistryRefusal::AppHidden(a.id.clone()),
                Ok(_) => return None,
            };
            Some(SlashRefusal::SlashSurface(why))
        }
        "cmd" => {
            let c = kernel.commands().get(&CommandName::new(id).ok()?)?;
            Some(if kernel.packages().is_enabled(&c.owner) {
                SlashRefusal::SlashNotOptedIn(c.name.to_string())
            } else {
                SlashRefusal::SlashSurface(RegistryRefusal::PackageDisabled(c.owner.clone()))
            })
        }
        "tool" => {
            let t = kernel.tools().get(&ToolName::new(id).ok()?)?;
            let why = kernel.router().eligible(&t.source.name, &now.agent).err()?.to_string();
            Some(SlashRefusal::SlashToolIneligible { why })
        }
        "skill" => {
            kernel.guidance().get(&SkillId::new(id).ok()?)?;
            Some(SlashRefusal::SlashSkillIneligible { why: "its package is switched off".to_owned() })
        }
        _ => None,
    }
}

/// Why a row that was shown cannot be used now.
pub(super) fn why_gone(kernel: &Kernel, now: &Situation, shown: &SlashRow) -> SlashRefusal {
    let unknown = || SlashRefusal::SlashUnknown(shown.canonical.clone());
    match &shown.kind {
        RowKind::App(a) | RowKind::Action(a, _) | RowKind::Go(a, _) => match kernel.apps().live(a, kernel.packages()) {
            Err(e) => SlashRefusal::SlashSurface(e),
            Ok(_) => SlashRefusal::SlashSurface(RegistryRefusal::CommandUnknown(shown.canonical.clone())),
        },
        RowKind::Command(c) => match kernel.commands().get(c) {
            Some(c) if !kernel.packages().is_enabled(&c.owner) => {
                SlashRefusal::SlashSurface(RegistryRefusal::PackageDisabled(c.owner.clone()))
            }
            Some(c) if !c.opt_in_search => SlashRefusal::SlashNotOptedIn(c.name.to_string()),
            _ => unknown(),
        },
        RowKind::Tool(t) => match kernel.router().eligible(t, &now.agent) {
            Err(e) => SlashRefusal::SlashToolIneligible { why: e.to_string() },
            Ok(d) => {
                let a = d.source.affordances.difference(&now.affordances).next().cloned().unwrap_or_default();
                let why = ToolRefusal::AffordanceMissing { tool: t.clone(), affordance: a }.to_string();
                SlashRefusal::SlashToolIneligible { why }
            }
        },
        RowKind::Skill(s) => {
            let why = match kernel.guidance().get(s) {
                None => "it is no longer there",
                Some(g) if !kernel.packages().is_enabled(&g.package) => "its package is switched off",
                Some(g) => skill_problem(g).unwrap_or("it changed"),
            };
            SlashRefusal::SlashSkillIneligible { why: why.to_owned() }
        }
    }
}

#[allow(clippy::too_many_arguments)]
fn row(
    canonical: String,
    kind: RowKind,
    title: &str,
    icon: &'static str,
    source: Source,
    args: Vec<ArgSlot>,
    disabled: Option<String>,
    content: &[u8],
) -> SlashRow {
    let digest = Digest::of_parts(&[canonical.as_bytes(), &source.rev.0.to_le_bytes(), content]);
    let name_lower = canonical.split_once(':').map_or("", |(_, n)| n).to_lowercase();
    let title_lower = title.to_lowercase();
    SlashRow {
        canonical,
        kind,
        title: title.to_owned(),
        icon,
        source,
        digest,
        alias: None,
        args,
        disabled,
        mutates: false,
        name_lower,
        title_lower,
    }
}

fn app_rows(kernel: &Kernel, app: &AppEntry, rows: &mut Vec<SlashRow>) {
    let state = kernel.apps().surface_state(app, kernel.packages());
    let disabled = match state {
        SurfaceState::Live => None,
        SurfaceState::Stale | SurfaceState::Missing | SurfaceState::Orphaned => {
            kernel.apps().live(&app.id, kernel.packages()).err().map(|e| e.to_string())
        }
        SurfaceState::Hidden | SurfaceState::Background | SurfaceState::Overlay | SurfaceState::Disabled => return,
    };
    let source = || Source { registry: RegistryKind::Apps, package: app.package.to_string(), rev: app.rev };
    let content = app.package_digest.0;
    if app.launchable {
        let (canonical, kind) = (format!("/app:{}", app.id), RowKind::App(app.id.clone()));
        rows.push(row(canonical, kind, &app.title, app.icon, source(), vec![], disabled.clone(), &content));
    }
    for a in &app.actions {
        let kind = RowKind::Action(app.id.clone(), a.id.clone());
        let canonical = format!("/action:{}:{}", app.id, a.id);
        rows.push(row(canonical, kind, &a.title, app.icon, source(), vec![], disabled.clone(), &content));
    }
    for s in &app.surfaces {
        let kind = RowKind::Go(app.id.clone(), s.id.clone());
        let canonical = format!("/go:{}:{}", app.id, s.id);
        rows.push(row(canonical, kind, &s.title, app.icon, source(), vec![], disabled.clone(), &content));
    }
}
