//! Names, moments and a person's acts, for the tests of this crate.

use kernel::authority::{Confirmation, GestureKind, GestureMint, ShownReview, TrustedGesture};
use kernel::registry::{AppEntry, AppKind, PackageState};
use kernel::tools::{Danger, Dispatch, Permit, ToolCall, ToolClass, ToolRef, ToolSource};
use kernel::{AppId, CallId, ConversationId, Digest, Kernel, OperationId, PackageId, ToolName, TurnKey};

use crate::core::{BootId, Gen, Instant, Seq, SessionId, TaskId};
use crate::operation::{OperationRequest, Targets};

pub(crate) fn at(ms: u64) -> Instant {
    Instant { wall_ms: 1_700_000_000_000 + i64::try_from(ms).expect("small"), mono_ms: ms, boot: BootId(1) }
}
pub(crate) fn task() -> TaskId {
    TaskId::new("c1").expect("name")
}
pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("name")
}
pub(crate) fn turn(n: u64) -> TurnKey {
    TurnKey { conversation: ConversationId::new("c1").expect("name"), turn: n }
}
pub(crate) fn call(n: u32) -> CallId {
    CallId { turn: turn(1), n }
}
pub(crate) fn op(n: u32) -> OperationId {
    OperationId::of(&call(n))
}
pub(crate) fn digest(text: &str) -> Digest {
    Digest::of(text.as_bytes())
}
pub(crate) fn request(n: u32) -> OperationRequest {
    OperationRequest {
        id: op(n),
        tool: digest("files.write"),
        args: digest("args"),
        targets: Targets::new(vec!["/mnt/a".into()]).expect("targets"),
        before: digest("old"),
        expected_after: Some(digest("new")),
        session: session("tab-1"),
        writer_gen: Gen(1),
        state_seq: Seq(7),
    }
}
pub(crate) fn gesture() -> TrustedGesture {
    let stamp = kernel::Instant { wall_ms: 0, mono_ms: 9_000 };
    GestureMint::for_tests().stamp(GestureKind::Click, true, stamp).trusted().expect("trusted")
}
/// A person says yes to exactly `question`.
pub(crate) fn yes(question: Digest) -> Confirmation {
    let mut card = ShownReview::new(question, kernel::Instant::default());
    card.laid_out(kernel::Instant::default());
    card.confirm(gesture()).expect("decides")
}

/// A permit from the router for a call of `files.read` or `files.write` in turn `n`.
pub(crate) fn permit(n: u64, operation: Option<OperationId>) -> Permit {
    let name = ToolName::new(if operation.is_some() { "files.write" } else { "files.read" }).expect("name");
    let owner = PackageId::new("core").expect("name");
    let app = AppId::new("ai-echo").expect("name");
    let mut kernel = Kernel::new();
    kernel.put_package(owner.clone(), "", PackageState::Present { enabled: true }, digest("")).expect("room");
    let entry = AppEntry {
        id: app.clone(),
        package: owner.clone(),
        package_digest: digest(""),
        title: String::new(),
        icon: "app",
        launchable: true,
        kind: AppKind::Window,
        actions: vec![],
        surfaces: vec![],
        tools: [name.clone()].into(),
        rev: kernel::Rev(0),
    };
    kernel.put_app(entry).expect("room");
    let source = ToolSource {
        name: name.clone(),
        owner,
        title: String::new(),
        description: String::new(),
        schema: r#"{"type":"object"}"#.to_owned(),
        class: if operation.is_some() { ToolClass::Write } else { ToolClass::Read },
        danger: Danger::None,
        capabilities: [].into(),
        affordances: [].into(),
    };
    let digest = kernel.put_tool(source).expect("room");
    let (grant, _) = kernel.grant(turn(n), &app, std::slice::from_ref(&name), [].into(), [].into());
    let call = ToolCall { tool: ToolRef { name, digest }, args: b"{}".to_vec(), turn: turn(n), operation };
    match kernel.router().route(&call, &app, &grant).expect("lets it through") {
        Dispatch::Read(permit) => permit,
        Dispatch::NeedsConfirmation { held, .. } => {
            let bound = held.bind(&[]);
            held.redeem(bound, yes(bound)).expect("confirmed")
        }
    }
}
