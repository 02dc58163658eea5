//! Two sessions, one task, two operations on one file, and everything that can go wrong between
//! them: crash, freeze, a stolen task, a lost reply of the store or of the tool, a late answer, an
//! edit from outside. The operations and the life of the task are the product's own; the store is a
//! compare-and-put, the tool a file that knows how often it was written.

use std::sync::Arc;

use agent_runtime::core::{Evidence, Gen, Instant, Seq, SessionId, TaskId};
use agent_runtime::liveness::TurnLiveness;
use agent_runtime::operation::{
    Attestation, Claim, Dispatcher, Effect, OperationRecord, OperationRefusal, OperationRequest, OperationSet, Outcome,
    Phase, Proof, Receipt, SessionEnded, Step, Targets,
};
use agent_runtime::terminal::{Lifecycle, Seen, TerminalCommand, TerminalRefusal, TerminalStatus};
use kernel::authority::{Confirmation, GestureKind, GestureMint, ShownReview, TrustedGesture};
use kernel::{CallId, ConversationId, Digest, OperationId, TurnKey};

/// No times in the state.
const NOW: Instant = Instant { wall_ms: 0, mono_ms: 0, boot: agent_runtime::core::BootId(0) };

/// How far the world goes, and what is wrong with it.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Highest generation.
    pub gen_max: u64,
    /// Highest state.
    pub seq_max: u64,
    /// Operations.
    pub operations: u8,
    /// Crashes of each session's tab.
    pub crashes: u8,
    /// Freezes in all.
    pub freezes: u8,
    /// Edits from outside.
    pub edits: u8,
    /// The bug.
    pub planted: Planted,
}

/// A bug that is put in on purpose: the properties must see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    None,
    /// The store compares nothing.
    NoFence,
    /// The tool does not look at the generation before it writes.
    ToolWithoutLastLook,
    /// The tool is called before the dispatch is kept.
    CallBeforeRecord,
    /// A call whose answer is lost is made again.
    RetryAfterLoss,
    /// A frozen session counts as ended. Harmless alone, as the one above is: each guards the other.
    FreezeIsDeath,
    /// Both.
    FreezeIsDeathWithoutLastLook,
    /// A takeover forgets what was open.
    TakeoverForgets,
    /// Operations go on after the end.
    WriteAfterEnd,
}

impl Planted {
    /// Those that alone break something.
    pub const ALL: [Self; 6] = [
        Self::NoFence,
        Self::CallBeforeRecord,
        Self::RetryAfterLoss,
        Self::FreezeIsDeathWithoutLastLook,
        Self::TakeoverForgets,
        Self::WriteAfterEnd,
    ];
}

/// A page load of tab 0 or 1.
type Page = (u8, u8);

/// What the store holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stored {
    pub seq: u64,
    pub generation: u64,
    pub owner: Option<Page>,
    /// A takeover that was begun.
    pub pending: Option<Page>,
    pub ops: OperationSet,
    pub life: Lifecycle,
}

/// A tab.
#[derive(Clone, Debug, Hash)]
pub struct Tab {
    page: u8,
    alive: bool,
    frozen: bool,
    /// What it believes.
    view: Option<Arc<Stored>>,
    /// A call that it may make or that is under way, with the generation it has.
    call: Option<(u8, u64)>,
}

/// Everything.
#[derive(Clone, Debug, Hash)]
pub struct World {
    pub stored: Arc<Stored>,
    tabs: [Tab; 2],
    /// The file: who wrote it last.
    file: u8,
    /// How often each operation was applied, in truth.
    pub effects: [u8; 2],
    /// How each was said to have ended.
    pub said: [Option<Effect>; 2],
    /// Answers on their way; they may come at any time, and again.
    answers: [Option<Arc<Receipt>>; 2],
    crashes: [u8; 2],
    freezes: u8,
    edits: u8,
    /// Why the last step changed nothing durable.
    pub refused: Option<&'static str>,
}

/// How a call of the tool goes.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "a step is printed, not read")]
pub struct Call {
    applies: bool,
    says: Outcome,
    answers: bool,
}

/// One step; the number is the tab.
#[derive(Clone, Copy, Debug)]
#[expect(dead_code, reason = "a step is printed, not read")]
pub enum Action {
    Load(usize),
    Acquire(usize),
    Release(usize),
    Takeover(usize),
    Accept(usize),
    Prepare(usize),
    Dispatch(usize),
    Tool(usize, Call),
    Receive(usize, u8),
    Answer(usize),
    Reread(usize),
    Attest(usize, Claim),
    Stop(usize),
    End(usize),
    Reopen(usize),
    Crash(usize),
    Restart(usize),
    Freeze(usize),
    Thaw(usize),
    Edit,
    /// The store kept it, the reply was lost.
    Unheard(usize),
}

pub fn session((tab, page): Page) -> SessionId {
    SessionId::new(&format!("s{tab}.{page}")).expect("a name")
}
fn task() -> TaskId {
    TaskId::new("c1").expect("a name")
}
fn op(n: u8) -> OperationId {
    let turn = TurnKey { conversation: ConversationId::new("c1").expect("a name"), turn: 1 };
    OperationId::of(&CallId { turn, n: n.into() })
}
fn number(id: &OperationId) -> u8 {
    u8::try_from(id.call().n).expect("small")
}
fn bytes(writer: u8) -> Digest {
    Digest::of(&[writer])
}
fn gesture() -> TrustedGesture {
    let stamp = kernel::Instant { wall_ms: 0, mono_ms: 9_000 };
    GestureMint::for_tests().stamp(GestureKind::Click, true, stamp).trusted().expect("trusted")
}
fn yes(question: Digest) -> Confirmation {
    let mut card = ShownReview::new(question, kernel::Instant::default());
    card.laid_out(kernel::Instant::default());
    card.confirm(gesture()).expect("decides")
}

impl World {
    pub fn new() -> Self {
        let stored = Stored {
            seq: 0,
            generation: 0,
            owner: None,
            pending: None,
            ops: OperationSet::default(),
            life: Lifecycle::default(),
        };
        let tab = Tab { page: 0, alive: true, frozen: false, view: None, call: None };
        Self {
            stored: Arc::new(stored),
            tabs: [tab.clone(), tab],
            file: 0,
            effects: [0; 2],
            said: [None; 2],
            answers: [None, None],
            crashes: [0; 2],
            freezes: 0,
            edits: 0,
            refused: None,
        }
    }

    fn page(&self, t: usize) -> Page {
        (u8::from(t == 1), self.tabs[t].page)
    }
    /// Its lock can be acquired.
    fn ended(&self, page: Page, rules: Rules) -> bool {
        let tab = &self.tabs[usize::from(page.0)];
        tab.page != page.1
            || !tab.alive
            || tab.frozen && matches!(rules.planted, Planted::FreezeIsDeath | Planted::FreezeIsDeathWithoutLastLook)
    }
    /// A call of this operation may still write.
    fn under_way(&self, n: u8) -> bool {
        self.tabs.iter().any(|t| t.call.is_some_and(|(m, _)| m == n))
    }

    /// An answer to it is on its way.
    pub fn answered(&self, record: &OperationRecord) -> bool {
        self.answers[usize::from(number(&record.request().id)) - 1].is_some()
    }
    pub fn owner_is_frozen(&self) -> bool {
        self.stored.owner.is_some_and(|(tab, page)| {
            let tab = &self.tabs[usize::from(tab)];
            tab.frozen && tab.page == page
        })
    }

    /// All steps.
    pub fn next(&self, rules: Rules) -> Vec<(Action, Self)> {
        let mut out = Vec::new();
        for t in 0..2 {
            let tab = &self.tabs[t];
            if tab.alive && !tab.frozen {
                self.acts(t, rules, &mut out);
            }
            if tab.alive && self.crashes[t] < rules.crashes {
                self.push(&mut out, Action::Crash(t), |w| {
                    w.crashes[t] += 1;
                    w.tabs[t] = Tab { page: w.tabs[t].page, alive: false, frozen: false, view: None, call: None };
                });
            }
            if !tab.alive {
                self.push(&mut out, Action::Restart(t), |w| {
                    w.tabs[t].page += 1;
                    w.tabs[t].alive = true;
                });
            }
            if tab.alive && !tab.frozen && self.freezes < rules.freezes {
                self.push(&mut out, Action::Freeze(t), |w| {
                    w.freezes += 1;
                    w.tabs[t].frozen = true;
                });
            }
            if tab.frozen {
                self.push(&mut out, Action::Thaw(t), |w| w.tabs[t].frozen = false);
            }
        }
        if self.edits < rules.edits {
            self.push(&mut out, Action::Edit, |w| {
                w.edits += 1;
                w.file = 9;
            });
        }
        out
    }

    fn push(&self, out: &mut Vec<(Action, Self)>, action: Action, change: impl FnOnce(&mut Self)) {
        let mut after = self.clone();
        after.refused = None;
        change(&mut after);
        out.push((action, after));
    }

    /// Puts `next` where the writer saw `view`, if nothing has changed since. The reply may be lost.
    fn commit(
        &self,
        out: &mut Vec<(Action, Self)>,
        t: usize,
        rules: Rules,
        action: Action,
        next: Stored,
        then: impl Fn(&mut Self),
    ) {
        let Some(view) = &self.tabs[t].view else { return };
        if next.seq > rules.seq_max || next.generation > rules.gen_max {
            return;
        }
        let same = (view.seq, view.generation) == (self.stored.seq, self.stored.generation);
        if !same && rules.planted != Planted::NoFence {
            // Every refused commit ends the same way: the writer looks again.
            return self.push(out, Action::Load(t), |w| {
                w.tabs[t].view = Some(w.stored.clone());
                w.refused = Some("StaleFence");
            });
        }
        let next = Arc::new(next);
        self.push(out, action, |w| {
            w.stored = next.clone();
            w.tabs[t].view = Some(next.clone());
            then(w);
        });
        self.push(out, Action::Unheard(t), |w| {
            w.stored = next.clone();
            w.tabs[t].view = None;
            let called = w.tabs[t].call;
            then(w);
            w.tabs[t].call = called;
        });
    }

    fn acts(&self, t: usize, rules: Rules, out: &mut Vec<(Action, Self)>) {
        let page = self.page(t);
        if self.tabs[t].view.as_ref().is_none_or(|v| **v != *self.stored) {
            self.push(out, Action::Load(t), |w| w.tabs[t].view = Some(w.stored.clone()));
        }
        self.call(t, rules, out);
        let Some(view) = self.tabs[t].view.clone() else { return };
        let next = || Stored { seq: view.seq + 1, ..(*view).clone() };
        let open = view.life.open().is_ok() || rules.planted == Planted::WriteAfterEnd;
        let write = |out: &mut Vec<_>, action, ops: OperationSet, then: &dyn Fn(&mut Self)| {
            self.commit(out, t, rules, action, Stored { ops, ..next() }, then);
        };

        // Who writes.
        if view.life.open().is_ok() && view.owner.is_none() && view.pending.is_none() {
            let next = Stored { owner: Some(page), generation: view.generation + 1, ..next() };
            self.commit(out, t, rules, Action::Acquire(t), next, |_| {});
        }
        if view.life.open().is_ok() && view.owner.is_some_and(|o| o != page) && view.pending != Some(page) {
            // By proof that the owner ended, or by a person's act: the same step.
            let next = Stored { pending: Some(page), generation: view.generation + 1, ..next() };
            self.commit(out, t, rules, Action::Takeover(t), next, |_| {});
        }
        if view.pending == Some(page) {
            let ops = if rules.planted == Planted::TakeoverForgets {
                OperationSet::default()
            } else {
                view.ops.interrupt(NOW)
            };
            let next = Stored { pending: None, owner: Some(page), ops, ..next() };
            self.commit(out, t, rules, Action::Accept(t), next, |_| {});
        }
        if view.owner != Some(page) || view.pending.is_some() {
            return;
        }

        // What the writer does.
        let n = view.ops.last().map_or(1, |id| number(id) + 1);
        if open && n <= rules.operations && view.ops.unresolved().is_none() {
            let request = OperationRequest {
                id: op(n),
                tool: bytes(100),
                args: bytes(n),
                targets: Targets::new(vec!["/mnt/a".into()]).expect("a target"),
                before: bytes(self.file),
                expected_after: Some(bytes(n)),
                session: session(page),
                writer_gen: Gen(view.generation),
                state_seq: Seq(view.seq),
            };
            let ops = view.ops.prepare(request, NOW).expect("nothing is open");
            write(out, Action::Prepare(t), ops, &|w| {
                if rules.planted == Planted::CallBeforeRecord {
                    w.tabs[t].call = Some((n, view.generation));
                }
            });
        }
        if view.ops.unresolved().is_none() && view.life.open().is_ok() {
            let next = Stored { owner: None, ..next() };
            self.commit(out, t, rules, Action::Release(t), next, |_| {});
        }
        self.end(t, &view, rules, out);
        if let Some(record) = view.ops.unresolved() {
            let (id, n) = (record.request().id.clone(), number(&record.request().id));
            let effect_of = |step: Step| record.step(step, NOW).map(|r| r.effect());
            let settle = |out: &mut Vec<_>, action, proof: &dyn Fn() -> Proof| match (
                effect_of(Step::Settle(proof())),
                view.ops.step(&id, Step::Settle(proof()), NOW),
            ) {
                (Ok(effect), Ok(ops)) => {
                    write(out, action, ops, &|w| w.said[usize::from(n) - 1] = Some(effect));
                }
                (_, refused) => self.push(out, action, |w| w.refused = refused.err().map(name)),
            };
            match view.ops.step(&id, Step::Dispatch, NOW) {
                Ok(ops) => write(out, Action::Dispatch(t), ops, &|w| w.tabs[t].call = Some((n, view.generation))),
                Err(why) => self.push(out, Action::Dispatch(t), |w| w.refused = Some(name(why))),
            }
            if rules.planted == Planted::RetryAfterLoss
                && record.phase() == Phase::ReconcileRequired
                && self.tabs[t].call.is_none()
            {
                self.push(out, Action::Dispatch(t), |w| w.tabs[t].call = Some((n, view.generation)));
            }
            settle(out, Action::Answer(t), &|| Proof::Answer);
            let sender = &record.request().session;
            let dead =
                (0..2u8).flat_map(|tab| (0..=rules.crashes).map(move |p| (tab, p))).find(|p| session(*p) == *sender);
            settle(out, Action::Reread(t), &|| Proof::Reread {
                now: bytes(self.file),
                dispatcher: match dead {
                    Some(p) if self.ended(p, rules) => Dispatcher::Ended(SessionEnded::by_its_lock(session(p))),
                    _ => Dispatcher::MayLive,
                },
            });
            // The person looks when nothing is under way, and tells the truth.
            if !self.under_way(n) {
                let claim = if self.effects[usize::from(n) - 1] > 0 { Claim::Applied } else { Claim::NotApplied };
                settle(out, Action::Attest(t, claim), &|| {
                    Proof::Attested(Attestation::of(&id, claim, yes(Attestation::question(&id, claim))).expect("asked"))
                });
            }
            if view.ops.interrupt(NOW) != view.ops {
                write(out, Action::Stop(t), view.ops.interrupt(NOW), &|_| {});
            }
        }
        for n in 1..=2u8 {
            let Some(answer) = &self.answers[usize::from(n) - 1] else { continue };
            let late = view.ops.unresolved().map(|r| r.step(Step::Settle(Proof::Late((**answer).clone())), NOW));
            match view.ops.receive(&task(), (**answer).clone(), NOW) {
                Ok(ops) => {
                    let settled = ops.unresolved().is_none();
                    let effect = late.and_then(Result::ok).map(|r| r.effect());
                    write(out, Action::Receive(t, n), ops, &|w| {
                        if settled {
                            w.said[usize::from(n) - 1] = effect;
                        }
                    });
                }
                Err(orphan) => self.push(out, Action::Receive(t, n), |w| w.refused = Some(name(orphan.why))),
            }
        }
    }

    /// The tool, called by a tab: it looks at the generation once more, last.
    fn call(&self, t: usize, rules: Rules, out: &mut Vec<(Action, Self)>) {
        let Some((n, generation)) = self.tabs[t].call else { return };
        let held = generation == self.stored.generation
            || matches!(rules.planted, Planted::ToolWithoutLastLook | Planted::FreezeIsDeathWithoutLastLook);
        // Made from what was kept; a session whose call it is knows its request.
        let request = self.stored.ops.unresolved().map(|r| r.request()).filter(|r| number(&r.id) == n);
        for applies in [true, false] {
            for says in [Outcome::Applied, Outcome::Failed] {
                for answers in [true, false] {
                    let refusing = !held;
                    if (applies && refusing) || (!applies && says == Outcome::Applied) {
                        continue;
                    }
                    let call = Call { applies, says, answers };
                    self.push(out, Action::Tool(t, call), |w| {
                        w.tabs[t].call = None;
                        if applies {
                            w.effects[usize::from(n) - 1] += 1;
                            w.file = n;
                        }
                        if let (true, Some(request)) = (answers, request) {
                            let left = applies.then(|| bytes(n));
                            let receipt = Receipt::of(&task(), request, says, bytes(50), left);
                            w.answers[usize::from(n) - 1] = Some(Arc::new(receipt));
                        }
                    });
                }
            }
        }
    }

    fn end(&self, t: usize, view: &Stored, rules: Rules, out: &mut Vec<(Action, Self)>) {
        let page = self.page(t);
        let seen = Seen {
            rev: view.life.rev(),
            seq: Seq(view.seq),
            generation: Gen(view.generation),
            settled: view.ops.settled_digest(),
        };
        let command = TerminalCommand {
            session: session(page),
            seen,
            status: TerminalStatus::Completed,
            evidence: vec![Evidence::by_person(bytes(60), &gesture())],
        };
        let over = TurnLiveness::default().ended().expect("no turn runs");
        let fence = (Seq(view.seq), Gen(view.generation));
        match view.life.end(Some(&session(page)), fence, &view.ops, &over, command) {
            Ok(life) => {
                let next = Stored { life, seq: view.seq + 1, ..view.clone() };
                self.commit(out, t, rules, Action::End(t), next, |_| {});
            }
            Err(TerminalRefusal::TerminalUnsettled { .. }) => {
                self.push(out, Action::End(t), |w| w.refused = Some("TerminalUnsettled"));
            }
            Err(_) => {}
        }
        if let Some(end) = view.life.terminal() {
            let owner = bytes(page.0);
            if let Ok(life) = view.life.reopen(end.receipt(), owner, owner) {
                let next = Stored { life, seq: view.seq + 1, generation: view.generation + 1, ..view.clone() };
                self.commit(out, t, rules, Action::Reopen(t), next, |_| {});
            }
        }
    }
}

fn name(why: OperationRefusal) -> &'static str {
    match why {
        OperationRefusal::OperationCas(_) => "OperationCas",
        OperationRefusal::AutoRetryForbidden => "AutoRetryForbidden",
        OperationRefusal::SettlementUnproven => "SettlementUnproven",
        OperationRefusal::OperationPhase { .. } => "OperationPhase",
        OperationRefusal::LateReceiptMismatch { .. } => "LateReceiptMismatch",
        _ => "another",
    }
}
