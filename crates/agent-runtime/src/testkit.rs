//! Names, moments and a person's acts, for the tests of this crate.

use kernel::authority::{Confirmation, GestureKind, GestureMint, ShownReview, TrustedGesture};
use kernel::{CallId, ConversationId, Digest, OperationId, TurnKey};

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
