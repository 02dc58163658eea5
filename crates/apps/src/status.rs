//! What the outside is like: the on-device model, mounts, storage, and the person's choices.

use ai_echo::conversation::MountRecord;
use kernel::{MountId, PackageId};
use models::ProviderConfig;
use serde::{Deserialize, Serialize};

/// The model that ships with the product, as the shell sees it.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LocalModel {
    /// Nothing known yet.
    #[default]
    Unknown,
    /// Not on this device.
    Absent,
    /// On its way.
    Downloading {
        /// Bytes that are here.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// All bytes are here and are compared with their digest.
    Verifying,
    /// Into memory.
    Loading,
    /// It answers.
    Ready {
        /// How it runs, in a word or two (`WebAssembly SIMD`, `WebGPU`).
        engine: String,
    },
    /// It does not fit (field 10H2).
    NoRoom {
        /// Bytes needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
    },
    /// Its worker is gone (field 6H5).
    Lost(String),
    /// It could not be fetched or checked.
    Failed(String),
}

impl LocalModel {
    /// Whether a question can be asked now.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        matches!(self, Self::Ready { .. })
    }
    /// One line for the status bar.
    #[must_use]
    pub fn words(&self) -> String {
        let mb = |b: u64| b / 1_000_000;
        match self {
            Self::Unknown => "Looking for the model".into(),
            Self::Absent => "Model not on this device".into(),
            // All bytes are here: what is left is to check them.
            Self::Downloading { done, total } if done >= total => "Checking the model".into(),
            Self::Downloading { done, total } => {
                format!("Fetching model: {} of {} MB", mb(*done), total.div_ceil(1_000_000))
            }
            Self::Verifying => "Checking the model".into(),
            Self::Loading => "Loading the model".into(),
            Self::Ready { .. } => "On-device model ready".into(),
            Self::NoRoom { needed, free } => {
                format!("No room for the model: {} MB needed, {} MB free", mb(*needed), mb(*free))
            }
            Self::Lost(_) => "Local engine lost".into(),
            Self::Failed(_) => "Model could not be loaded".into(),
        }
    }
    /// It is on its way and needs nobody.
    #[must_use]
    pub fn is_coming(&self) -> bool {
        matches!(self, Self::Unknown | Self::Downloading { .. } | Self::Verifying | Self::Loading)
    }
    /// 0 to 100 while something is fetched; never 100 before everything is here.
    #[must_use]
    pub fn percent(&self) -> Option<u8> {
        match self {
            Self::Downloading { done, total } => {
                let p = done.saturating_mul(100) / (*total).max(1);
                Some(u8::try_from(p.min(99)).unwrap_or(99))
            }
            _ => None,
        }
    }
}

/// What can be asked of the on-device model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelOrder {
    /// Fetch what is missing and load it.
    Load,
    /// Start a new worker.
    Reload,
    /// Take its file off this device.
    Remove,
}

/// Where a mounted folder stands (field 10H1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MountState {
    /// It can be read and written.
    Ready,
    /// It can be read; the browser wants a click before anything in it is changed.
    ReadOnly,
    /// The browser wants a click before it gives the folder again.
    NeedsReconnect,
    /// The person said no.
    Denied,
    /// The folder is not there any more.
    Missing,
}

impl MountState {
    /// Whether files can be read now.
    #[must_use]
    pub fn readable(&self) -> bool {
        matches!(self, Self::Ready | Self::ReadOnly)
    }
    /// A few words for a row that is pressed to work in the folder.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Ready => "Connected",
            Self::ReadOnly => "Can be read. Press to allow changes",
            Self::NeedsReconnect => "Press to reconnect",
            Self::Denied => "Access was denied. Press to be asked again",
            Self::Missing => "No longer where it was",
        }
    }
    /// One line for a person; the three reasons read differently.
    #[must_use]
    pub fn words(&self) -> &'static str {
        match self {
            Self::Ready => "Connected",
            Self::ReadOnly => "Can be read. The browser asks for one click before anything in it is changed",
            Self::NeedsReconnect => "Needs reconnect: the browser asks for one click before it opens this folder again",
            Self::Denied => "Access was denied. Reconnect to be asked again",
            Self::Missing => "The folder is no longer where it was. Mount it again from its new place",
        }
    }
}

/// A mounted folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mount {
    /// Id and name.
    pub record: MountRecord,
    /// State.
    pub state: MountState,
    /// The sample workspace that lives inside the browser.
    pub sample: bool,
}

impl Mount {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &MountId {
        &self.record.id
    }
}

/// Light, dark, or what the system says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum ThemeChoice {
    #[default]
    System,
    Light,
    Dark,
}

impl ThemeChoice {
    /// All, as they are listed.
    pub const ALL: [(Self, &'static str, &'static str); 3] =
        [(Self::System, "system", "System"), (Self::Light, "light", "Light"), (Self::Dark, "dark", "Dark")];
    /// The choice as [`ui::Theme::of`] takes it.
    #[must_use]
    pub fn dark(self) -> Option<bool> {
        match self {
            Self::System => None,
            Self::Light => Some(false),
            Self::Dark => Some(true),
        }
    }
}

/// How text reaches a field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum InputMethod {
    #[default]
    Auto,
    EditContext,
    Textarea,
}

impl InputMethod {
    /// All, as they are listed.
    pub const ALL: [(Self, &'static str, &'static str); 3] = [
        (Self::Auto, "Automatic", "the best that this browser has"),
        (Self::EditContext, "EditContext", "input methods and dictation know the whole text"),
        (Self::Textarea, "Hidden text area", "when an input method shows no candidates"),
    ];
}

/// What a person chose, kept by the shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prefs {
    /// Theme.
    pub theme: ThemeChoice,
    /// Input method.
    pub input: InputMethod,
    /// Packages that are switched off.
    #[serde(default)]
    pub disabled: Vec<PackageId>,
    /// The remote provider as it was last set up; its key lies elsewhere.
    #[serde(default)]
    pub remote: Option<ProviderConfig>,
    /// The side panel of AI Echo is folded.
    #[serde(default)]
    pub side_folded: bool,
}

/// How much is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Storage {
    /// Bytes used by this page.
    pub used: u64,
    /// Bytes it may use.
    pub quota: u64,
    /// The browser promised to keep it.
    pub persisted: bool,
}
