//! The stages, and the case sets of what ships.

use kernel::mount::MountPath;

use super::*;
use crate::engine::{Case, Context, Engine, eval};
use crate::packages::review::CaseKind;

fn id(text: &str) -> SkillId {
    SkillId::new(text).expect("id")
}

fn with_import() -> Faculty {
    let mut faculty = Faculty::built_in();
    assert!(faculty.import(id("imported"), "Imported", "A line", "The body of the imported skill, word for word."));
    faculty
}

#[test]
fn i122_a_catalogue_retains_no_instructions_and_no_address() {
    let faculty = with_import();
    let shown = serde_json::to_vec(&faculty.turn().catalogue()).expect("json");
    for entry in faculty.entries.values() {
        for window in entry.body.as_bytes().windows(16) {
            assert!(!shown.windows(16).any(|w| w == window), "{:?}", String::from_utf8_lossy(window));
        }
    }
    assert!(!String::from_utf8_lossy(&shown).contains(SCHEME));
}

#[test]
fn i123_no_stage_is_reached_without_the_one_before() {
    let faculty = with_import();
    let architect = id("agent_extension_architect");
    let mut turn = faculty.turn();
    let skipped = |r: Result<_, GuidanceRefusal>| matches!(r, Err(GuidanceRefusal::StageSkipped { .. }));
    assert!(skipped(turn.activate(&architect).map(|_| ())));
    turn.catalogue();
    assert!(skipped(turn.resources(&architect).map(|_| ())));
    assert!(skipped(turn.read("echo-guidance://agent_extension_architect/layers").map(|_| ())));
    assert!(skipped(turn.activate(&id("nobody")).map(|_| ())));
    assert!(turn.activate(&architect).expect("shown").instructions.as_str().starts_with("Help the person"));
    assert_eq!(turn.resources(&architect).expect("active").uris, ["echo-guidance://agent_extension_architect/layers"]);
    assert!(turn.read("echo-guidance://agent_extension_architect/layers").expect("disclosed").contains("skill"));
    assert!(skipped(faculty.turn().activate(&architect).map(|_| ())), "a new turn begins at the first stage");
}

#[test]
fn i124_only_what_ships_discloses_addresses() {
    let faculty = with_import();
    let mut turn = faculty.turn();
    turn.catalogue();
    turn.activate(&id("imported")).expect("shown");
    turn.activate(&id("agent_extension_architect")).expect("shown");
    assert_eq!(turn.resources(&id("imported")), Err(GuidanceRefusal::ResourceNotTrusted(id("imported"))));
    for uri in [
        "echo-guidance://imported/x",
        "file:///etc/passwd",
        "echo-guidance://agent_extension_architect/../x",
        "echo-guidance://",
        "echo-guidance://Ä/x",
    ] {
        let code = Refusal::from(turn.read(uri).expect_err("refused")).code;
        assert!(code == "ResourceUnknown" || code == "ResourceNotTrusted", "{uri}: {code}");
    }
}

#[test]
fn what_ships_cannot_be_replaced_or_removed() {
    let mut faculty = with_import();
    assert!(!faculty.import(id("summarise-notes"), "x", "x", "do something else"));
    faculty.remove(&id("summarise-notes"));
    faculty.remove(&id("imported"));
    let ids: Vec<String> = faculty.turn().catalogue().into_iter().map(|e| e.id.to_string()).collect();
    assert_eq!(ids, ["agent_extension_architect", "summarise-notes"]);
}

#[test]
fn t149_i118_a_projection_holds_ids_and_instructions_only() {
    let metas = BUILT_IN.iter().map(|b| b.meta().expect("meta")).collect();
    let engine = Engine::new(metas).expect("engine");
    let context = Context {
        live_tools: ["files.read", "files.write"].iter().map(|t| kernel::ToolName::new(t).expect("name")).collect(),
        ..Context::default()
    };
    let evaluations = engine.evaluate("Use /summarise-notes and then teach the agent to do it", &context);
    let guidance = Faculty::built_in().project(&evaluations);
    assert_eq!(
        guidance.iter().map(|g| g.skill_id.as_str()).collect::<Vec<_>>(),
        ["summarise-notes", "agent_extension_architect"]
    );
    let json: serde_json::Value = serde_json::to_value(&guidance).expect("json");
    for (value, skill) in json.as_array().expect("list").iter().zip(&BUILT_IN) {
        let keys: Vec<&String> = value.as_object().expect("object").keys().collect();
        assert_eq!(keys, ["skill_id", "instructions"]);
        assert_eq!(value["instructions"], skill.body);
    }
    let text = json.to_string();
    for leak in ["score", "ExactInvocation", "reason", "digest", "files.read", SCHEME, "triggers"] {
        assert!(!text.contains(leak), "{leak}");
    }
    assert_eq!(format!("{:?}", guidance[0].instructions), format!("instructions of {} bytes", BUILT_IN[0].body.len()));
}

#[test]
fn t148_i116_a_context_is_the_same_with_and_without_skills() {
    // The engine takes the live tools by reference and gives verdicts; it has no way to a tool.
    let context =
        Context { live_tools: [kernel::ToolName::new("files.read").expect("name")].into(), ..Context::default() };
    let before = context.clone();
    let metas = BUILT_IN.iter().map(|b| b.meta().expect("meta")).collect();
    let evaluations = Engine::new(metas).expect("engine").evaluate("Run /summarise-notes now", &context);
    assert!(evaluations.iter().any(Evaluation::is_active));
    assert_eq!(context, before);
    let json = serde_json::to_string(&Faculty::built_in().project(&evaluations)).expect("json");
    assert!(!json.contains("files."));
}

#[test]
fn i176_what_ships_carries_the_full_case_set_and_passes_it() {
    for skill in &BUILT_IN {
        let cases: Vec<Case> = skill
            .cases
            .iter()
            .map(|(kind, objective, target)| Case {
                kind: *kind,
                objective: (*objective).to_owned(),
                targets: if target.is_empty() { vec![] } else { vec![MountPath::parse(target).expect("path")] },
            })
            .collect();
        let meta = skill.meta().expect("meta");
        let report = eval(&meta, &cases).expect("evaluated");
        for outcome in &report.outcomes {
            assert!(outcome.passed, "{}: {:?} {:?}", skill.id, outcome.case, outcome.reasons);
        }
        let set = report.set(&meta);
        assert_eq!((set.missing(), set.failed()), (vec![], 0), "{}", skill.id);
        for kind in CaseKind::ALL {
            assert!(cases.iter().any(|c| c.kind == kind), "{}: {kind:?}", skill.id);
        }
    }
}

#[test]
fn what_ships_listens_to_every_language_with_a_table() {
    for skill in &BUILT_IN {
        let positive = skill.cases.iter().filter(|c| c.0 == CaseKind::Positive);
        let languages: BTreeSet<_> = positive.filter_map(|c| crate::engine::Analysis::of(c.1).language).collect();
        assert_eq!(languages.len(), crate::engine::Language::ALL.len(), "{}: {languages:?}", skill.id);
    }
}
