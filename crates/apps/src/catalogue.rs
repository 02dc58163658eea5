//! The shell's own packages, apps, actions, views and commands: each defined once here and
//! registered in the kernel, so that launcher, palette and help are projections.

use kernel::registry::{
    AppEntry, AppKind, ArgKind, ArgSlot, Command, ManifestAction, PackageState, RegistryRefusal, Subsurface,
};
use kernel::{ActionId, AppId, CommandName, Digest, IdError, Kernel, PackageId, Rev, SurfaceId, ToolName};
use scene::Size;
use ui::Icon;

/// The built-in apps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum AppKey {
    Echo,
    Files,
    Settings,
    Instructions,
    Skills,
}

/// One app's definition.
#[derive(Clone, Copy, Debug)]
pub struct AppDef {
    /// Which.
    pub key: AppKey,
    /// Id of the app and of its package.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Icon.
    pub icon: Icon,
    /// Size of a new window.
    pub size: Size,
    /// Actions: id and title.
    pub actions: &'static [(&'static str, &'static str)],
    /// Views: id and title.
    pub views: &'static [(&'static str, &'static str)],
    /// It can be switched off.
    pub optional: bool,
}

/// All built-in apps, as the launcher lists them.
pub const APPS: [AppDef; 5] = [
    AppDef {
        key: AppKey::Echo,
        id: "ai-echo",
        title: "AI Echo",
        icon: Icon::Echo,
        size: Size::new(980.0, 680.0),
        actions: &[
            ("new-conversation", "New conversation"),
            ("stop", "Stop the answer"),
            ("find", "Find in this conversation"),
            ("export", "Export this conversation as Markdown"),
            ("toggle-list", "Show or hide the list of conversations"),
        ],
        views: &[],
        optional: false,
    },
    AppDef {
        key: AppKey::Files,
        id: "files",
        title: "Files",
        icon: Icon::Folder,
        size: Size::new(820.0, 560.0),
        actions: &[("mount-folder", "Mount a folder"), ("refresh", "Read the folder again")],
        views: &[],
        optional: true,
    },
    AppDef {
        key: AppKey::Settings,
        id: "settings",
        title: "Settings",
        icon: Icon::Sliders,
        size: Size::new(760.0, 600.0),
        actions: &[],
        views: &[
            ("appearance", "Appearance"),
            ("model", "On-device model"),
            ("provider", "Remote model"),
            ("input", "Input method"),
            ("storage", "Storage"),
            ("packages", "Packages"),
            ("refusals", "Refusals"),
        ],
        optional: false,
    },
    AppDef {
        key: AppKey::Instructions,
        id: "instructions",
        title: "Instructions",
        icon: Icon::File,
        size: Size::new(760.0, 560.0),
        actions: &[("read", "Read the instruction files again")],
        views: &[],
        optional: true,
    },
    AppDef {
        key: AppKey::Skills,
        id: "skills",
        title: "Skills",
        icon: Icon::Skill,
        size: Size::new(960.0, 640.0),
        actions: &[("look", "Look for skills again")],
        views: &[],
        optional: true,
    },
];

impl AppKey {
    /// Its definition.
    #[must_use]
    pub fn def(self) -> &'static AppDef {
        match self {
            Self::Echo => &APPS[0],
            Self::Files => &APPS[1],
            Self::Settings => &APPS[2],
            Self::Instructions => &APPS[3],
            Self::Skills => &APPS[4],
        }
    }
    /// The app of an id.
    #[must_use]
    pub fn of(id: &str) -> Option<Self> {
        APPS.iter().find(|d| d.id == id).map(|d| d.key)
    }
}

/// The shell's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ShellCommand {
    ToggleTheme,
    Theme,
    EnablePackage,
    DisablePackage,
    ReloadModel,
    CloseWindow,
    NextWindow,
    MountFolder,
    LintSkill,
}

/// All commands: name, title, argument.
pub const COMMANDS: [(ShellCommand, &str, &str, Option<&str>); 9] = [
    (ShellCommand::ToggleTheme, "toggle-theme", "Switch between light and dark", None),
    (ShellCommand::Theme, "theme", "Choose the theme", Some("mode")),
    (ShellCommand::EnablePackage, "enable-package", "Switch a package on", Some("package")),
    (ShellCommand::DisablePackage, "disable-package", "Switch a package off", Some("package")),
    (ShellCommand::ReloadModel, "reload-model", "Load the on-device model again", None),
    (ShellCommand::CloseWindow, "close-window", "Close the window in front", None),
    (ShellCommand::NextWindow, "next-window", "Go to the next window", None),
    (ShellCommand::MountFolder, "mount-folder", "Mount a folder from this computer", None),
    (ShellCommand::LintSkill, "lint-skill", "Hold a skill against the authoring rules", Some("name")),
];

/// The package of the shell's own commands.
pub const SHELL: &str = "shell";

impl ShellCommand {
    /// The command of a name.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        COMMANDS.iter().find(|c| c.1 == name).map(|c| c.0)
    }
}

/// Why the catalogue could not be registered: a mistake in the tables above.
#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    /// A name is not one.
    #[error(transparent)]
    Id(#[from] IdError),
    /// The registry said no.
    #[error(transparent)]
    Registry(#[from] RegistryRefusal),
}

/// Registers everything; `tools` are those that AI Echo declares it uses.
///
/// # Errors
/// [`CatalogueError`]; a test holds that there is none.
pub fn register(kernel: &mut Kernel, tools: impl IntoIterator<Item = ToolName>) -> Result<(), CatalogueError> {
    let version = Digest::of(env!("CARGO_PKG_VERSION").as_bytes());
    let on = PackageState::Present { enabled: true };
    kernel.put_package(PackageId::new(SHELL)?, "Shell", on, version)?;
    let mut tools = Some(tools.into_iter().collect());
    for d in &APPS {
        let package = PackageId::new(d.id)?;
        if kernel.packages().get(&package).is_none() {
            kernel.put_package(package.clone(), d.title, on, version)?;
        }
        let mut actions = Vec::new();
        for (id, title) in d.actions {
            actions.push(ManifestAction { id: ActionId::new(id)?, title: (*title).to_owned() });
        }
        let mut surfaces = Vec::new();
        for (id, title) in d.views {
            surfaces.push(Subsurface { id: SurfaceId::new(id)?, title: (*title).to_owned() });
        }
        kernel.put_app(AppEntry {
            id: AppId::new(d.id)?,
            package,
            package_digest: version,
            title: d.title.to_owned(),
            icon: d.id,
            launchable: true,
            kind: AppKind::Window,
            actions,
            surfaces,
            tools: if d.key == AppKey::Echo { tools.take().unwrap_or_default() } else { Default::default() },
            rev: Rev::default(),
        })?;
    }
    for (command, name, title, arg) in COMMANDS {
        let kind = match command {
            ShellCommand::Theme => {
                ArgKind::Enum(crate::status::ThemeChoice::ALL.iter().map(|(_, word, _)| (*word).to_owned()).collect())
            }
            ShellCommand::EnablePackage | ShellCommand::DisablePackage => ArgKind::Package,
            _ => ArgKind::Text,
        };
        kernel.put_command(Command {
            name: CommandName::new(name)?,
            owner: PackageId::new(SHELL)?,
            title: title.to_owned(),
            opt_in_search: true,
            args: arg.into_iter().map(|name| ArgSlot { name, kind: kind.clone(), required: true }).collect(),
            rev: Rev::default(),
        })?;
    }
    Ok(())
}
