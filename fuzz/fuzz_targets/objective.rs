//! An objective of any bytes is judged: no panic, every span inside the text, masks in order, the
//! same verdict twice, and none that masked text alone brought about (I-113).
#![no_main]

use libfuzzer_sys::fuzz_target;
use skills::engine::{Context, Engine, Evaluation, mask, without_masked};
use skills::faculty::BUILT_IN;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let metas = BUILT_IN.iter().filter_map(|b| b.meta().ok()).collect();
    let Ok(engine) = Engine::new(metas) else { return };
    let tools = engine.skills().iter().flat_map(|s| s.required_tools.clone()).collect();
    let context = Context { live_tools: tools, ..Context::default() };
    let judged = engine.evaluate(&text, &context);
    assert_eq!(judged, engine.evaluate(&text, &context));
    for e in judged.iter().flat_map(|e| &e.evidence) {
        assert!(text.get(e.span.start..e.span.end).is_some());
    }
    let mut at = 0;
    for region in mask(&text) {
        assert!(region.span.start >= at && region.span.start < region.span.end);
        assert!(text.get(region.span.start..region.span.end).is_some());
        at = region.span.end;
    }
    if judged.iter().any(Evaluation::is_active) && text.len() < skills::engine::OBJECTIVE_MAX / 2 {
        let said = engine.evaluate(&without_masked(&text), &context);
        assert!(said.iter().any(Evaluation::is_active));
    }
});
