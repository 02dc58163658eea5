use std::collections::{BTreeMap, BTreeSet};

use kernel::{Digest, SkillId};
use proptest::prelude::*;
use serde::Serialize;

use super::*;
use crate::core::{ActiveRoot, ProjectId, SchemaTag, encode};
use crate::testkit::{at, call, digest, session};
use ContextRefusal as R;
use ReceiptEvent as E;

fn source(layer: Layer, name: &str) -> SourceId {
    SourceId { layer, name: name.into() }
}
fn message() -> SourceId {
    source(Layer::Message, "submission")
}
fn file(name: &str) -> SourceId {
    source(Layer::Project, name)
}
fn skill() -> SourceId {
    source(Layer::Skill, "review")
}
fn place(name: &str) -> Place {
    Place {
        project: ProjectId::new(name).expect("name"),
        root: ActiveRoot::new(&format!("/mnt/{name}")).expect("root"),
    }
}
fn target() -> UniqueTarget {
    UniqueTarget::Project(place("a"), HowFound::OnlyCandidate)
}
fn seed(text: &str) -> IntentSeed {
    IntentSeed::of(ContextEpoch(1), text, Continuity::default(), at(1)).expect("says something")
}
fn who(nonce: u64) -> PlanIdentity {
    PlanIdentity { epoch: ContextEpoch(1), host: digest("build"), session: session("tab-1"), nonce }
}
fn envelope() -> ActionEnvelope {
    ActionEnvelope { allowed: [ActionClass::Read, ActionClass::Write].into(), risk_ceiling: Risk::High }
}
fn catalogue() -> BTreeMap<SourceId, SourceMeta> {
    let meta = |bytes| SourceMeta { bytes, identity: None };
    [(message(), meta(10)), (file("/a"), meta(100)), (file("/b"), meta(1_000)), (skill(), meta(50))].into()
}
fn draft() -> Draft {
    Draft {
        baseline: [(message(), ReadQuery::Whole)].into(),
        selected: [(file("/a"), ReadQuery::Part(50, 100)), (skill(), ReadQuery::Whole)].into(),
        excluded: [(file("/b"), "not named".into())].into(),
        mandatory: [file("/a"), skill()].into(),
        ..Draft::default()
    }
}
fn planned(seed: &IntentSeed, who: PlanIdentity, draft: Draft) -> Result<Plan, R> {
    Plan::new(seed, target(), who, envelope(), &catalogue(), draft)
}
const WISH: &str = "fix /mnt/a/a please";
fn plan() -> Plan {
    planned(&seed(WISH), who(1), draft()).expect("plans")
}
fn fresh(plan: Plan) -> Receipt {
    Unplanned::default().accept(plan, ReadMode::StructuredPlan)
}
fn pre(plan: &Plan, id: u64, source: &SourceId) -> Observation {
    Observation {
        id,
        tool_call: call(1),
        phase: ReadPhase::Pre,
        plan_id: plan.id(),
        plan_content_id: plan.content_id(),
        epoch: plan.identity().epoch,
        place: plan.place().cloned(),
        session: plan.identity().session.clone(),
        source: source.clone(),
        query: plan.query_digest(source).unwrap_or(digest("none")),
        result: digest(&source.name),
        content: None,
        body_observed: false,
        outcome: Outcome::Unobservable,
        at: at(id),
    }
}
fn post(plan: &Plan, id: u64, source: &SourceId) -> Observation {
    let content = Some(ContentIdentity { digest: digest(&source.name), bytes: 9 });
    let phase = ReadPhase::Post;
    Observation { phase, content, body_observed: true, outcome: Outcome::Success, ..pre(plan, id, source) }
}
fn sources() -> [SourceId; 3] {
    [message(), file("/a"), skill()]
}
fn read(plan: Plan, which: &[SourceId]) -> Receipt {
    let start = fresh(plan.clone());
    (1..).zip(which).fold(start, |r, (id, s)| r.observe(post(&plan, id, s)).expect("of the plan"))
}
pub(crate) fn complete() -> Receipt {
    read(plan(), &sources())
}
/// A turn that goes on with a part.
pub(crate) fn partial() -> Receipt {
    read(plan(), &[message()]).hand_over().expect("goes on")
}
/// What metadata says of everything that [`complete`] read.
fn current() -> BTreeMap<SourceId, Digest> {
    sources().into_iter().map(|s| (s.clone(), digest(&s.name))).collect()
}
fn bytes<T: Serialize>(name: &'static str, value: &T) -> Vec<u8> {
    encode(SchemaTag { name, version: 1 }, value).expect("encodes")
}

#[test]
fn i013_a_seed_is_its_message_and_what_was_observed() {
    assert_eq!(IntentSeed::of(ContextEpoch(1), " \n", Continuity::default(), at(1)), Err(R::IntentMissing));
    assert_eq!(seed("hello").semantic(), Intent::Converse);
    let open = Continuity { open: Some((Intent::Build, digest("trace"))) };
    let goes_on = IntentSeed::of(ContextEpoch(1), "and now the second", open, at(1)).expect("says something");
    assert_eq!((goes_on.canonical(), goes_on.basis().len()), (Ok(Intent::Build), 1));
    assert_eq!(seed("delete /mnt/a/x").risk(), Risk::High);
    assert_eq!(seed(WISH).digest(), seed(WISH).digest());
}

#[test]
fn t082_i014_a_word_alone_is_no_intent_and_narrows_to_reading() {
    for (word, intent) in [("fix", Intent::Repair), ("please audit it", Intent::Audit), ("Lösche das", Intent::Build)]
    {
        let seed = seed(word);
        assert_eq!((seed.semantic(), seed.canonical()), (intent, Err(R::IntentNotCanonical)), "{word}");
        assert!(seed.confidence_bp() <= 5_000);
        let plan = planned(&seed, who(1), draft()).expect("plans");
        assert_eq!(
            (plan.envelope().allowed.clone(), plan.exit()),
            ([ActionClass::Read].into(), Exit::RelevantComplete)
        );
        assert_eq!(fresh(plan).admit(ActionClass::Write, Risk::Normal), Err(R::ActionOutsideEnvelope));
    }
    assert_eq!(seed(WISH).canonical(), Ok(Intent::Repair));
}

#[test]
fn i014_a_stored_seed_is_what_its_message_says_or_nothing() {
    let ours = encode(SEED_TAG, &seed(WISH)).expect("encodes");
    assert_eq!(IntentSeed::load(&ours, WISH, Continuity::default()), Ok(seed(WISH)));
    for (message, field) in [("fix /mnt/a/b please", "message"), ("hello", "message")] {
        let other = IntentSeed::load(&ours, message, Continuity::default());
        assert_eq!(other, Err(R::SeedForeignField(field)));
    }
    let open = Continuity { open: Some((Intent::Build, digest("trace"))) };
    assert_eq!(IntentSeed::load(&ours, WISH, open), Err(R::SeedForeignField("basis")));
    assert_eq!(IntentSeed::load(b"memory says so", WISH, open), Err(R::SeedForeignField("record")));
}

#[test]
fn t083_t084_i015_one_target_or_a_refusal_and_talk_needs_none() {
    let (a, b) = (place("a"), place("b"));
    let (two, one) = ([a.clone(), b.clone()], [a.clone()]);
    let find = |open: &[Place], named: &[Place], sticky, purpose| UniqueTarget::resolve(open, named, sticky, purpose);
    assert_eq!(find(&[], &[], None, Purpose::Tool), Err(R::TargetMissing));
    assert_eq!(find(&two, &[], None, Purpose::Tool), Err(R::TargetAmbiguous(2)));
    assert_eq!(find(&two, &two, None, Purpose::Talk), Err(R::TargetAmbiguous(2)));
    assert_eq!(find(&one, std::slice::from_ref(&b), None, Purpose::Talk), Err(R::TargetMissing));
    for open in [&[][..], &two] {
        assert_eq!(find(open, &[], None, Purpose::Talk), Ok(UniqueTarget::NoProject));
    }
    let found = |how| Ok(UniqueTarget::Project(a.clone(), how));
    assert_eq!(find(&one, &[], None, Purpose::Tool), found(HowFound::OnlyCandidate));
    assert_eq!(find(&two, &[], Some(&a), Purpose::Tool), found(HowFound::Sticky));
    assert_eq!(find(&two, &one, Some(&b), Purpose::Tool), found(HowFound::Explicit));
    // The conversation's own place was unmounted.
    assert_eq!(find(&two, &[], Some(&place("c")), Purpose::Tool), Err(R::TargetAmbiguous(2)));
}

#[test]
fn i016_every_source_stands_in_exactly_one_list_with_its_reason() {
    let broken = |change: fn(&mut Draft)| {
        let mut draft = draft();
        change(&mut draft);
        matches!(planned(&seed(WISH), who(1), draft), Err(R::PlanPartitionBroken(_)))
    };
    assert!(broken(|d| {
        d.excluded.insert(file("/a"), "twice".into());
    }));
    assert!(broken(|d| {
        d.selected.insert(message(), ReadQuery::Whole);
    }));
    assert!(broken(|d| {
        d.excluded.insert(file("/b"), " ".into());
    }));
    assert!(broken(|d| {
        d.excluded.insert(file("/gone"), "gone".into());
    }));
    assert!(broken(|d| {
        d.mandatory.insert(file("/b"));
    }));
    assert!(broken(|d| {
        d.selected.insert(file(""), ReadQuery::Whole);
    }));
    assert!(!broken(|_| {}));
    assert_eq!(plan().budget(), (10 + 50 + 50, 3));
}

#[test]
fn t080_i016_a_source_that_nobody_decided_about_blocks() {
    let mut more = catalogue();
    more.insert(file("/new"), SourceMeta { bytes: 1, identity: None });
    let plan = Plan::new(&seed(WISH), target(), who(1), envelope(), &more, draft()).expect("plans");
    assert_eq!((plan.exit(), plan.unclassified().clone()), (Exit::Blocked, [file("/new")].into()));
    let receipt = fresh(plan.clone());
    assert_eq!(receipt.status(), Status::Blocked);
    assert_eq!(receipt.observe(post(&plan, 1, &message())), Err(R::PlanUnclassified(1)));
    // A mandatory source that is not there.
    let mut less = catalogue();
    less.remove(&file("/a"));
    let plan = Plan::new(&seed(WISH), target(), who(1), envelope(), &less, draft()).expect("plans");
    assert_eq!(fresh(plan).status(), Status::Blocked);
}

#[test]
fn i018_all_of_a_profile_or_of_memory_is_a_full_read_and_says_so() {
    for layer in [Layer::Profile, Layer::Memory] {
        let all = source(layer, "all");
        let mut more = catalogue();
        more.insert(all.clone(), SourceMeta { bytes: 1 << 20, identity: None });
        let make = |query, full_read| {
            let mut draft = Draft { full_read, ..draft() };
            draft.selected.insert(all.clone(), query);
            Plan::new(&seed(WISH), target(), who(1), envelope(), &more, draft)
        };
        assert_eq!(make(ReadQuery::Whole, None), Err(R::HiddenFullRead("all".into())));
        assert!(make(ReadQuery::Part(0, 10), None).is_ok());
        assert!(make(ReadQuery::Whole, Some(FullReadReason::UserAsked)).is_ok());
    }
    assert_eq!((Limit::new(255).get(), Limit::new(3).get()), (MEMORY_ITEMS, 3));
}

#[test]
fn t088_i017_each_reason_escalates_and_none_is_refused() {
    use FullReadReason as F;
    for reason in [F::UserAsked, F::ProjectRequires, F::Audit, F::Migration, F::MandatorySourceMissing] {
        let plan = planned(&seed(WISH), who(1), Draft { full_read: Some(reason), ..draft() }).expect("plans");
        assert_eq!((plan.exit(), plan.draft().full_read), (Exit::EscalatedFull, Some(reason)));
        let begun = fresh(plan.clone()).observe(pre(&plan, 1, &message())).expect("begins");
        assert_eq!(begun.status(), Status::EscalatedFull);
    }
    // Where bytes can say one without the other, they are refused.
    assert_eq!(PlanV1::load(&v1_plan(true, None)), Err(R::FullReadReasonMissing));
    assert!(matches!(PlanV1::load(&v1_plan(false, Some(F::Audit))), Err(R::HiddenFullRead(_))));
}

#[derive(Serialize)]
struct OldPlan {
    plan_id: &'static str,
    sources: Vec<&'static str>,
    full_read: bool,
    full_read_reason: Option<FullReadReason>,
}
fn v1_plan(full_read: bool, full_read_reason: Option<FullReadReason>) -> Vec<u8> {
    bytes("ContextReadPlan", &OldPlan { plan_id: "p", sources: vec!["/a"], full_read, full_read_reason })
}

#[test]
fn t076_i022_the_first_form_is_read_and_never_used_again() {
    #[derive(Serialize)]
    struct OldReceipt {
        plan_id: &'static str,
        status: &'static str,
        sources: Vec<&'static str>,
    }
    let plan = PlanV1::load(&v1_plan(false, None)).expect("reads");
    assert_eq!((plan.sources(), plan.reuse()), (&["/a".to_owned()][..], Err(R::V1NotReusable)));
    let old = OldReceipt { plan_id: "p", status: "Completed", sources: vec!["/a"] };
    let receipt = ReceiptV1::load(&bytes("ContextReadReceipt", &old)).expect("reads");
    assert_eq!((receipt.sources(), receipt.reuse()), (&["/a".to_owned()][..], Err(R::V1NotReusable)));
    assert!(matches!(ReceiptV1::load(b"?"), Err(R::PlanPartitionBroken(_))));
    assert!(matches!(PlanV1::load(b"?"), Err(R::PlanPartitionBroken(_))));
}

#[test]
fn t087_i019_equal_reading_has_one_content_id_and_every_plan_its_own() {
    let mut worded = draft();
    worded.excluded.insert(file("/b"), "for another reason".into());
    let later = |epoch, tab| PlanIdentity { epoch: ContextEpoch(epoch), session: session(tab), ..who(1) };
    // Order does not exist in a catalogue; wording, epoch, process and counter do not count.
    let same = [
        planned(&seed(WISH), who(2), draft()),
        planned(&seed(WISH), who(1), worded),
        planned(&seed(WISH), later(2, "tab-1"), draft()),
        planned(&seed(WISH), later(1, "tab-2"), draft()),
    ]
    .map(|p| p.expect("plans"));
    assert!(same.iter().all(|p| p.content_id() == plan().content_id()));
    let ids: BTreeSet<_> = [&same[0], &same[2], &same[3], &plan()].map(Plan::id).into();
    assert_eq!(ids.len(), 4);
    let mut other = draft();
    other.selected.insert(file("/a"), ReadQuery::Whole);
    assert_ne!(planned(&seed(WISH), who(1), other).expect("plans").content_id(), plan().content_id());
    let full = Draft { full_read: Some(FullReadReason::Audit), ..draft() };
    assert_ne!(planned(&seed(WISH), who(1), full).expect("plans").content_id(), plan().content_id());
}

#[test]
fn t067_t068_t069_i021_begun_cached_or_old_is_not_read() {
    let plan = plan();
    let all = |f: &dyn Fn(u64, &SourceId) -> Observation| {
        (1..).zip(&sources()).fold(fresh(plan.clone()), |r, (id, s)| r.observe(f(id, s)).unwrap_or(r))
    };
    let begun = all(&|id, s| pre(&plan, id, s));
    assert_eq!((begun.status(), begun.consume(at(9))), (Status::Attempted, Err(R::ReceiptPreOnly)));
    let cached = all(&|id, s| Observation { body_observed: false, ..post(&plan, id, s) });
    assert_eq!((cached.missing().len(), cached.consume(at(9))), (3, Err(R::ReceiptIdentityless)));
    // The full text that an earlier plan's tool returned.
    let before = planned(&seed(WISH), who(0), draft()).expect("plans");
    let old = all(&|id, s| post(&before, id, s));
    assert_eq!((old.status(), old.missing().len()), (Status::Planned, 3));
    assert_eq!(old.consume(at(9)), Err(R::ReceiptIncomplete(3)));
}

#[test]
fn t070_i027_a_sentence_verifies_nothing_and_there_is_one_fallback() {
    let plan = plan();
    for path_observable in [true, false] {
        let told = fresh(plan.clone()).fall_back(path_observable).expect("once");
        assert_eq!((told.status(), told.fall_back(path_observable)), (Status::Unverified, Err(R::FallbackSpent)));
        let all = (1..).zip(&sources()).fold(told, |r, (id, s)| r.observe(post(&plan, id, s)).expect("of the plan"));
        assert_eq!((all.status(), all.consume(at(9))), (Status::Unverified, Err(R::ReceiptIncomplete(0))));
    }
    assert_eq!(complete().fall_back(true), Err(R::FallbackSpent));
}

#[test]
fn t071_i020_a_receipt_takes_what_belongs_to_its_plan_to_the_last_field() {
    let plan = plan();
    let good = || post(&plan, 1, &file("/a"));
    let elsewhere = |root: &str, project: &str| Some(Place { root: place(root).root, project: place(project).project });
    for (bad, field) in [
        (Observation { plan_id: PlanId(digest("x")), ..good() }, "plan_id"),
        (Observation { plan_content_id: PlanContentId(digest("x")), ..good() }, "plan_content_id"),
        (Observation { epoch: ContextEpoch(2), ..good() }, "epoch"),
        (Observation { place: elsewhere("b", "a"), ..good() }, "root"),
        (Observation { place: elsewhere("a", "b"), ..good() }, "project"),
        (Observation { session: session("tab-2"), ..good() }, "session"),
        (Observation { source: file("/b"), ..good() }, "source"),
        (Observation { query: digest("x"), ..good() }, "query"),
        (Observation { result: digest("x"), ..good() }, "result"),
    ] {
        assert_eq!(fresh(plan.clone()).observe(bad), Err(R::ReceiptCorrelation { field }));
    }
    assert_eq!(fresh(plan.clone()).observe(good()).expect("takes it").satisfied().len(), 1);
}

#[test]
fn t072_a_success_without_a_body_or_an_identity_leaves_its_source_missing() {
    let plan = plan();
    for bare in [
        Observation { body_observed: false, ..post(&plan, 1, &file("/a")) },
        Observation { content: None, ..post(&plan, 1, &file("/a")) },
    ] {
        let seen = fresh(plan.clone()).observe(bare).expect("takes it");
        assert!(seen.missing().contains(&file("/a")));
        assert_eq!(seen.consume(at(9)), Err(R::ReceiptIdentityless));
    }
}

#[test]
fn t073_of_a_batch_only_what_succeeded_is_satisfied() {
    use Outcome as O;
    for outcome in [O::Failed, O::Missing, O::Unobservable, O::WrongRoot, O::Invalid] {
        let plan = plan();
        let failed = Observation { outcome, ..post(&plan, 9, &skill()) };
        let batch = read(plan, &[message(), file("/a")]).observe(failed).expect("takes it");
        assert_eq!((batch.satisfied().len(), batch.missing()), (2, [skill()].into()));
        assert_eq!(batch.consume(at(9)), Err(R::ReceiptIncomplete(1)));
        assert_eq!(batch.hand_over().expect("goes on").status(), Status::Partial);
    }
    assert_eq!(fresh(plan()).hand_over(), Err(R::ReceiptIncomplete(3)));
}

#[test]
fn t074_i021_what_a_stored_receipt_claims_is_put_back_to_what_it_proves() {
    let claim = Claim { end: Some(End::Consumed(at(5))), fell_back: false, replans: 0 };
    let load = |r: &Receipt| {
        Receipt::rebuild(r.plan().clone(), ReadMode::StructuredPlan, r.ledger().clone(), claim).expect("its ledger")
    };
    for (receipt, status) in [
        (fresh(plan()), Status::Planned),
        (read(plan(), &[message()]), Status::Attempted),
        (complete(), Status::Completed),
    ] {
        assert_eq!(load(&receipt).status(), status);
    }
}

#[test]
fn t075_one_observation_in_two_ways_verifies_nothing_and_both_are_kept() {
    let plan = plan();
    let done = complete();
    let again = Observation { at: at(77), ..post(&plan, 2, &file("/a")) };
    assert_eq!(done.observe(again), Ok(done.clone())); // the same, later
    let other = Observation { place: Some(place("b")), ..post(&plan, 2, &file("/a")) };
    let torn = done.observe(other).expect("keeps both");
    assert_eq!((torn.status(), torn.ledger().observations().count()), (Status::Unverified, 4));
    assert_eq!(torn.consume(at(9)), Err(R::ReceiptConflict));
}

#[test]
fn t077_i023_each_condition_of_reuse_alone_denies_it() {
    use ReuseReason as Why;
    let of =
        |seed: &IntentSeed, to, who, draft| Plan::new(seed, to, who, envelope(), &catalogue(), draft).expect("plans");
    let (seed, next) = (seed(WISH), who(2));
    let done = complete();
    let delivery = done.reuse(&of(&seed, target(), next.clone(), draft()), &current()).expect("delivers");
    assert_eq!(delivery.from(), done.id());
    let elsewhere = UniqueTarget::Project(place("b"), HowFound::Explicit);
    let full = Draft { full_read: Some(FullReadReason::UserAsked), ..draft() };
    for (plan, why) in [
        (of(&seed, target(), PlanIdentity { session: session("tab-2"), ..who(2) }, draft()), Why::Session),
        (of(&seed, target(), PlanIdentity { epoch: ContextEpoch(2), ..who(2) }, draft()), Why::Epoch),
        (of(&seed, elsewhere, who(2), draft()), Why::Place),
        (of(&seed, target(), who(2), full), Why::Content),
    ] {
        assert_eq!(done.reuse(&plan, &current()), Err(R::ReuseDenied { reason: why }));
    }
    let next = of(&seed, target(), next, draft());
    let mut changed = current();
    changed.insert(file("/a"), digest("edited"));
    let mut unknown = current();
    unknown.remove(&file("/a"));
    for now in [changed, unknown] {
        assert_eq!(done.reuse(&next, &now), Err(R::ReuseDenied { reason: Why::Identity }));
    }
    let part = read(plan(), &[message()]);
    assert_eq!(part.reuse(&next, &current()), Err(R::ReuseDenied { reason: Why::Body }));
    // Computed and not delivered: the body is read.
    let computed = (1..).zip(&sources()).fold(fresh(plan()), |r, (id, s)| {
        r.observe(Observation { body_observed: false, ..post(&plan(), id, s) }).expect("of the plan")
    });
    assert_eq!(computed.reuse(&next, &current()), Err(R::ReuseDenied { reason: Why::Body }));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn t078_i024_no_order_and_no_older_snapshot_loses_an_observation(
        picks in proptest::collection::vec((0u64..6, 0usize..3, any::<bool>()), 0..12), cut: prop::sample::Index,
    ) {
        let plan = plan();
        let seen: Vec<_> = picks.iter().map(|(id, s, done)| {
            let source = &sources()[*s];
            if *done { post(&plan, *id, source) } else { pre(&plan, *id, source) }
        }).collect();
        let of = |list: &[Observation]| list.iter().fold(Ledger::new(LedgerKey::of(&plan)), |l, o| l.add(o.clone()).expect("fits"));
        let (new, old) = (of(&seen), of(&seen[..cut.index(seen.len() + 1).min(seen.len())]));
        prop_assert_eq!(new.merge(&old), Ok(new.clone()));
        prop_assert_eq!(old.merge(&new), Ok(new.clone()));
        let backwards: Vec<_> = seen.iter().rev().cloned().collect();
        prop_assert_eq!(of(&backwards).digest(), new.digest());
        prop_assert_eq!(Ledger::load(&new.store().expect("fits"), new.key()), Ok(new.clone()));
        // The receipt is a projection of its ledger (I-51).
        let mut receipt = fresh(plan.clone());
        for o in seen { receipt = receipt.observe(o).expect("of the plan"); }
        let claim = receipt.claim();
        prop_assert_eq!(Receipt::rebuild(plan, ReadMode::StructuredPlan, new, claim), Ok(receipt));
    }
}

#[test]
fn i024_a_ledger_has_bounds_and_one_plan() {
    let plan = plan();
    let add = |l: Ledger, id| l.add(pre(&plan, id, &file("/a")));
    let full = (0..LEDGER_MAX as u64).try_fold(Ledger::new(LedgerKey::of(&plan)), add).expect("fits");
    assert_eq!(add(full.clone(), 999), Err(R::LedgerFull));
    let other = Ledger::new(LedgerKey::of(&planned(&seed(WISH), who(2), draft()).expect("plans")));
    assert_eq!(full.merge(&other), Err(R::LedgerKeyMismatch));
    assert_eq!(Ledger::load(&full.store().expect("fits"), other.key()), Err(R::LedgerKeyMismatch));
    let moved = Receipt::rebuild(plan, ReadMode::StructuredPlan, other, complete().claim());
    assert_eq!(moved, Err(R::LedgerKeyMismatch));
}

#[test]
fn t079_i025_a_ledger_wakes_neither_stale_nor_blocked_nor_drifted() {
    let plan = plan();
    let stale = complete().drift(Drift::SourceDigest).expect("drifts");
    assert_eq!(stale.observe(post(&plan, 9, &file("/a"))), Err(R::ReceiptStale));
    let again = Receipt::rebuild(plan.clone(), ReadMode::StructuredPlan, complete().ledger().clone(), stale.claim());
    assert_eq!(again.expect("its ledger").status(), Status::Stale);
    let mut more = catalogue();
    more.insert(file("/new"), SourceMeta { bytes: 1, identity: None });
    let blocked = Plan::new(&seed(WISH), target(), who(1), envelope(), &more, draft()).expect("plans");
    let ledger = sources()
        .iter()
        .zip(1..)
        .try_fold(Ledger::new(LedgerKey::of(&blocked)), |l, (s, id)| l.add(post(&blocked, id, s)));
    let none = Claim { end: None, fell_back: false, replans: 0 };
    let still = Receipt::rebuild(blocked, ReadMode::StructuredPlan, ledger.expect("fits"), none).expect("its ledger");
    assert_eq!(still.status(), Status::Blocked);
    assert_eq!(still.drift(Drift::Profile), Err(R::PlanUnclassified(1)));
}

#[test]
fn i025_a_skill_route_is_replayed_only_for_the_same_reading_of_the_same_source() {
    let id = SkillId::new("review").expect("name");
    let fresh_skill = Some(digest("review"));
    let replay = |r: &Receipt, now: &Plan, s: &SourceId, d| SkillRoute::replay(r, now, id.clone(), s, d);
    let (done, now) = (complete(), plan());
    let route = replay(&done, &now, &skill(), fresh_skill).expect("replays");
    assert_eq!((route.skill(), route.ledger(), route.content().bytes), (&id, done.ledger().digest(), 9));
    let denied = |reason| Err(R::ReuseDenied { reason });
    for edited in [None, Some(digest("edited"))] {
        assert_eq!(replay(&done, &now, &skill(), edited), denied(ReuseReason::Identity));
    }
    assert_eq!(replay(&done, &now, &file("/a"), Some(digest("/a"))), denied(ReuseReason::Body));
    let elsewhere = UniqueTarget::Project(place("b"), HowFound::Explicit);
    for other in [
        planned(&seed(WISH), who(2), draft()).expect("plans"),
        planned(&seed(WISH), PlanIdentity { epoch: ContextEpoch(2), ..who(1) }, draft()).expect("plans"),
        Plan::new(&seed(WISH), elsewhere, who(1), envelope(), &catalogue(), draft()).expect("plans"),
    ] {
        assert_eq!(replay(&done, &other, &skill(), fresh_skill), Err(R::LedgerKeyMismatch));
    }
    for cause in Drift::ALL {
        let stale = done.drift(cause).expect("drifts");
        assert_eq!(replay(&stale, &now, &skill(), fresh_skill), Err(R::ReceiptStale));
    }
    assert_eq!(replay(&read(plan(), &[skill()]), &now, &skill(), fresh_skill), Err(R::ReceiptIncomplete(2)));
    let torn = done.observe(pre(&now, 3, &skill())).expect("keeps both");
    assert_eq!(replay(&torn, &now, &skill(), fresh_skill), Err(R::ReceiptConflict));
    let mut more = catalogue();
    more.insert(file("/new"), SourceMeta { bytes: 1, identity: None });
    let blocked = Plan::new(&seed(WISH), target(), who(1), envelope(), &more, draft()).expect("plans");
    assert_eq!(replay(&fresh(blocked.clone()), &blocked, &skill(), fresh_skill), Err(R::PlanUnclassified(1)));
}

#[test]
fn t085_each_drift_makes_stale_once_and_planning_again_ends() {
    for cause in Drift::ALL {
        let stale = complete().drift(cause).expect("drifts");
        assert_eq!((stale.status(), stale.satisfied().len(), stale.replans()), (Status::Stale, 0, 1));
        for other in Drift::ALL {
            assert_eq!(stale.drift(other), Ok(stale.clone()));
        }
        assert_eq!(stale.admit(ActionClass::Read, Risk::Normal), Err(R::ReceiptStale));
        assert_eq!(stale.reuse(&plan(), &current()), Err(R::ReceiptStale));
        assert_eq!(stale.consume(at(9)), Err(R::ReceiptStale));
    }
    let again =
        |r: &Receipt, n| r.replan(planned(&seed(WISH), who(n), draft()).expect("plans"), ReadMode::StructuredPlan);
    assert_eq!(again(&complete(), 2), Err(R::ReplanLoop)); // not stale
    let mut receipt = complete().drift(Drift::Scope).expect("drifts");
    assert_eq!(again(&receipt, 1), Err(R::ReplanLoop)); // the same plan
    for n in 2..u64::from(REPLANS_MAX) + 2 {
        receipt = again(&receipt, n).expect("plans again").drift(Drift::Scope).expect("drifts");
    }
    assert_eq!(again(&receipt, 99), Err(R::ReplanLoop));
}

#[test]
fn t086_i026_a_hundred_actions_read_nothing_more() {
    let done = complete().consume(at(9)).expect("complete");
    for _ in 0..100 {
        assert_eq!(done.admit(ActionClass::Write, Risk::High), Ok(()));
    }
    assert_eq!(done.ledger().observations().count(), 3);
    assert_eq!(done.admit(ActionClass::Execute, Risk::Normal), Err(R::ActionOutsideEnvelope));
    assert_eq!(done.admit(ActionClass::Write, Risk::Critical), Err(R::ActionOutsideEnvelope));
    let blind = ActionEnvelope { allowed: BTreeSet::new(), risk_ceiling: Risk::Normal };
    let plan = Plan::new(&seed(WISH), target(), who(1), blind, &catalogue(), draft()).expect("plans");
    assert_eq!(fresh(plan.clone()).observe(pre(&plan, 1, &message())), Err(R::ActionOutsideEnvelope));
}

/// A receipt in each state; `None` where a targeted plan has none.
fn standing(status: Status) -> Option<Receipt> {
    let part = || read(plan(), &[message()]);
    Some(match status {
        Status::Planned => fresh(plan()),
        Status::Attempted => part(),
        Status::RelevantComplete => complete(),
        Status::Completed => complete().consume(at(5)).expect("complete"),
        Status::Partial => part().hand_over().expect("goes on"),
        Status::Unverified => {
            fresh(plan()).fall_back(false).and_then(|r| r.observe(post(&plan(), 1, &message()))).expect("once")
        }
        Status::Stale => complete().drift(Drift::Risk).expect("drifts"),
        _ => return None,
    })
}
fn happen(r: &Receipt, event: E) -> Result<Receipt, R> {
    let plan = r.plan();
    let missing: Vec<_> = r.missing().into_iter().collect();
    match event {
        E::Pre => r.observe(pre(plan, 50, &file("/a"))),
        E::PostSome => {
            let [one, _, ..] = &missing[..] else { return Err(R::ReceiptIncomplete(0)) };
            r.observe(post(plan, 51, one))
        }
        E::PostLast => {
            if missing.is_empty() {
                return Err(R::ReceiptIncomplete(0));
            }
            missing.iter().zip(52..).try_fold(r.clone(), |r, (s, id)| r.observe(post(plan, id, s)))
        }
        E::Fallback => r.fall_back(true),
        E::HandOver => r.hand_over(),
        E::Consume => r.consume(at(9)),
        E::Drift => r.drift(Drift::Action),
        E::Conflict => {
            let Some(first) = r.ledger().observations().next() else { return Err(R::ReceiptIncomplete(0)) };
            r.observe(Observation { body_observed: !first.body_observed, ..first.clone() })
        }
    }
}

#[test]
fn i020_i021_i025_every_state_takes_the_events_of_the_table_and_no_other() {
    use Status as S;
    assert_eq!(Unplanned::default().status(), S::Unplanned);
    assert_eq!(Unplanned::default().baseline(message()).status(), S::BaselineReady);
    // What was read before the plan proves nothing of it.
    assert_eq!(Unplanned::default().baseline(message()).accept(plan(), ReadMode::StructuredPlan), fresh(plan()));
    let states = [S::Planned, S::Attempted, S::RelevantComplete, S::Completed, S::Partial, S::Unverified, S::Stale];
    let events = [E::Pre, E::PostSome, E::PostLast, E::Fallback, E::HandOver, E::Consume, E::Drift, E::Conflict];
    for (state, event) in states.iter().flat_map(|s| events.map(|e| (*s, e))) {
        let from = standing(state).expect("a state of a targeted plan");
        assert_eq!(from.status(), state);
        let to = TABLE.iter().find(|(s, e, _)| (*s, *e) == (state, event)).map(|(_, _, to)| *to);
        let got = happen(&from, event).ok().filter(|next| *next != from || to.is_some());
        assert_eq!(got.map(|r| r.status()), to, "{state:?} {event:?}");
    }
}
