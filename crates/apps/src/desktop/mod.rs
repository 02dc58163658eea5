//! The root: state, messages, effects and the view of the whole desktop.

mod act;
pub(crate) mod action;
mod focus;
mod keys;
pub(crate) mod palette;
mod shell;
mod update;
mod view;

use crate::agent::Agent;
use crate::catalogue::AppKey;
use crate::echo::EchoUi;
use crate::files::FilesUi;
use crate::instructions::InstructionsUi;
use crate::settings::SettingsUi;
use crate::skills::SkillsUi;
use crate::status::{InputMethod, LocalModel, ModelOrder, Mount, Prefs, Storage};
use ai_echo::markdown::Href;
use kernel::authority::Proof;
use kernel::mount::{Need, Reply};
use kernel::slash::{Catalog, Recency, SearchManager, Situation};
use kernel::{ConversationId, Instant, Kernel, MountId, Refusal};
use models::{ProviderConfig, Secret};
use scene::{DisplayList, NodeId, Rect, Semantics};
use std::collections::HashMap;
use std::rc::Rc;
use ui::event::{Env, Event};
use ui::press::Press;
use ui::windows::Windows;
use ui::{Cursor, Painted};

pub use action::Action;
pub(crate) use focus::body_id as body_of;

/// A round of file requests of Files or Instructions; its answer carries the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FilesId(pub u64);

/// Something dropped on the shell.
#[derive(Clone, Debug, PartialEq)]
pub enum Dropped {
    /// Text: goes into the field in focus, as pasted.
    Text(String),
    /// A folder, already taken as a mount by the shell (told by [`Msg::Mounts`] too).
    Folder(MountId),
    /// A file whose content the shell has read as text, cut to `kept` of `total` bytes.
    File {
        /// Its name.
        name: String,
        /// Its text.
        text: String,
        /// Size.
        total: u64,
    },
}

/// What happened.
#[derive(Debug)]
pub enum Msg {
    /// Input, with its proof. What acts without proof is refused by name.
    Input(Event, Proof),
    /// The machine or the window changed.
    Env(Env),
    /// A reply for AI Echo: model events, file and storage replies, mounts, read-only.
    Echo(ai_echo::Msg),
    /// All mounts, as they are now.
    Mounts(Vec<Mount>),
    /// The on-device model, as it is now.
    LocalModel(LocalModel),
    /// The person's choices, as they were stored.
    Prefs(Prefs),
    /// Origins for which a key is stored.
    Keys(Vec<String>),
    /// The answer to [`Effect::TestProvider`]: the models it lists, or why not, in words.
    ProviderTested(Result<Vec<String>, String>),
    /// The answer to [`Effect::Files`].
    Files(FilesId, Vec<Reply>),
    /// How much is stored.
    Storage(Storage),
    /// Something was dropped.
    Drop(Dropped, Proof),
    /// The shell refused something (a forged event, for example): shown and kept.
    Refused(Refusal),
    /// A line for the status: what the shell did or could not do.
    Status(String),
    /// The time of [`View::wake_at`] has come.
    Tick,
}

/// What is to be done.
#[derive(Debug)]
pub enum Effect {
    /// Of AI Echo; `OpenApp`, `Announce` and `Refused` are already dealt with here.
    Echo(ai_echo::Effect),
    /// Let the person pick a folder. Comes only inside the handling of a trusted act.
    PickFolder,
    /// Ask for a mount's permission again. Comes only inside the handling of a trusted act.
    Reconnect(MountId),
    /// Forget a mount.
    Unmount(MountId),
    /// Perform these for Files or Instructions; answer with [`Msg::Files`].
    Files {
        /// The round.
        id: FilesId,
        /// Where.
        mount: MountId,
        /// What; never a write.
        needs: Vec<Need>,
    },
    /// Put text on the clipboard.
    CopyText(String),
    /// Open a link in a new tab, without an opener.
    OpenLink(Href),
    /// Do something with the on-device model.
    Model(ModelOrder),
    /// Offer a text as a download.
    Export {
        /// File name.
        name: String,
        /// Content.
        text: String,
    },
    /// Keep the person's choices.
    SavePrefs(Prefs),
    /// Keep a key; it may only ever go to its own origin.
    SaveKey(Secret),
    /// Forget the key of an origin.
    RemoveKey(String),
    /// Ask a provider which models it has; answer with [`Msg::ProviderTested`].
    TestProvider(ProviderConfig),
    /// Use this input method.
    InputMethod(InputMethod),
    /// Measure what is stored; answer with [`Msg::Storage`].
    MeasureStorage,
    /// This conversation came to the front: its lock is wanted.
    Lock(ConversationId),
}

/// A text field in focus, for the input driver.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldView {
    /// Its node.
    pub id: NodeId,
    /// Its text. For a secret field the driver must use a password input.
    pub text: String,
    /// Selection in UTF-16 offsets: (anchor, focus).
    pub selection: (u32, u32),
    /// Rises with every change of the text that the driver has not made itself.
    pub revision: u64,
    /// A key or password.
    pub secret: bool,
    /// Takes line breaks.
    pub multiline: bool,
    /// Its frame.
    pub bounds: Rect,
    /// The caret.
    pub caret: Rect,
}

/// A painted desktop.
#[derive(Clone, Debug)]
pub struct View {
    /// To draw.
    pub display: DisplayList,
    /// To say.
    pub semantics: Semantics,
    /// Pointer shape.
    pub cursor: Cursor,
    /// The field in focus.
    pub text_field: Option<FieldView>,
    /// When to send [`Msg::Tick`] and paint again, in milliseconds of the page's clock;
    /// `None`: nothing moves by itself.
    pub wake_at: Option<u64>,
}

/// A menu to paint last: its name, place and rows (label, hint, chosen, action).
pub(crate) type OpenMenu = (String, Rect, Vec<(String, String, bool, Action)>);

/// The whole state.
pub struct Desktop {
    pub(crate) kernel: Kernel,
    pub(crate) agent: Box<dyn Agent>,
    pub(crate) env: Env,
    pub(crate) now: Instant,
    pub(crate) prefs: Prefs,
    pub(crate) windows: Windows<AppKey>,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) local: LocalModel,
    pub(crate) keys: Vec<String>,
    pub(crate) storage: Option<Storage>,
    pub(crate) status: String,
    pub(crate) echo: EchoUi,
    pub(crate) files: FilesUi,
    pub(crate) settings: SettingsUi,
    pub(crate) instructions: InstructionsUi,
    pub(crate) skills: SkillsUi,
    pub(crate) palette: palette::Palette,
    /// It was open after the last message.
    pub(crate) palette_shown: bool,
    pub(crate) catalog: Rc<Catalog>,
    pub(crate) search: SearchManager,
    pub(crate) recency: Recency,
    pub(crate) uses: u64,
    pub(crate) launcher: bool,
    pub(crate) focus: Option<NodeId>,
    pub(crate) focus_back: Option<NodeId>,
    /// Where the keyboard goes once that is painted.
    pub(crate) wish: Option<focus::Wish>,
    /// Where the keyboard was last in each window.
    pub(crate) last: HashMap<AppKey, NodeId>,
    pub(crate) ring: bool,
    pub(crate) page_focused: bool,
    pub(crate) hover: Option<NodeId>,
    /// Since when the pointer rests on it.
    pub(crate) hover_since: u64,
    pub(crate) press: Press,
    pub(crate) scrolls: HashMap<NodeId, f32>,
    pub(crate) painted: Painted<Action>,
    pub(crate) drag: Option<Action>,
    /// The menu that this frame opens over everything: name, place, rows.
    pub(crate) echo_menu: Option<OpenMenu>,
    /// Where the composer is in this frame: the palette hangs on it.
    pub(crate) composer_rect: Option<Rect>,
    pub(crate) next_id: u64,
    /// The conversation whose lock was asked for last.
    pub(crate) locked: Option<ConversationId>,
}

impl std::fmt::Debug for Desktop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Desktop").field("windows", &self.windows).field("status", &self.status).finish_non_exhaustive()
    }
}

impl Desktop {
    /// The registries.
    #[must_use]
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }
    /// The registries, to add what the shell has found (packages of skills, for example).
    pub fn kernel_mut(&mut self) -> &mut Kernel {
        &mut self.kernel
    }
    /// The agent.
    #[must_use]
    pub fn agent(&self) -> &dyn Agent {
        &*self.agent
    }
    /// What tools and rows may count on now.
    #[must_use]
    pub fn situation(&self) -> Situation {
        use kernel::AppId;
        let mounted = self.active_mount().is_some_and(|m| m.state.readable());
        #[expect(clippy::expect_used, reason = "a constant that a test constructs")]
        let agent = AppId::new(AppKey::Echo.def().id).expect("a valid id");
        Situation {
            agent,
            affordances: mounted.then(|| ai_echo::register::AFFORDANCE_MOUNT.to_owned()).into_iter().collect(),
        }
    }
    /// The mount of the conversation in front.
    #[must_use]
    pub fn active_mount(&self) -> Option<&Mount> {
        let id = self.agent.current()?.mount.as_ref()?;
        self.mounts.iter().find(|m| m.id() == id)
    }
    pub(crate) fn refuse(&mut self, r: impl Into<Refusal>) -> String {
        let r = self.kernel.refuse(r.into());
        let words = r.plain();
        self.status.clone_from(&words);
        words
    }
    pub(crate) fn fresh_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }
}
