//! Everything a press, a key on a focused control or an activated mirror node can mean.

use crate::catalogue::AppKey;
use crate::status::{InputMethod, ModelOrder, ThemeChoice};
use ::skills::packages::Root;
use ai_echo::markdown::Href;
use kernel::mount::MountPath;
use kernel::{CallId, ConversationId, MountId, OperationId, PackageId, TurnKey};
use scene::NodeId;
use ui::windows::Fill;

/// One action. Each needs a trusted act, but those of [`Action::is_harmless`].
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum Action {
    // the shell
    Launch(AppKey),
    ToggleLauncher,
    Focus(NodeId),
    FocusWindow(AppKey),
    CloseWindow(AppKey),
    FillWindow(AppKey, Fill),
    DragWindow(AppKey),
    ResizeWindow(AppKey),
    OpenPalette,
    ClosePalette,
    Pick(String),
    Complete(String),
    // AI Echo
    NewConversation,
    Select(ConversationId),
    Rename(ConversationId),
    FinishRename,
    AskDelete(ConversationId),
    Delete(ConversationId),
    KeepConversation,
    ToggleSide,
    Send,
    Stop,
    StopTurn(TurnKey),
    SendAsText,
    DismissNotice,
    Try(usize),
    JumpLatest,
    SelectText(u64),
    CopyCode(u64, u32),
    CopyMessage(u64),
    OpenLink(Href),
    ToggleItem(u64),
    Undo(OperationId),
    Detach(usize),
    Menu(Option<Menu>),
    UseLocal,
    UseRemote,
    UseMount(Option<MountId>),
    OpenFind,
    CloseFind,
    FindNext(bool),
    Approve(CallId),
    Reject(CallId),
    Model(ModelOrder),
    // Files
    PickFolder,
    Reconnect(MountId),
    Unmount(MountId),
    OpenMount(MountId),
    OpenFolder(MountPath),
    OpenFile(MountPath),
    CloseFile,
    RefreshFiles,
    AttachFile(MountPath),
    ShowFile(MountId, MountPath),
    // Instructions
    ReadInstructions,
    ToggleInstruction(MountPath),
    // Skills
    LookForSkills,
    OpenSkill(Root, String),
    CloseSkill,
    ApproveSkill,
    RevokeSkill(String),
    EnableSkill(String, bool),
    CopySkill,
    /// Lists what lies beside the package's file.
    ShowResources,
    TryObjective,
    // Settings
    Section(Section),
    TogglePages,
    Theme(ThemeChoice),
    Input(InputMethod),
    TogglePackage(PackageId),
    SaveProvider,
    TestProvider,
    ForgetKey(String),
    MeasureStorage,
}

/// Menus that hang on a chip of the composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Menu {
    Model,
    Mount,
}

impl Menu {
    /// The chip that it hangs on.
    pub(crate) fn chip(self) -> NodeId {
        NodeId::of(
            match self {
                Self::Model => "chip-model",
                Self::Mount => "chip-mount",
            },
            0,
        )
    }
}

/// Pages of Settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Section {
    #[default]
    Appearance,
    Model,
    Provider,
    Input,
    Storage,
    Packages,
    Refusals,
}

impl Section {
    /// All, with their ids and titles in the manifest's order.
    pub fn all() -> impl Iterator<Item = (Self, &'static str, &'static str)> {
        let keys =
            [Self::Appearance, Self::Model, Self::Provider, Self::Input, Self::Storage, Self::Packages, Self::Refusals];
        keys.into_iter().zip(AppKey::Settings.def().views).map(|(k, (id, title))| (k, *id, *title))
    }
    /// The page of a view's id.
    #[must_use]
    pub fn of(id: &str) -> Option<Self> {
        Self::all().find(|(_, i, _)| *i == id).map(|(k, ..)| k)
    }
}

impl Action {
    /// It moves focus or selection only, so an act without proof may do it as well.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        matches!(self, Self::Focus(_) | Self::SelectText(_))
    }
}
