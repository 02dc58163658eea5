//! A small house for tests: two packages, four apps, commands, tools and skills.

use crate::Kernel;
use crate::authority::{GestureKind, GestureMint, Proof, TrustedGesture, TurnGrant};
use crate::ids::*;
use crate::registry::*;
use crate::slash::Situation;
use crate::tools::{Danger, ToolCall, ToolClass, ToolRef, ToolSource};

pub(crate) fn package(id: &str) -> PackageId {
    PackageId::new(id).expect("package")
}
pub(crate) fn app(id: &str) -> AppId {
    AppId::new(id).expect("app")
}
pub(crate) fn tool(id: &str) -> ToolName {
    ToolName::new(id).expect("tool")
}
pub(crate) fn skill(id: &str) -> SkillId {
    SkillId::new(id).expect("skill")
}
pub(crate) fn command_name(id: &str) -> CommandName {
    CommandName::new(id).expect("command")
}
pub(crate) fn turn(n: u64) -> TurnKey {
    TurnKey { conversation: ConversationId::new("c1").expect("id"), turn: n }
}
pub(crate) const ON: PackageState = PackageState::Present { enabled: true };
pub(crate) const OFF: PackageState = PackageState::Present { enabled: false };

pub(crate) fn entry(id: &str, owner: &str) -> AppEntry {
    AppEntry {
        id: app(id),
        package: package(owner),
        package_digest: Digest::of(b""),
        title: id.to_owned(),
        icon: "app",
        launchable: true,
        kind: AppKind::Window,
        actions: vec![],
        surfaces: vec![],
        tools: [].into(),
        rev: Rev(0),
    }
}

pub(crate) fn command(owner: &str, name: &str, opt_in_search: bool, args: Vec<ArgSlot>) -> Command {
    Command {
        name: command_name(name),
        owner: package(owner),
        title: name.to_owned(),
        opt_in_search,
        args,
        rev: Rev(0),
    }
}

pub(crate) fn choice(values: &[&str]) -> Vec<ArgSlot> {
    let kind = ArgKind::Enum(values.iter().map(|v| (*v).to_owned()).collect());
    vec![ArgSlot { name: "value", kind, required: true }]
}

pub(crate) const READ: &str = r#"{"type":"object","properties":{"path":{"type":"string","format":"path"},
    "max":{"type":"integer","minimum":1}},"required":["path"]}"#;
pub(crate) const WRITE: &str = r#"{"type":"object","properties":{"path":{"type":"string","format":"path"},
    "content":{"type":"string"}},"required":["path","content"],"additionalProperties":false}"#;
pub(crate) const ROUTE: &str = r#"{"properties":{"to":{"type":"string"}}}"#;

pub(crate) fn source(owner: &str, name: &str, class: ToolClass, schema: &str) -> ToolSource {
    let right = if class > ToolClass::Read { "mount.write" } else { "mount.read" };
    ToolSource {
        name: tool(name),
        owner: package(owner),
        title: name.to_owned(),
        description: format!("The tool {name} of {owner}"),
        schema: schema.to_owned(),
        class,
        danger: Danger::None,
        capabilities: [right.to_owned()].into(),
        affordances: ["mount".to_owned()].into(),
    }
}

pub(crate) fn guidance(id: &str, owner: &str, review: Review, content: &[u8]) -> Guidance {
    Guidance {
        id: skill(id),
        package: package(owner),
        title: id.to_owned(),
        summary: "Guidance".to_owned(),
        enabled: true,
        problem: None,
        review,
        digest: Digest::of(content),
        rev: Rev(0),
    }
}

/// `core` with AI Echo, Files and Notes; `maps` with one of everything.
pub(crate) fn kernel() -> Kernel {
    let mut k = Kernel::new();
    k.put_package(package("core"), "WebGPU OS", ON, Digest::of(b"core 1")).expect("room");
    k.put_package(package("maps"), "Maps", ON, Digest::of(b"maps 1")).expect("room");
    let tools = ["files.read", "files.write", "maps.route", "maps.extra"].map(tool).into();
    k.put_app(AppEntry { tools, ..entry("ai-echo", "core") }).expect("room");
    let action = |id: &str| ManifestAction { id: ActionId::new(id).expect("id"), title: "New file".to_owned() };
    let view = Subsurface { id: SurfaceId::new("recent").expect("id"), title: "Recent files".to_owned() };
    k.put_app(AppEntry { actions: vec![action("new")], surfaces: vec![view], ..entry("files", "core") }).expect("room");
    k.put_app(entry("notes", "core")).expect("room");
    k.put_app(entry("maps", "maps")).expect("room");
    k.put_command(command("core", "theme", true, choice(&["dark", "light"]))).expect("room");
    k.put_command(command("core", "wipe", false, vec![])).expect("room");
    k.put_command(command("maps", "locate", true, vec![])).expect("room");
    k.put_tool(source("core", "files.read", ToolClass::Read, READ)).expect("tool");
    k.put_tool(source("core", "files.write", ToolClass::Write, WRITE)).expect("tool");
    k.put_tool(source("maps", "maps.route", ToolClass::Read, ROUTE)).expect("tool");
    k.put_guidance(guidance("summarise-notes", "core", Review::BuiltIn, b"body")).expect("room");
    let reviewed = Review::HumanReviewed { binding: Digest::of(b"tides") };
    k.put_guidance(guidance("harbour", "maps", reviewed, b"tides")).expect("room");
    k
}

pub(crate) fn now() -> Situation {
    Situation { agent: app("ai-echo"), affordances: ["mount".to_owned()].into() }
}

pub(crate) fn call(k: &Kernel, name: &str, args: impl AsRef<[u8]>) -> ToolCall {
    let digest = k.tools().get(&tool(name)).expect("tool").digest;
    ToolCall {
        tool: ToolRef { name: tool(name), digest },
        args: args.as_ref().to_vec(),
        turn: turn(1),
        operation: None,
    }
}

/// The grant of turn 1 with every tool there is that is eligible.
pub(crate) fn grant(k: &Kernel) -> TurnGrant {
    grant_with(k, &["mount.read", "mount.write"], &["mount"])
}

pub(crate) fn grant_with(k: &Kernel, capabilities: &[&str], affordances: &[&str]) -> TurnGrant {
    let all: Vec<ToolName> = k.tools().iter().map(|t| t.source.name.clone()).collect();
    let set = |l: &[&str]| l.iter().map(|s| (*s).to_owned()).collect();
    k.grant(turn(1), &app("ai-echo"), &all, set(capabilities), set(affordances)).0
}

/// Acts of one person at one machine.
pub(crate) struct Hands {
    mint: GestureMint,
    now: u64,
}

impl Hands {
    pub(crate) fn new() -> Self {
        Self { mint: GestureMint::for_tests(), now: 0 }
    }
    pub(crate) fn act(&mut self, kind: GestureKind) -> Proof {
        self.now += 70;
        self.mint.stamp(kind, true, Instant { wall_ms: 0, mono_ms: self.now })
    }
    pub(crate) fn press(&mut self) -> Proof {
        self.act(GestureKind::Key)
    }
    pub(crate) fn click(&mut self) -> TrustedGesture {
        self.act(GestureKind::Click).trusted().expect("trusted")
    }
}
