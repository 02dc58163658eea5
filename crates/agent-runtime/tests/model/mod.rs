//! The exhaustive check of operation and terminal under two writers (verification.md §4.2):
//! what always holds, and what is sometimes reached.

mod explore;
mod world;

use std::collections::BTreeSet;

use agent_runtime::core::SessionId;
use agent_runtime::operation::{Effect, OperationRecord, Phase};

pub use explore::Report;
use world::{Action, World};
pub use world::{Planted, Rules};

/// Everything that has to be reached, or the model is too small to say anything.
pub const SOMETIMES: [&str; 16] = [
    "a change is applied, answered and settled",
    "both changes are applied",
    "a change whose answer was lost is found to be applied",
    "a change whose sender is gone is found not to be applied",
    "a late answer settles the change for another writer",
    "an answer moves nothing any more",
    "a change is called off before it is sent",
    "a person says how it ended",
    "nothing proves how it ended",
    "nothing is sent again",
    "a stale writer is refused",
    "a reply of the store is lost",
    "a task does not end with a change open",
    "a task ends",
    "a task is reopened and changed again",
    "a frozen session loses the task",
];

/// Explores the world by its rules, up to `limit` states.
pub fn run(rules: Rules, limit: usize) -> Report {
    explore::explore(
        World::new(),
        limit,
        |w| w.next(rules),
        |before, action, after, reached| {
            reach(before, action, after, reached);
            always(before, after)
        },
    )
}

fn sent(world: &World, n: usize) -> bool {
    let open = |r: &OperationRecord| r.request().id.call().n as usize == n + 1 && r.phase() != Phase::Prepared;
    world.stored.ops.unresolved().is_some_and(open)
}

fn always(before: &World, after: &World) -> Result<(), String> {
    let (old, new) = (&*before.stored, &*after.stored);
    let holds = |ok: bool, what: &str| if ok { Ok(()) } else { Err(what.to_owned()) };
    for n in 0..2 {
        let (effects, said) = (after.effects[n], after.said[n]);
        holds(effects <= 1, "I-59: an operation was applied twice")?;
        let accounted = sent(after, n) || said == Some(Effect::KnownApplied);
        holds(effects == 0 || accounted, "I-55: an effect that the record does not know of")?;
        holds(said != Some(Effect::KnownApplied) || effects == 1, "what is called applied was not")?;
        holds(said != Some(Effect::KnownNotApplied) || effects == 0, "what is called not applied was")?;
    }
    let count = |w: &World| w.stored.ops.settled().count();
    let gone = old.ops.unresolved().is_some_and(|r| new.ops.unresolved().is_none_or(|s| s.request() != r.request()));
    holds(new.ops.last() >= old.ops.last(), "I-61: the counter of operations went back")?;
    holds(count(after) == count(before) + usize::from(gone), "I-53: an open operation was forgotten")?;
    holds(new == old || new.seq == old.seq + 1, "I-37: a write is one step")?;
    holds([0, 1].contains(&new.generation.wrapping_sub(old.generation)), "I-38: generations rise by one")?;
    holds(after.refused.is_none() || new == old, "a refusal changed something")?;
    let ended = |w: &World| w.stored.life.terminal().is_some();
    holds(!ended(after) || new.ops.unresolved().is_none(), "I-62: a task ended with an operation open")?;
    holds(!(ended(before) && ended(after)) || new == old, "I-65: something changed after the end")?;
    holds(!ended(before) || after.effects == before.effects, "I-65: a tool wrote after the end")?;
    let reopened = new.life.rev() != old.life.rev();
    holds(!reopened || new.generation == old.generation + 1, "I-66: a new life has a new generation")
}

fn reach(before: &World, action: &Action, after: &World, reached: &mut BTreeSet<&'static str>) {
    let changed = before.stored != after.stored;
    let said = |effect| before.said != after.said && after.said.contains(&Some(effect));
    let open = before.stored.ops.unresolved();
    let unanswered = open.is_some_and(|r| r.times()[2].is_none() && !before.answered(r));
    let others = |s: &SessionId| before.stored.owner.is_some_and(|p| world::session(p) != *s);
    let marks = [
        matches!(action, Action::Answer(_)) && said(Effect::KnownApplied),
        after.effects == [1, 1] && after.said == [Some(Effect::KnownApplied); 2],
        matches!(action, Action::Reread(_)) && unanswered && said(Effect::KnownApplied),
        matches!(action, Action::Reread(_)) && unanswered && said(Effect::KnownNotApplied),
        matches!(action, Action::Receive(..)) && changed && open.is_some_and(|r| others(&r.request().session)),
        matches!(action, Action::Receive(..)) && after.refused == Some("OperationCas"),
        open.is_some_and(|r| r.phase() == Phase::Prepared) && changed && after.stored.ops.unresolved().is_none(),
        matches!(action, Action::Attest(..)) && changed,
        after.refused == Some("SettlementUnproven"),
        after.refused == Some("AutoRetryForbidden"),
        after.refused == Some("StaleFence"),
        matches!(action, Action::Unheard(_)),
        after.refused == Some("TerminalUnsettled"),
        matches!(action, Action::End(_)) && changed,
        after.stored.life.rev().0 > 0 && after.effects[1] == 1 && before.effects[1] == 0,
        matches!(action, Action::Takeover(_)) && changed && before.owner_is_frozen(),
    ];
    reached.extend(SOMETIMES.into_iter().zip(marks).filter(|(_, on)| *on).map(|(name, _)| name));
}
