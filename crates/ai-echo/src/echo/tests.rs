//! Whole turns through `update`, against a folder in memory, a store that answers and a model
//! that says what the test says.

use std::collections::VecDeque;

use kernel::authority::{Confirmation, GestureKind, GestureMint, ShownReview};
use kernel::mount::{MemMount, MountPath};
use kernel::registry::{AppEntry, AppKind, PackageState};
use kernel::slash::{AgentTurn, Catalog, EditOrigin, LocalDispatch, SlashRefusal, TurnKind};
use kernel::tools::ToolRef;
use kernel::{AppId, PackageId, Rev, SkillId, ToolName};
use models::{Ask, BaseUrl, FinishReason, ModelError, ModelErrorKind, Role};
use skills::packages::review::Reviews;

use super::*;
use crate::conversation::{AnswerState, Item, ItemKind, Loaded, ReviewRecord, ToolState};
use crate::protocol::Submission;
use crate::register::{register, tool_names};
use crate::turn::{MAX_QUEUE, Phase};

mod authority;
mod conventions;
mod workspace;

struct World {
    echo: Echo,
    kernel: Kernel,
    files: MemMount,
    mint: GestureMint,
    now: Instant,
    /// Store operations in order, those that answer included.
    stored: Vec<StoreOp>,
    /// Questions that no answer was given to yet.
    asked: VecDeque<(Ask, ProviderConfig)>,
    other: Vec<Effect>,
    /// Answers to files are held back.
    hold_files: bool,
    held: Vec<Effect>,
}

fn app(id: &str, title: &str) -> AppEntry {
    AppEntry {
        id: AppId::new(id).expect("id"),
        package: PackageId::new("ai-echo").expect("id"),
        package_digest: Digest::of(b""),
        title: title.into(),
        icon: "app",
        launchable: true,
        kind: AppKind::Window,
        actions: vec![],
        surfaces: vec![],
        tools: tool_names(),
        rev: Rev::default(),
    }
}

impl World {
    fn new() -> Self {
        let mut kernel = Kernel::new();
        register(&mut kernel).expect("registers");
        kernel.put_app(app("ai-echo", "AI Echo")).expect("app");
        kernel.put_app(app("files", "Files")).expect("app");
        let (echo, effects) = Echo::start();
        assert!(matches!(&effects[..], [Effect::Store(_, op)] if **op == StoreOp::LoadIndex));
        let files = MemMount::with(&[("notes/todo.md", "- [ ] buy milk\n"), ("AGENTS.md", "Be brief.\n")]);
        let mut world = Self {
            echo,
            kernel,
            files,
            mint: GestureMint::for_tests(),
            now: Instant { wall_ms: 0, mono_ms: 10_000 },
            stored: vec![],
            asked: VecDeque::new(),
            other: vec![],
            hold_files: false,
            held: vec![],
        };
        world.send(Msg::Mounted(MountRecord { id: MountId::new("welcome").expect("id"), title: "Welcome".into() }));
        world.send(Msg::Loaded(Loaded::Index {
            settings: None,
            conversations: vec![],
            drafts: vec![],
            mounts: vec![],
        }));
        world
    }

    fn send(&mut self, msg: Msg) {
        let mut todo: VecDeque<Effect> = update(&mut self.echo, msg, self.now, &mut self.kernel).into();
        while let Some(effect) = todo.pop_front() {
            let answer = match effect {
                Effect::Fs { .. } if self.hold_files => {
                    self.held.push(effect);
                    continue;
                }
                Effect::Fs { id, needs, .. } => {
                    Msg::Fs(id, needs.iter().map(|need| self.files.perform(need)).collect())
                }
                Effect::Skills(Some(mount)) => {
                    let mut look = skills::packages::Discovery::new(&MountPath::root());
                    let found = kernel::mount::drive(|replies| look.step(replies), |need| self.files.perform(need));
                    Msg::SkillsFound(mount, Box::new(found))
                }
                Effect::Skills(None) => continue,
                Effect::Store(id, op) => {
                    self.stored.push((*op).clone());
                    match *op {
                        StoreOp::LoadSkillReviews => Msg::Loaded(Loaded::SkillReviews(self.reviews())),
                        StoreOp::LoadIndex | StoreOp::LoadConversation(_) => continue,
                        _ => Msg::Stored(id, Ok(())),
                    }
                }
                Effect::Ask(ask, provider) => {
                    self.asked.push_back((*ask, provider));
                    continue;
                }
                other => {
                    self.other.push(other);
                    continue;
                }
            };
            todo.extend(update(&mut self.echo, answer, self.now, &mut self.kernel));
        }
    }

    /// The records about skills, as the store would give them back.
    fn reviews(&self) -> Vec<Reviews> {
        let mut kept = BTreeMap::new();
        for op in &self.stored {
            match op {
                StoreOp::PutSkillReview(mount, name, part) => {
                    kept.insert((mount.clone(), name.clone()), (**part).clone());
                }
                StoreOp::DeleteSkillReview(mount, name) => drop(kept.remove(&(mount.clone(), name.clone()))),
                _ => {}
            }
        }
        kept.into_values().collect()
    }

    fn id(&self) -> ConversationId {
        self.echo.current().expect("a conversation").id.clone()
    }

    fn typed(&mut self, text: &str) {
        let draft = Draft { text: text.into(), caret: text.len(), attachments: vec![] };
        self.send(Msg::DraftChanged(self.id(), Page::composer(), draft));
    }

    fn say(&mut self, text: &str) {
        self.typed(text);
        self.send(Msg::Submit(self.id(), Submission::Plain(text.into())));
    }

    fn tool(&mut self, name: &str, task: &str) {
        let row = format!("/tool:{name}");
        let name = ToolName::new(name).expect("name");
        let digest = self.kernel.tools().get(&name).expect("tool").digest;
        self.narrowed(row, TurnKind::OneTool(ToolRef { name, digest }), task);
    }

    fn skill(&mut self, id: &str, task: &str) {
        let row = format!("/skill:{id}");
        let id = SkillId::new(id).expect("id");
        let digest = self.kernel.guidance().get(&id).expect("skill").digest;
        self.narrowed(row, TurnKind::Skill { id, digest }, task);
    }

    fn narrowed(&mut self, row: String, kind: TurnKind, task: &str) {
        self.typed(&format!("{row} {task}"));
        self.send(Msg::Submit(self.id(), Submission::Turn(AgentTurn { row, kind, task: task.into() })));
    }

    /// As the composer does it: a trusted edit, a trusted Enter, the slash machine.
    fn enter(&mut self, text: &str) -> Result<Option<LocalDispatch>, SlashRefusal> {
        let now = self.echo.situation(&self.id()).expect("situation");
        let catalog = Catalog::project(&self.kernel, &now);
        let mut draft = kernel::slash::Draft::default();
        let edit = self.mint.stamp(GestureKind::TextEdit, true, self.now);
        draft.edited(text, EditOrigin::Typed, &edit);
        self.typed(text);
        let key = self.mint.stamp(GestureKind::Key, true, self.now);
        match Submission::from_slash(draft.submit(text, &key, &self.kernel, &now, &catalog)?) {
            Ok(submission) => {
                self.send(Msg::Submit(self.id(), submission));
                Ok(None)
            }
            Err(act) => Ok(Some(act)),
        }
    }

    fn model(&mut self, run: RunId, text: &str) {
        self.send(Msg::Model(run, ModelEvent::Delta(text.into())));
        self.send(Msg::Model(run, ModelEvent::Finished { reason: FinishReason::Stop, usage: None }));
    }

    fn calls(&mut self, run: RunId, calls: &[(&str, &str, &str)]) {
        for (id, name, arguments) in calls {
            self.send(Msg::Model(
                run,
                ModelEvent::ToolCall { id: (*id).into(), name: (*name).into(), arguments: (*arguments).into() },
            ));
        }
        self.send(Msg::Model(run, ModelEvent::Finished { reason: FinishReason::ToolCalls, usage: None }));
    }

    fn next_ask(&mut self) -> models::ModelRequest {
        match self.asked.pop_front() {
            Some((Ask::Chat(request), _)) => request,
            other => panic!("{other:?}"),
        }
    }

    fn remote(&mut self) {
        let base_url = BaseUrl::parse("http://127.0.0.1:1/v1").expect("url");
        let provider = ProviderConfig::OpenAiCompatible { base_url, model: "m".into(), key_ref: None };
        self.send(Msg::ChooseModel(self.id(), provider));
    }

    /// An approval of exactly this, as the card would make it.
    fn approval(&mut self, digest: Digest) -> Confirmation {
        let mut card = ShownReview::new(digest, Instant::default());
        card.laid_out(Instant::default());
        let press = self.mint.stamp(GestureKind::Click, true, self.now).trusted().expect("trusted");
        card.confirm(press).expect("confirms")
    }

    fn approve_the_review(&mut self) {
        let (call, digest) = self.echo.reviews().next().map(|r| (r.call.clone(), r.digest)).expect("a review");
        let approval = self.approval(digest);
        self.send(Msg::Approve(call, approval));
    }

    fn answer(&self) -> (String, AnswerState) {
        let items = &self.echo.current().expect("current").items;
        let answer = items.iter().rev().find_map(|item| match &item.kind {
            ItemKind::Assistant { text, state, .. } => Some((text.clone(), state.clone())),
            _ => None,
        });
        answer.expect("an answer")
    }

    fn tools(&self) -> Vec<(String, ToolState)> {
        let items = &self.echo.current().expect("current").items;
        let tool = |item: &Item| match &item.kind {
            ItemKind::Tool { tool, state, .. } => Some((tool.clone(), state.clone())),
            _ => None,
        };
        items.iter().filter_map(tool).collect()
    }

    fn file(&self, path: &str) -> Option<&str> {
        self.files.files.get(&MountPath::parse(path).expect("path")).map(|b| std::str::from_utf8(b).expect("text"))
    }

    fn refusals(&self) -> Vec<&str> {
        self.kernel.refusals().iter().map(|r| &*r.code).collect()
    }
}

#[test]
fn talk_is_asked_without_tools_and_remembered() {
    let mut w = World::new();
    w.say("What is the capital of France?");
    let request = w.next_ask();
    assert_eq!(request.messages[0].content, crate::prompt::ON_DEVICE_SYSTEM);
    assert!(request.tools.is_empty() && (request.sampling.repetition_penalty - 1.15).abs() < 1e-6);
    assert_eq!(w.answer().1, AnswerState::Streaming);
    w.model(request.run, "Paris.");
    assert_eq!(w.answer(), ("Paris.".into(), AnswerState::Complete));
    w.say("Why?");
    let request = w.next_ask();
    let words: Vec<&str> = request.messages[1..].iter().map(|m| m.content.as_str()).collect();
    assert_eq!(words, ["What is the capital of France?", "Paris.", "Why?"]);
}

#[test]
fn slash_text_goes_through_the_machine_and_only_turns_reach_a_model() {
    let mut w = World::new();
    assert_eq!(w.enter("/tool:files.read what is in notes/todo.md"), Ok(None));
    assert!(w.answer().0.contains("buy milk"));
    let turns = w.echo.current().expect("current").last_turn();
    let open = LocalDispatch::OpenApp(AppId::new("files").expect("id"));
    assert_eq!(w.enter("/app:files"), Ok(Some(open)), "t165: a local act is the caller's");
    assert!(matches!(w.enter("/nonsense really"), Err(SlashRefusal::SlashUnknown(_))), "t168: no fall-back into chat");
    assert_eq!(w.echo.current().expect("current").last_turn(), turns);
    assert!(w.asked.is_empty());
    assert_eq!(w.enter("/skill:summarise-notes my day"), Ok(None));
    assert!(w.next_ask().messages[0].content.contains("Summarise the notes"));
}

#[test]
fn a_file_is_read_by_rule_and_quoted_without_asking_a_model() {
    let mut w = World::new();
    w.tool("files.read", "what is in notes/todo.md");
    assert_eq!(w.answer(), ("`notes/todo.md` says:\n\n```md\n- [ ] buy milk\n```".into(), AnswerState::Complete));
    w.say("12*7");
    assert_eq!(w.answer().0, "12*7 = 84");
    w.say("open files");
    assert!(w.other.contains(&Effect::OpenApp(AppId::new("files").expect("id"))));
    w.say("read nothing/there.md");
    assert!(w.answer().0.contains("no such file"));
    assert!(w.asked.is_empty(), "no model was asked");
    assert!(w.echo.turns().is_idle());
}

#[test]
fn a_write_shows_a_card_changes_nothing_before_the_approval_and_exactly_that_after_it() {
    let mut w = World::new();
    w.tool("files.write", "put \"buy milk\" into notes/shopping.md");
    let review = w.echo.reviews().next().expect("a review").clone();
    assert_eq!(review.proposal.diff().expect("text").iter().map(|l| l.text.as_str()).collect::<Vec<_>>(), ["buy milk"]);
    assert_eq!(review.asked_by, "you, with /tool:files.write");
    assert_eq!(w.file("notes/shopping.md"), None);
    assert!(w.stored.iter().any(|op| matches!(op, StoreOp::PutReview(_))), "the proposal is kept");
    // An approval of something else decides nothing.
    let other = w.approval(Digest::of(b"something else"));
    w.send(Msg::Approve(review.call.clone(), other));
    assert_eq!(w.refusals(), ["WrongConfirmation"]);
    assert_eq!((w.echo.reviews().len(), w.file("notes/shopping.md")), (1, None));
    w.approve_the_review();
    assert_eq!(w.file("notes/shopping.md"), Some("buy milk"));
    assert!(w.answer().0.starts_with("Made notes/shopping.md"));
    // Recorded before it was made; the receipt comes with the record that closes.
    let phases: Vec<(String, bool)> = w
        .stored
        .iter()
        .filter_map(|op| match op {
            StoreOp::PutOperation(record, receipt) => Some((format!("{:?}", record.phase), receipt.is_some())),
            _ => None,
        })
        .collect();
    assert_eq!(phases, [("Prepared".into(), false), ("Dispatched".into(), false), ("Settled(Applied)".into(), true)]);
    // The receipt offers an Undo, which is a new review.
    let operation = OperationId::of(&review.call);
    assert!(w.echo.receipt(&operation).expect("receipt").can_undo());
    w.send(Msg::Undo(operation));
    assert_eq!(w.file("notes/shopping.md"), Some("buy milk"));
    w.approve_the_review();
    assert_eq!(w.file("notes/shopping.md"), None);
    assert!(w.asked.is_empty() && w.echo.turns().is_idle());
}

#[test]
fn field_4h2_a_file_changed_while_the_card_was_open_is_shown_anew() {
    let mut w = World::new();
    w.tool("files.write", "put \"mine\" into notes/todo.md");
    let first = w.echo.reviews().next().expect("review").digest;
    w.files.files.insert(MountPath::parse("notes/todo.md").expect("path"), b"theirs".to_vec());
    w.approve_the_review();
    assert_eq!(w.file("notes/todo.md"), Some("theirs"));
    let again = w.echo.reviews().next().expect("shown anew").clone();
    assert!(again.shown_anew && again.digest != first && again.proposal.before.as_deref() == Some(b"theirs"));
    assert_eq!(w.tools(), [("files.write".into(), ToolState::ShownAnew), ("files.write".into(), ToolState::Reviewing)]);
    w.approve_the_review();
    assert_eq!(w.file("notes/todo.md"), Some("mine"));
}

#[test]
fn a_rejected_change_changes_nothing_and_says_so() {
    let mut w = World::new();
    w.tool("files.edit", "in notes/todo.md replace \"milk\" with \"oat milk\"");
    let call = w.echo.reviews().next().expect("review").call.clone();
    w.send(Msg::Reject(call.clone()));
    assert_eq!(w.file("notes/todo.md"), Some("- [ ] buy milk\n"));
    assert_eq!(w.answer().0, "You rejected this change. Nothing was changed.");
    let late = w.approval(Digest::of(b"x"));
    w.send(Msg::Approve(call, late));
    assert_eq!(w.refusals(), ["ReviewGone"]);
}

#[test]
fn field_6h2_two_enters_are_one_message_and_one_request() {
    let mut w = World::new();
    w.say("hello");
    w.send(Msg::Submit(w.id(), Submission::Plain("hello".into())));
    assert_eq!(w.asked.len(), 1);
    let users =
        w.echo.current().expect("current").items.iter().filter(|i| matches!(i.kind, ItemKind::User { .. })).count();
    assert_eq!(users, 1);
}

#[test]
fn field_6h4_stop_ends_one_run_and_the_next_answers() {
    let mut w = World::new();
    w.say("one");
    let first = w.next_ask().run;
    w.send(Msg::Stop(w.id()));
    assert_eq!(w.answer().1, AnswerState::Stopped);
    assert!(w.other.contains(&Effect::CancelRun(first)));
    w.send(Msg::Stop(w.id()));
    w.say("two");
    let second = w.next_ask().run;
    w.model(first, "of the first");
    assert_eq!(w.answer().0, "");
    w.model(second, "Two.");
    assert_eq!(w.answer(), ("Two.".into(), AnswerState::Complete));
}

#[test]
fn field_6h5_a_lost_engine_is_an_error_and_nothing_switches() {
    let mut w = World::new();
    w.say("one");
    let run = w.next_ask().run;
    w.send(Msg::Model(run, ModelEvent::Delta("par".into())));
    w.send(Msg::Model(run, ModelEvent::Failed(ModelError::new(ModelErrorKind::EngineLost))));
    let (text, state) = w.answer();
    assert!(text == "par" && state.words().expect("words").contains("Local engine lost"));
    assert!(w.asked.is_empty(), "nobody else is asked");
}

#[test]
fn a_title_that_is_too_long_is_cut_and_that_is_said() {
    let mut w = World::new();
    w.say("hello");
    w.send(Msg::Rename(w.id(), "t".repeat(300)));
    assert!(w.echo.current().expect("current").title.len() <= crate::conversation::MAX_TITLE + 3);
    assert!(w.other.iter().any(|e| matches!(e, Effect::Announce(t) if t.contains("120") && t.contains("cut"))));
}

#[test]
fn a_refusal_is_said_once_in_words_for_a_person() {
    for (tool, task, part) in [
        ("files.read", "read ../../etc/passwd", "The path leads outside the mounted folder"),
        ("files.read", "read /mnt/other/x.md", "The path leads outside the mounted folder"),
        ("files.read", "read notes/none.md", "notes/none.md: there is no such file"),
        ("files.edit", "replace \"milk\" with \"tea\" in AGENTS.md", "“milk” does not occur in it"),
        ("calculator.evaluate", "1/0", "1/0: division by zero"),
        ("calculator.evaluate", "9^9^9^9", "9^9^9^9: the result is too large"),
    ] {
        let mut w = World::new();
        w.tool(tool, task);
        let (answer, state) = w.answer();
        assert_eq!(state, AnswerState::Complete, "{task}: {answer}");
        assert_eq!(answer.matches(part).count(), 1, "{task}: {answer}");
        let code = w.kernel.refusals().iter().last().map(|r| r.code.to_string());
        let items = &w.echo.current().expect("current").items;
        let said: Vec<&str> = items
            .iter()
            .filter_map(|i| match &i.kind {
                ItemKind::Tool { state: ToolState::Refused(w) | ToolState::Failed(w), summary, .. } => {
                    Some([w.as_str(), summary.as_str()])
                }
                _ => None,
            })
            .flatten()
            .collect();
        assert_eq!(said, ["", ""], "{task}: the answer says it, the call does not say it again");
        for code in code.iter().map(String::as_str).chain(["Expected:", "ArgValue", "ArgSuspicious", "Outside"]) {
            assert!(!answer.contains(code), "{task}: {answer}");
        }
    }
}

#[test]
fn words_too_long_for_the_model_come_back_and_the_reason_has_numbers() {
    let mut w = World::new();
    let long = "word ".repeat(40_000);
    w.say(&long);
    let run = w.next_ask().run;
    let error = ModelError::of_engine("prompt-window", "at most 1888 tokens", "50040 tokens", "");
    w.send(Msg::Model(run, ModelEvent::Failed(error)));
    let words = w.answer().1.words().expect("words");
    assert!(words.contains("1,888") && words.contains("50,040") && !words.contains("server"), "{words}");
    assert_eq!(w.echo.current().expect("current").draft.text, long);
    // Another failure has nothing that could be shortened: the draft stays empty.
    w.typed("");
    w.say("again");
    let run = w.next_ask().run;
    w.send(Msg::Model(run, ModelEvent::Failed(ModelError::new(ModelErrorKind::EngineLost))));
    assert_eq!(w.echo.current().expect("current").draft.text, "");
}

#[test]
fn field_6h3_each_conversation_keeps_its_draft_attachments_and_model() {
    let mut w = World::new();
    w.say("A");
    let first = w.id();
    w.typed("next: check totals");
    let attachment =
        Attachment { mount: MountId::new("welcome").expect("id"), path: MountPath::parse("AGENTS.md").expect("path") };
    w.send(Msg::Attach(first.clone(), attachment.clone()));
    w.remote();
    w.send(Msg::NewConversation);
    assert_ne!(w.id(), first);
    assert_eq!(w.echo.current().expect("new").draft, Draft::default());
    // A reload: only what was stored comes back.
    let stored = std::mem::take(&mut w.stored);
    let mut again = World::new();
    let conversations: Vec<_> = stored
        .iter()
        .filter_map(|op| match op {
            StoreOp::PutConversation(record) => Some((record.id.clone(), record.clone())),
            _ => None,
        })
        .collect::<BTreeMap<_, _>>()
        .into_values()
        .collect();
    let drafts: Vec<_> = stored
        .iter()
        .filter_map(|op| match op {
            StoreOp::PutDraft(record) => Some((record.conversation.clone(), record.clone())),
            _ => None,
        })
        .collect::<BTreeMap<_, _>>()
        .into_values()
        .collect();
    (again.echo, _) = Echo::start();
    again.send(Msg::Loaded(Loaded::Index { settings: None, conversations, drafts, mounts: vec![] }));
    again.send(Msg::Select(first.clone()));
    let items = stored
        .iter()
        .filter_map(|op| match op {
            StoreOp::PutItem(key, item) if key.turn.conversation == first => Some((item.id, item.clone())),
            _ => None,
        })
        .collect::<BTreeMap<_, _>>()
        .into_values()
        .collect();
    again.send(Msg::Loaded(Loaded::Conversation {
        id: first.clone(),
        items,
        receipts: vec![],
        reviews: vec![],
        operations: vec![],
    }));
    let back = again.echo.conversation(&first).expect("there");
    assert_eq!(back.draft.text, "next: check totals");
    assert_eq!(back.draft.attachments, [attachment]);
    assert!(back.provider.is_remote());
    assert!(back.items.iter().all(Item::is_final), "nothing runs after a reload");
    assert!(again.asked.is_empty(), "nothing is sent again");
    assert!(
        matches!(&back.items.last().expect("item").kind, ItemKind::Notice { text } if text.contains("Interrupted"))
    );
}

#[test]
fn an_open_review_outlives_the_page_as_a_proposal() {
    let mut w = World::new();
    w.tool("files.write", "put \"buy milk\" into notes/shopping.md");
    let record = w.stored.iter().find_map(|op| match op {
        StoreOp::PutReview(record) => Some(record.clone()),
        _ => None,
    });
    let record: ReviewRecord =
        serde_json::from_str(&serde_json::to_string(&record.expect("kept")).expect("json")).expect("back");
    let conversation = w.echo.current().expect("current").record();
    let items = w.echo.current().expect("current").items.clone();
    let mut again = World::new();
    (again.echo, _) = Echo::start();
    again.send(Msg::Mounted(MountRecord { id: MountId::new("welcome").expect("id"), title: "W".into() }));
    let id = conversation.id.clone();
    again.send(Msg::Loaded(Loaded::Index {
        settings: None,
        conversations: vec![conversation],
        drafts: vec![],
        mounts: vec![],
    }));
    again.send(Msg::Loaded(Loaded::Conversation {
        id,
        items,
        receipts: vec![],
        reviews: vec![record],
        operations: vec![],
    }));
    assert_eq!((again.echo.reviews().len(), again.file("notes/shopping.md")), (1, None));
    // It is the same request of the same person, and it has one card.
    let asked_by = again.echo.reviews().next().map(|r| r.asked_by.clone());
    assert_eq!(asked_by.as_deref(), Some("you, with /tool:files.write"));
    let states: Vec<ToolState> = again.tools().into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, [ToolState::ShownAnew, ToolState::Reviewing]);
    again.approve_the_review();
    assert_eq!(again.file("notes/shopping.md"), Some("buy milk"));
}

#[test]
fn a_call_whose_page_went_after_the_receipt_was_kept_is_told_by_it() {
    let mut w = World::new();
    w.tool("files.write", "put \"new\" into notes/todo.md");
    w.approve_the_review();
    let receipts: Vec<_> = w
        .stored
        .iter()
        .filter_map(|op| match op {
            StoreOp::PutOperation(_, Some(receipt)) => Some(receipt.clone()),
            _ => None,
        })
        .collect();
    let conversation = w.echo.current().expect("current").record();
    // The items as they were when the change was dispatched.
    let mut items = w.echo.current().expect("current").items.clone();
    for item in &mut items {
        if let ItemKind::Tool { state, receipt, .. } = &mut item.kind {
            (*state, *receipt) = (ToolState::Running, None);
        }
    }
    let mut again = World::new();
    (again.echo, _) = Echo::start();
    let id = conversation.id.clone();
    let conversations = vec![conversation];
    again.send(Msg::Loaded(Loaded::Index { settings: None, conversations, drafts: vec![], mounts: vec![] }));
    again.send(Msg::Loaded(Loaded::Conversation { id, items, receipts, reviews: vec![], operations: vec![] }));
    let items = &again.echo.current().expect("current").items;
    let tool = items.iter().find_map(|i| match &i.kind {
        ItemKind::Tool { state, receipt, .. } => Some((state.clone(), receipt.clone())),
        _ => None,
    });
    let (state, receipt) = tool.expect("the call");
    assert_eq!(state, ToolState::Done);
    assert!(receipt.and_then(|op| again.echo.receipt(&op)).is_some_and(|r| r.can_undo()));
}

#[test]
fn an_operation_that_lost_its_page_is_settled_by_what_the_file_says() {
    let mut w = World::new();
    w.tool("files.write", "put \"new\" into notes/todo.md");
    w.approve_the_review();
    let review = w
        .stored
        .iter()
        .find_map(|op| match op {
            StoreOp::PutReview(record) => Some(record.clone()),
            _ => None,
        })
        .expect("review");
    let record = |phase: OpPhase| {
        w.stored
            .iter()
            .find_map(|op| match op {
                StoreOp::PutOperation(record, _) if record.phase == phase => Some(record.clone()),
                _ => None,
            })
            .expect("record")
    };
    let conversation = w.echo.current().expect("current").record();
    for (phase, now, closing, undo) in [
        (OpPhase::Prepared, "- [ ] buy milk\n", OpPhase::AbortedZeroEffect, None),
        (OpPhase::Dispatched, "new", OpPhase::Settled(crate::turn::Effect::Applied), Some(true)),
        (OpPhase::Dispatched, "- [ ] buy milk\n", OpPhase::Settled(crate::turn::Effect::NotApplied), None),
        (OpPhase::Dispatched, "torn", OpPhase::ReconcileRequired, Some(false)),
    ] {
        let mut again = World::new();
        (again.echo, _) = Echo::start();
        again.files.files.insert(MountPath::parse("notes/todo.md").expect("path"), now.into());
        again.send(Msg::Loaded(Loaded::Index {
            settings: None,
            conversations: vec![conversation.clone()],
            drafts: vec![],
            mounts: vec![],
        }));
        let loaded = Loaded::Conversation {
            id: conversation.id.clone(),
            items: vec![],
            receipts: vec![],
            reviews: vec![review.clone()],
            operations: vec![record(phase)],
        };
        again.send(Msg::Loaded(loaded));
        let closed = again.stored.iter().rev().find_map(|op| match op {
            StoreOp::PutOperation(record, _) => Some(record.phase),
            _ => None,
        });
        assert_eq!(closed, Some(closing));
        assert_eq!(again.echo.receipt(&OperationId::of(&review.call.id)).map(|r| r.can_undo()), undo);
        assert_eq!(again.echo.reviews().len(), 0, "an approved review is not shown again");
        assert!(again.echo.current().expect("current").items.iter().any(|i| matches!(i.kind, ItemKind::Notice { .. })));
    }
}

#[test]
fn a_window_that_may_write_again_reads_first_what_the_other_one_wrote() {
    let mut w = World::new();
    w.say("one");
    let id = w.echo.current().expect("current").id.clone();
    w.send(Msg::ReadOnly(true));
    let mut record = w.echo.current().expect("current").record();
    record.title = "Renamed over there".into();
    w.stored.clear();
    w.send(Msg::ReadOnly(false));
    assert_eq!(w.stored, [StoreOp::LoadIndex]);
    let draft = crate::conversation::DraftRecord {
        conversation: id.clone(),
        page: Page::composer(),
        draft: Draft { text: "typed over there".into(), ..Draft::default() },
    };
    let settings = Settings { last_conversation: 9, ..Settings::default() };
    w.send(Msg::Loaded(Loaded::Index {
        settings: Some(settings),
        conversations: vec![record],
        drafts: vec![draft],
        mounts: vec![],
    }));
    assert!(w.stored.contains(&StoreOp::LoadConversation(id.clone())) || w.echo.current().is_some_and(|c| c.loaded));
    let c = w.echo.current().expect("current");
    assert_eq!((c.id.clone(), c.draft.text.as_str()), (id, "typed over there"));
    // A window that wrote all along reads nothing anew.
    w.stored.clear();
    w.send(Msg::ReadOnly(false));
    assert_eq!(w.stored, []);
}
