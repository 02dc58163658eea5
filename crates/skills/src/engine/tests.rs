//! The seed's table and the cases T-123 to T-128 and T-141 to T-150.

use kernel::registry::Review;
use kernel::{Digest, SkillId, ToolName};
use proptest::prelude::*;

use super::*;

fn skill(id: &str) -> SkillMeta {
    SkillMeta {
        id: SkillId::new(id).expect("id"),
        version: None,
        description: "Audits a release candidate before it ships: versions, changelog and licences. Do not use for \
                      feature planning or generated files."
            .into(),
        triggers: vec!["audit this release".into(), "release audit".into()],
        negative_terms: vec!["feature plan".into()],
        required_tools: vec![],
        include_paths: vec![],
        exclude_paths: vec!["generated/**".into()],
        enabled: true,
        review: Review::HumanReviewed { binding: Digest::of(b"body") },
        digest: Digest::of(b"body"),
        body_bytes: 4,
    }
}

fn judge_in(meta: SkillMeta, objective: &str, context: &Context) -> Evaluation {
    Engine::new(vec![meta]).expect("engine").evaluate(objective, context).remove(0)
}

fn judge(objective: &str) -> Evaluation {
    judge_in(skill("release-audit"), objective, &Context::default())
}

#[track_caller]
fn inactive(objective: &str, reason: &ReasonCode) {
    let e = judge(objective);
    assert_eq!(e.verdict, Verdict::Inactive, "{objective}: {:?}", e.reasons);
    assert!(e.reasons.contains(reason), "{objective}: {:?}", e.reasons);
}

#[track_caller]
fn active(objective: &str, reason: &ReasonCode) {
    let e = judge(objective);
    assert!(e.is_active() && e.reasons.contains(reason), "{objective}: {:?} {:?}", e.verdict, e.reasons);
}

#[test]
fn t123_an_exact_invocation_is_active() {
    active("Run /release-audit for this candidate.", &ReasonCode::ExactInvocation);
}

#[test]
fn t124_metadata_activates_only_after_review() {
    active("Audit this release candidate.", &ReasonCode::TriggerPhrase);
    let unreviewed = SkillMeta { review: Review::Unreviewed, ..skill("release-audit") };
    let e = judge_in(unreviewed, "Audit this release candidate.", &Context::default());
    assert!(!e.is_active() && e.reasons.contains(&ReasonCode::Unreviewed));
    let without = SkillMeta { triggers: vec![], ..skill("release-audit") };
    let e = judge_in(without, "Please audit the versions and the changelog of this candidate", &Context::default());
    assert!(e.is_active() && e.reasons.contains(&ReasonCode::DescriptionTerms), "{e:?}");
}

#[test]
fn t125_a_negated_invocation_is_not() {
    inactive("Do not run release-audit.", &ReasonCode::NegatedClause);
}

#[test]
fn t126_a_literal_mention_is_not() {
    inactive("Explain the literal command /release-audit.", &ReasonCode::DescriptiveMention);
}

#[test]
fn t127_another_request_is_not() {
    inactive("Plan the next feature.", &ReasonCode::BelowThreshold);
    inactive("Draft the feature plan for the release audit", &ReasonCode::NearMissVeto);
}

#[test]
fn t128_a_path_outside_is_not() {
    let context =
        Context { target_paths: vec![MountPath::parse("generated/out.json").expect("path")], ..Context::default() };
    let e = judge_in(skill("release-audit"), "Please run a release audit of the generated output", &context);
    assert!(!e.is_active() && e.reasons.contains(&ReasonCode::PathExcluded), "{:?}", e.reasons);
}

#[test]
fn t141_what_is_shown_is_never_evidence() {
    let said = "Please run /release-audit and audit this release now";
    active(said, &ReasonCode::ExactInvocation);
    for (open, close) in [
        ("\"", "\""),
        ("“", "”"),
        ("„", "“"),
        ("«", "»"),
        ("‹", "›"),
        ("「", "」"),
        ("『", "』"),
        ("‘", "’"),
        ("'", "'"),
    ] {
        inactive(&format!("He wrote {open}{said}{close} to us."), &ReasonCode::MaskedQuote);
        inactive(&format!("He wrote {open}{said}"), &ReasonCode::MaskedQuote);
    }
    for shown in [
        format!("See `{said}` here"),
        format!("See:\n```\n{said}\n```\nthanks"),
        format!("See:\n```sh\n{said}"),
        format!("See\n\n    {said}\n"),
        format!("See <!-- {said} --> here"),
        format!("See [the page](https://x.example/{}) here", said.replace(' ', "-")),
        "See https://x.example/release-audit/audit-this-release".to_owned(),
        format!("See <code>{said}</code>"),
    ] {
        assert!(!judge(&shown).is_active(), "{shown}");
    }
    inactive(&format!("See\n\n> {said}\n\nthanks"), &ReasonCode::MaskedBlockquote);
    inactive(&format!("See\n~~~\n{said}"), &ReasonCode::MaskedCode);
}

#[test]
fn t142_each_negator_denies_to_the_end_of_its_clause() {
    for negator in [
        "do not run",
        "don't run",
        "never run",
        "no need to run",
        "avoid using",
        "skip",
        "stop",
        "disable",
        "ignore",
        "exclude",
        "rather than run",
        "instead of",
        "we can't use",
        "you should not run",
        "without running",
        "forget about",
        "please don’t use",
        "no",
        "refrain from using",
        "hold off with",
    ] {
        inactive(&format!("Well, {negator} /release-audit for the build"), &ReasonCode::NegatedClause);
    }
    for ends in ["but", "however", "then", "instead,"] {
        active(&format!("Do not touch the docs, {ends} run /release-audit"), &ReasonCode::ExactInvocation);
    }
    for mark in [". ", "! ", "? ", "; ", ":\n", ".\n\n"] {
        active(&format!("Do not touch the docs{mark}Run /release-audit"), &ReasonCode::ExactInvocation);
    }
    inactive("/release-audit should not be run today", &ReasonCode::NegatedClause);
    inactive("Do not\nrun /release-audit", &ReasonCode::NegatedClause);
    active("Run /release-audit without touching the docs", &ReasonCode::ExactInvocation);
}

#[test]
fn t142_two_negations_prove_nothing() {
    inactive("Never ship without /release-audit", &ReasonCode::NegationAmbiguous);
    inactive("Don't forget to run /release-audit", &ReasonCode::NegationAmbiguous);
    inactive("Run /release-audit. No wait, do not run /release-audit", &ReasonCode::NegationAmbiguous);
    active("Do not run /release-audit on dev. Run /release-audit on main", &ReasonCode::ExactInvocation);
}

#[test]
fn t143_what_is_spoken_about_is_not_asked_for() {
    for about in [
        "Explain",
        "Describe",
        "Document",
        "Define",
        "Mention",
        "What does",
        "Tell me the meaning of",
        "Compare",
        "Rename",
        "Delete",
        "Show the syntax of",
        "Quote",
        "How do I use",
        "Why would anybody use",
        "Who runs",
        "What is",
        "I was wondering about",
        "Is it fine to use",
    ] {
        inactive(&format!("{about} /release-audit please"), &ReasonCode::DescriptiveMention);
    }
    for told in [
        "We use /release-audit every week",
        "The nightly job runs with /release-audit",
        "I liked /release-audit",
        "They usually run /release-audit on Fridays",
        "You can use /release-audit for that",
        "/docs mention /release-audit",
        "The release audit took four hours yesterday",
    ] {
        inactive(told, &ReasonCode::DescriptiveMention);
    }
    for asked in [
        "Can you run /release-audit?",
        "I'd like you to use /release-audit here",
        "Check it with /release-audit",
        "/release-audit what changed since Monday?",
        "please /release-audit this",
        "Apply the /release-audit to v2",
        "Run the document through, then use $release-audit",
        "We should run /release-audit now",
    ] {
        active(asked, &ReasonCode::ExactInvocation);
    }
}

#[test]
fn t144_only_a_whole_token_is_an_id() {
    for text in [
        "Run foo/release-audit",
        "Run /release-audit/x",
        "Run ./release-audit",
        "Run /release-audits",
        "Run /release-audit-2",
        "Run /release-audit_x",
        "Run x$release-audit",
        "Run /Release-Audit",
        "Run //release-audit",
        "Run /release-audit.md",
    ] {
        assert!(!judge(&format!("{text} for the build")).is_active(), "{text}");
    }
    for text in
        ["Run /release-audit.", "Run (/release-audit)", "Run **/release-audit**!", "Run /skill:release-audit on it"]
    {
        active(text, &ReasonCode::ExactInvocation);
    }
    active("Run release-audit for the candidate", &ReasonCode::TriggerPhrase);
    inactive("The release-audit folder is big", &ReasonCode::DescriptiveMention);
}

#[test]
fn t145_what_only_looks_like_an_id_is_none() {
    for text in [
        "Run /relеase-audit now",
        "Run /release\u{200b}-audit now",
        "Run /release‑audit now",
        "Run /ｒelease-audit now",
        "Run ／release-audit now",
        "Run /release-audıt now",
        "Run /release-audit\u{301} now",
        "Run \u{202e}/release-audit\u{202c} now",
    ] {
        assert!(!judge(text).is_active(), "{text:?}");
    }
}

#[test]
fn t146_only_the_objective_is_evidence() {
    // The function takes nothing else; what a turn knows beside it changes no verdict.
    let mut context = Context::default();
    let before = judge_in(skill("release-audit"), "Continue with what we had", &context);
    context.target_paths.push(MountPath::parse("release-audit/notes.md").expect("path"));
    context.live_tools.insert(ToolName::new("release-audit").expect("name"));
    assert_eq!(judge_in(skill("release-audit"), "Continue with what we had", &context), before);
    assert!(!before.is_active());
}

#[test]
fn t147_gates_only_take_away() {
    let asked = "Run /release-audit for this candidate.";
    let tool = ToolName::new("files.read").expect("name");
    let with = |change: &dyn Fn(&mut SkillMeta)| {
        let mut meta = skill("release-audit");
        change(&mut meta);
        judge_in(meta, asked, &Context::default())
    };
    for (e, reason) in [
        (with(&|m| m.enabled = false), ReasonCode::Disabled),
        (with(&|m| m.review = Review::Unreviewed), ReasonCode::Unreviewed),
        (with(&|m| m.digest = Digest::of(b"other")), ReasonCode::ReviewBindingChanged),
        (with(&|m| m.required_tools = vec![tool.clone()]), ReasonCode::RequiredToolMissing { tool: tool.clone() }),
        (with(&|m| m.include_paths = vec!["src/**".into()]), ReasonCode::PathNotIncluded),
        (with(&|m| m.exclude_paths = vec!["[".into()]), ReasonCode::PathExcluded),
    ] {
        assert!(
            !e.is_active() && e.reasons.contains(&reason) && e.reasons.contains(&ReasonCode::ExactInvocation),
            "{e:?}"
        );
    }
    let context = Context { live_tools: [tool.clone()].into(), ..Context::default() };
    let mut meta = skill("release-audit");
    meta.required_tools = vec![tool];
    assert!(judge_in(meta, asked, &context).is_active());
}

#[test]
fn i115_a_named_skill_passes_the_same_gates() {
    let tool = ToolName::new("files.read").expect("name");
    let id = SkillId::new("release-audit").expect("id");
    let admit = |change: &dyn Fn(&mut SkillMeta)| {
        let mut meta = skill("release-audit");
        change(&mut meta);
        Engine::new(vec![meta]).expect("engine").admit(&id, &Context::default()).map(|m| m.id.clone())
    };
    assert_eq!(admit(&|_| {}), Ok(id.clone()));
    assert_eq!(admit(&|m| m.enabled = false), Err(SkillRefusal::SkillDisabled(id.clone())));
    assert_eq!(
        admit(&|m| m.digest = Digest::of(b"x")),
        Err(SkillRefusal::SkillUnreviewed { id: id.clone(), changed: true })
    );
    assert_eq!(
        admit(&|m| m.review = Review::Unreviewed),
        Err(SkillRefusal::SkillUnreviewed { id: id.clone(), changed: false })
    );
    assert_eq!(
        admit(&|m| m.required_tools = vec![tool.clone()]),
        Err(SkillRefusal::SkillToolMissing { id: id.clone(), tool: tool.clone() })
    );
    assert_eq!(admit(&|m| m.include_paths = vec!["a".into()]), Err(SkillRefusal::SkillPathExcluded(id.clone())));
    let other = SkillId::new("other").expect("id");
    let engine = Engine::new(vec![skill("release-audit")]).expect("engine");
    assert_eq!(engine.admit(&other, &Context::default()).err(), Some(SkillRefusal::SkillUnknown(other)));
    let twice = Engine::new(vec![skill("a-b"), skill("a-b")]).expect_err("refused");
    assert_eq!(Refusal::from(twice).code, "SkillCap");
    let many = SkillMeta { triggers: vec!["x y".into(); TRIGGERS_MAX + 1], ..skill("a") };
    assert!(matches!(Engine::new(vec![many]), Err(SkillRefusal::SkillCap { there: 17, .. })));
}

#[test]
fn decision_5_an_unknown_language_takes_exact_invocation_only() {
    active("Esegui /release-audit, run /release-audit", &ReasonCode::ExactInvocation);
    active("/release-audit sulla versione candidata", &ReasonCode::ExactInvocation);
    inactive("Fammi subito release audit", &ReasonCode::LanguageUnknown);
    inactive("Non eseguire /release-audit", &ReasonCode::NegatedClause);
}

#[test]
fn the_longest_objective_is_cut_and_says_so() {
    let long = format!("Run /release-audit. {}", "More words follow here. ".repeat(1000));
    let e = judge(&long);
    assert!(e.is_active() && e.reasons.contains(&ReasonCode::ObjectiveTruncated));
    // What the cut reaches proves nothing: the rest of the sentence might deny it.
    let mut late = "word ".repeat(OBJECTIVE_MAX / 5 - 6);
    late.push_str("run /release-audit not that I would want it");
    assert!(late.len() > OBJECTIVE_MAX);
    assert!(!judge(&late).is_active());
}

#[test]
fn the_strongest_fill_the_turn() {
    let metas: Vec<SkillMeta> = (0..6).map(|n| SkillMeta { triggers: vec![], ..skill(&format!("s-{n}")) }).collect();
    let asked = "Use /s-0, use /s-1, use /s-2, use /s-3, use /s-4, use /s-5";
    let out = Engine::new(metas.clone()).expect("engine").evaluate(asked, &Context::default());
    assert_eq!(out.iter().filter(|e| e.is_active()).count(), ACTIVE_MAX);
    assert!(out[4].reasons.contains(&ReasonCode::ActiveCap) && out[5].reasons.contains(&ReasonCode::ActiveCap));
    let heavy: Vec<SkillMeta> = metas.into_iter().map(|m| SkillMeta { body_bytes: 20 * 1024, ..m }).collect();
    let out = Engine::new(heavy).expect("engine").evaluate(asked, &Context::default());
    assert_eq!(out.iter().filter(|e| e.is_active()).count(), 1);
}

#[test]
fn i119_evidence_names_the_bytes() {
    let text = "Bitte “/release-audit” erwähnen, aber nutze /release-audit jetzt";
    let e = judge(text);
    let seen: Vec<(&str, &ReasonCode)> =
        e.evidence.iter().map(|x| (&text[x.span.start..x.span.end], &x.reason)).collect();
    assert_eq!(seen, [("/release-audit", &ReasonCode::MaskedQuote), ("/release-audit", &ReasonCode::ExactInvocation)]);
    assert_eq!(Analysis::of(text).language, Some(Language::German));
    assert_eq!(Analysis::of(text).masked.len(), 1);
}

/// Sentences from which objectives are made: evidence, denial, description, noise.
const PIECES: [&str; 16] = [
    "Run /release-audit for the candidate. ",
    "Audit this release. ",
    "Do not run /release-audit. ",
    "Plan the feature. ",
    "Explain /release-audit. ",
    "Then tidy my notes, ",
    "but use $release-audit ",
    "\n\n",
    "don't ",
    "bitte nicht ",
    "使用 /release-audit 检查。",
    "the versions and the changelog of the licence ",
    "- item\n",
    "never ",
    "with ",
    "    code\n",
];
const MASKS: [(&str, &str); 7] =
    [("\"", "\""), ("`", "`"), ("“", "”"), ("\n```\n", "\n```\n"), ("\n> ", "\n"), ("<!--", "-->"), ("「", "」")];

fn objective() -> impl Strategy<Value = String> {
    prop::collection::vec((0..PIECES.len(), prop::option::weighted(0.3, 0..MASKS.len())), 0..8).prop_map(|parts| {
        parts
            .into_iter()
            .map(|(n, masked)| match masked {
                Some(m) => format!(" {}{}{} ", MASKS[m].0, PIECES[n].trim(), MASKS[m].1),
                None => PIECES[n].to_owned(),
            })
            .collect()
    })
}

proptest! {
    #[test]
    fn t150_i113_masked_text_adds_nothing(text in objective()) {
        if judge(&text).is_active() {
            prop_assert!(judge(&without_masked(&text)).is_active(), "{:?}", without_masked(&text));
        }
    }

    #[test]
    fn t150_i113_text_added_inside_a_mask_activates_nothing(text in objective(), n in 0..PIECES.len(), m in 0..MASKS.len()) {
        let before = format!("{text} {}x{} end", MASKS[m].0, MASKS[m].1);
        let after = format!("{text} {}x {}{} end", MASKS[m].0, PIECES[n].trim(), MASKS[m].1);
        if !judge(&before).is_active() {
            prop_assert!(!judge(&after).is_active(), "{after:?}");
        }
    }

    #[test]
    fn t150_i114_a_negator_before_the_only_evidence_denies_it(n in 0..4usize, tail in "[a-z ]{0,20}") {
        let evidence = ["run /release-audit", "use $release-audit", "audit this release", "apply the /release-audit"][n];
        let negator = ["Do not", "Never", "Please don't", "No need to"][tail.len() % 4];
        let objective = format!("{negator} {evidence} {tail}");
        prop_assert!(!judge(&objective).is_active());
    }

    #[test]
    fn t150_i120_the_order_of_the_catalogue_does_not_matter(text in objective(), seed in 0usize..24) {
        let mut metas = vec![skill("release-audit"), skill("alpha-x"), skill("beta-y"), skill("gamma-z")];
        let straight = Engine::new(metas.clone()).expect("engine").evaluate(&text, &Context::default());
        metas.rotate_left(seed % 4);
        metas.swap(0, seed % 3);
        prop_assert_eq!(Engine::new(metas).expect("engine").evaluate(&text, &Context::default()), straight);
    }

    #[test]
    fn t150_an_unrelated_clause_changes_nothing(text in objective()) {
        // In the language of the objective, which most of its words decide.
        let text = text.replace("使用 /release-audit 检查。", "Use $release-audit now. ").replace("bitte nicht ", "not ");
        let text = format!("Here is what I would like from you today.\n\n{text}");
        let closed = format!("{}.\n\nThe weather is mild in March.", text.trim_end());
        let open = format!("{}.\n\n", text.trim_end());
        prop_assert_eq!(judge(&closed).verdict, judge(&open).verdict);
    }

    #[test]
    fn any_text_is_judged(text in "\\PC{0,200}", bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        for text in [text.as_str(), &String::from_utf8_lossy(&bytes)] {
            let e = judge(text);
            for evidence in &e.evidence {
                prop_assert!(text.get(evidence.span.start..evidence.span.end).is_some());
            }
            let mut at = 0;
            for m in mask(text) {
                prop_assert!(m.span.start >= at && m.span.end > m.span.start && text.get(m.span.start..m.span.end).is_some());
                at = m.span.end;
            }
        }
    }

    #[test]
    fn marks_and_signs_in_any_order_are_judged(parts in prop::collection::vec(0..40usize, 0..80)) {
        const SIGNS: [&str; 40] = ["\"", "'", "`", "```", "\n", "\n\n", " ", "/release-audit", "$", "/", "“", "”", "„", "«", "»", "‹", "›", "「", "」", "『", "』", "‘", "’", "<!--", "-->", "<code>", "</code>", "](", ")", "    ", "> ", "- ", "~~~", "not", "run", "。", "不", "しない", "\\", "http://"];
        let text: String = parts.into_iter().map(|n| SIGNS[n]).collect();
        judge(&text);
        let _ = Analysis::of(&text);
    }
}

#[test]
fn the_fuzz_corpus_of_objectives_is_judged() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/objective");
    let mut n = 0;
    for file in std::fs::read_dir(dir).expect("the corpus is there") {
        let bytes = std::fs::read(file.expect("entry").path()).expect("file");
        let text = String::from_utf8_lossy(&bytes).replace("summarise-notes", "release-audit");
        let e = judge(&text);
        assert!(e.evidence.iter().all(|x| text.get(x.span.start..x.span.end).is_some()), "{text}");
        assert!(!e.is_active() || judge(&without_masked(&text)).is_active(), "{text}");
        n += 1;
    }
    assert!(n >= 20, "{n}");
}
