//! The live registries: packages, apps, commands, guidance. Plain maps; the [`crate::Kernel`]
//! that owns them raises one revision on every change (I-135), and rows carry the revision
//! they were built from.

use crate::ids::{ActionId, AppId, CommandName, Digest, PackageId, Rev, SkillId, SurfaceId, ToolName};
use crate::refusal::Refusal;
use std::collections::{BTreeMap, BTreeSet};

/// Most packages, apps, commands and guidances registered, each.
pub const ENTRIES_MAX: usize = 512;
/// Most guidance skills: five roots of 256 packages each (engine.md §2.12).
pub const GUIDANCE_MAX: usize = 5 * 256;
/// Longest title, in bytes.
pub const TITLE_MAX: usize = 120;
/// Longest summary, in bytes: 1,024 code points of the format.
pub const SUMMARY_MAX: usize = 4096;
/// Most actions or views of one app.
pub const PER_APP_MAX: usize = 64;

/// Whether a package is there, and on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageState {
    /// Installed.
    Present {
        /// Switched on.
        enabled: bool,
    },
    /// Known by name only: its files are gone.
    Missing,
    /// Its source no longer lists it.
    Orphaned,
}

/// A package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Identity.
    pub id: PackageId,
    /// Name for people.
    pub title: String,
    /// State.
    pub state: PackageState,
    /// Digest of its content.
    pub digest: Digest,
    /// Revision of its last change.
    pub rev: Rev,
}

/// Where an app shows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AppKind {
    Window,
    Background,
    Overlay,
    Hidden,
}

/// A manifest action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestAction {
    /// Identity inside the app.
    pub id: ActionId,
    /// Name for people.
    pub title: String,
}

/// A view inside an app that can be gone to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subsurface {
    /// Identity inside the app.
    pub id: SurfaceId,
    /// Name for people.
    pub title: String,
}

/// An app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppEntry {
    /// Identity.
    pub id: AppId,
    /// Owner.
    pub package: PackageId,
    /// Digest of the owner's content when the app was registered; another one means stale.
    pub package_digest: Digest,
    /// Name for people.
    pub title: String,
    /// Icon, by name.
    pub icon: &'static str,
    /// Can be opened.
    pub launchable: bool,
    /// Kind.
    pub kind: AppKind,
    /// Actions.
    pub actions: Vec<ManifestAction>,
    /// Views.
    pub surfaces: Vec<Subsurface>,
    /// Tools it declares it uses.
    pub tools: BTreeSet<ToolName>,
    /// Revision of its last change.
    pub rev: Rev,
}

/// State of an app's surface (engine.md §2.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum SurfaceState {
    Live,
    Stale,
    Missing,
    Orphaned,
    Hidden,
    Background,
    Overlay,
    Disabled,
}

/// One slot of a command's arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgSlot {
    /// Name, shown in the hint.
    pub name: &'static str,
    /// What it takes.
    pub kind: ArgKind,
    /// It must be given.
    pub required: bool,
}

/// What a slot takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    /// Anything; the last slot takes the rest of the line.
    Text,
    /// One of these.
    Enum(Vec<String>),
    /// A package's id.
    Package,
    /// An app's id.
    App,
}

/// A command of the bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// Identity.
    pub name: CommandName,
    /// Owner.
    pub owner: PackageId,
    /// Name for people.
    pub title: String,
    /// It may be found and run from the palette; off unless the owner opts in (T-170).
    pub opt_in_search: bool,
    /// Arguments.
    pub args: Vec<ArgSlot>,
    /// Revision of its last change.
    pub rev: Rev,
}

/// A command as a caller knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRef {
    /// Name.
    pub name: CommandName,
    /// Revision it was seen at.
    pub rev: Rev,
}

/// How guidance came to be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Review {
    /// Ships with the product.
    BuiltIn,
    /// A person reviewed exactly these bytes.
    HumanReviewed {
        /// Digest of what was reviewed.
        binding: Digest,
    },
    /// Nobody did.
    Unreviewed,
}

/// A skill as the kernel knows it; bodies live elsewhere (`design.md`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guidance {
    /// Identity.
    pub id: SkillId,
    /// Owner.
    pub package: PackageId,
    /// Name for people.
    pub title: String,
    /// One line.
    pub summary: String,
    /// Switched on.
    pub enabled: bool,
    /// Why it cannot be used whatever a review says: its row stays, disabled (I-150).
    pub problem: Option<String>,
    /// Review.
    pub review: Review,
    /// Digest of its current bytes.
    pub digest: Digest,
    /// Revision of its last change.
    pub rev: Rev,
}

impl Guidance {
    /// True when its current bytes are what was reviewed (I-117, I-156).
    #[must_use]
    pub fn is_reviewed(&self) -> bool {
        match &self.review {
            Review::BuiltIn => true,
            Review::HumanReviewed { binding } => *binding == self.digest,
            Review::Unreviewed => false,
        }
    }
}

/// Refusals of the registries (engine.md §2.6).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegistryRefusal {
    /// The app's package changed since it was registered.
    #[error("the app {0} belongs to an older version of its package")]
    AppStale(AppId),
    /// No such app, or its package's files are gone.
    #[error("there is no app {0} here")]
    AppMissing(String),
    /// Its package is no longer listed by its source.
    #[error("the app {0} has lost its package")]
    AppOrphaned(AppId),
    /// It does not show itself.
    #[error("the app {0} has no window of its own")]
    AppHidden(AppId),
    /// It runs without a window.
    #[error("the app {0} runs in the background and has no window")]
    AppBackground(AppId),
    /// It shows itself only over others.
    #[error("the app {0} appears only over other windows")]
    AppOverlay(AppId),
    /// The package is switched off.
    #[error("the package {0} is switched off")]
    PackageDisabled(PackageId),
    /// No such command, action or view.
    #[error("there is no command {0}")]
    CommandUnknown(String),
    /// It did not opt in.
    #[error("the command {0} cannot be run from here")]
    CommandNotOptedIn(CommandName),
    /// It changed since it was seen.
    #[error("{name} changed since it was shown (revision {seen:?}, now {now:?})")]
    RevisionMismatch {
        /// Name.
        name: String,
        /// Seen.
        seen: Rev,
        /// Current.
        now: Rev,
    },
    /// Somebody else's.
    #[error("{0} is owned by another package")]
    NotOwner(String),
    /// The owner is not registered.
    #[error("the package {0} is not registered")]
    PackageUnknown(PackageId),
    /// Over a bound.
    #[error("there is room for {ENTRIES_MAX} entries, {GUIDANCE_MAX} skills and {PER_APP_MAX} actions or views an app")]
    RegistryFull,
}

impl RegistryRefusal {
    /// The spec's name.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::AppStale(_) => "AppStale",
            Self::AppMissing(_) => "AppMissing",
            Self::AppOrphaned(_) => "AppOrphaned",
            Self::AppHidden(_) => "AppHidden",
            Self::AppBackground(_) => "AppBackground",
            Self::AppOverlay(_) => "AppOverlay",
            Self::PackageDisabled(_) => "PackageDisabled",
            Self::CommandUnknown(_) => "CommandUnknown",
            Self::CommandNotOptedIn(_) => "CommandNotOptedIn",
            Self::RevisionMismatch { .. } => "RevisionMismatch",
            Self::NotOwner(_) => "NotOwner",
            Self::PackageUnknown(_) => "PackageUnknown",
            Self::RegistryFull => "RegistryFull",
        }
    }
}

impl From<RegistryRefusal> for Refusal {
    fn from(e: RegistryRefusal) -> Self {
        Self::new(e.code(), "The request", "something that is registered, current and switched on", &e.to_string())
    }
}

/// Packages by id: who owns what, and what is switched on.
#[derive(Clone, Debug, Default)]
pub struct PackageManager {
    pub(crate) map: BTreeMap<PackageId, Package>,
}

impl PackageManager {
    /// One package.
    #[must_use]
    pub fn get(&self, id: &PackageId) -> Option<&Package> {
        self.map.get(id)
    }
    /// All, in id order.
    pub fn iter(&self) -> impl Iterator<Item = &Package> {
        self.map.values()
    }
    /// Present and switched on.
    #[must_use]
    pub fn is_enabled(&self, id: &PackageId) -> bool {
        self.map.get(id).is_some_and(|p| p.state == PackageState::Present { enabled: true })
    }
}

/// Apps by id.
#[derive(Clone, Debug, Default)]
pub struct AppRegistry {
    pub(crate) map: BTreeMap<AppId, AppEntry>,
}

impl AppRegistry {
    /// One app.
    #[must_use]
    pub fn get(&self, id: &AppId) -> Option<&AppEntry> {
        self.map.get(id)
    }
    /// All, in id order.
    pub fn iter(&self) -> impl Iterator<Item = &AppEntry> {
        self.map.values()
    }
    /// State of an app's surface.
    #[must_use]
    pub fn surface_state(&self, app: &AppEntry, packages: &PackageManager) -> SurfaceState {
        let Some(p) = packages.get(&app.package) else { return SurfaceState::Orphaned };
        match (p.state, app.kind) {
            (PackageState::Missing, _) => SurfaceState::Missing,
            (PackageState::Orphaned, _) => SurfaceState::Orphaned,
            (PackageState::Present { enabled: false }, _) => SurfaceState::Disabled,
            (_, AppKind::Hidden) => SurfaceState::Hidden,
            (_, AppKind::Background) => SurfaceState::Background,
            (_, AppKind::Overlay) => SurfaceState::Overlay,
            _ if p.digest != app.package_digest => SurfaceState::Stale,
            _ => SurfaceState::Live,
        }
    }
    /// The app, if its surface is live.
    ///
    /// # Errors
    /// The refusal that belongs to its state.
    pub fn live(&self, id: &AppId, packages: &PackageManager) -> Result<&AppEntry, RegistryRefusal> {
        let app = self.map.get(id).ok_or_else(|| RegistryRefusal::AppMissing(id.to_string()))?;
        Err(match self.surface_state(app, packages) {
            SurfaceState::Live => return Ok(app),
            SurfaceState::Stale => RegistryRefusal::AppStale(id.clone()),
            SurfaceState::Missing => RegistryRefusal::AppMissing(id.to_string()),
            SurfaceState::Orphaned => RegistryRefusal::AppOrphaned(id.clone()),
            SurfaceState::Hidden => RegistryRefusal::AppHidden(id.clone()),
            SurfaceState::Background => RegistryRefusal::AppBackground(id.clone()),
            SurfaceState::Overlay => RegistryRefusal::AppOverlay(id.clone()),
            SurfaceState::Disabled => RegistryRefusal::PackageDisabled(app.package.clone()),
        })
    }
}

/// Commands by name.
#[derive(Clone, Debug, Default)]
pub struct CommandBus {
    pub(crate) map: BTreeMap<CommandName, Command>,
}

impl CommandBus {
    /// One command.
    #[must_use]
    pub fn get(&self, name: &CommandName) -> Option<&Command> {
        self.map.get(name)
    }
    /// All, in name order.
    pub fn iter(&self) -> impl Iterator<Item = &Command> {
        self.map.values()
    }
    /// The command, if it may be dispatched from search by somebody who saw it at that revision.
    ///
    /// # Errors
    /// `CommandUnknown`, `CommandNotOptedIn`, `RevisionMismatch`, `PackageDisabled`.
    pub fn dispatch(&self, r: &CommandRef, packages: &PackageManager) -> Result<&Command, RegistryRefusal> {
        let c = self.map.get(&r.name).ok_or_else(|| RegistryRefusal::CommandUnknown(r.name.to_string()))?;
        if !packages.is_enabled(&c.owner) {
            return Err(RegistryRefusal::PackageDisabled(c.owner.clone()));
        }
        if !c.opt_in_search {
            return Err(RegistryRefusal::CommandNotOptedIn(r.name.clone()));
        }
        if c.rev != r.rev {
            return Err(RegistryRefusal::RevisionMismatch { name: r.name.to_string(), seen: r.rev, now: c.rev });
        }
        Ok(c)
    }
}

/// Guidance by id.
#[derive(Clone, Debug, Default)]
pub struct GuidanceRegistry {
    pub(crate) map: BTreeMap<SkillId, Guidance>,
}

impl GuidanceRegistry {
    /// One skill.
    #[must_use]
    pub fn get(&self, id: &SkillId) -> Option<&Guidance> {
        self.map.get(id)
    }
    /// All, in id order.
    pub fn iter(&self) -> impl Iterator<Item = &Guidance> {
        self.map.values()
    }
}

#[cfg(test)]
mod tests;
