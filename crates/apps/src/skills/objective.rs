//! “Try an objective”: what the engine says of each skill, and the words that it rests on.

use crate::desktop::{Action, Desktop};
use ::skills::engine::{Context, Evaluation, ReasonCode};
use ai_echo::trial;
use kernel::clip;
use scene::{Node, NodeId, Point, Rect, Role};
use text::{Span, Wrap};
use ui::theme::{self, BODY, CAPTION, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::{Control, Frame};

/// The field of the objective.
pub(crate) fn objective_id() -> NodeId {
    NodeId::of("skill-objective", 0)
}

/// What the engine said of an objective.
#[derive(Debug)]
pub(super) struct Tried {
    text: String,
    found: Result<Vec<Evaluation>, String>,
}

/// The reasons of a verdict in words.
fn reason_words(reason: &ReasonCode) -> String {
    match reason {
        ReasonCode::RequiredToolMissing { tool } => format!("RequiredToolMissing {tool}"),
        other => other.name().to_owned(),
    }
}

impl Desktop {
    /// Asks the engine about what stands in the field. Nothing is activated by it.
    pub(crate) fn try_objective(&mut self) {
        let text = self.skills.objective.text().trim().to_owned();
        if text.is_empty() {
            self.skills.tried = None;
            return;
        }
        let live_tools = self.kernel.tools().iter().map(|t| t.source.name.clone()).collect();
        let context = Context { live_tools, target_paths: vec![], catalogue_rev: self.kernel.rev() };
        let found = trial::engine(self.agent.library()).map(|engine| {
            let mut all = engine.evaluate(&text, &context);
            // Who is active, then who has anything to say, then the rest.
            all.sort_by_key(|e| (!e.is_active(), e.evidence.is_empty()));
            all
        });
        self.skills.tried = Some(Tried { text, found: found.map_err(|e| e.to_string()) });
    }

    pub(super) fn paint_objective(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let (x, w) = (rect.x + 16.0, (rect.w - 40.0).max(40.0));
        let at = Point::new(x, rect.y + 16.0);
        let s = f.heading(NodeId::of("objective-title", 0), at, "Try an objective", theme::HEADING, 2, w);
        let mut y = at.y + s.h + 4.0;
        let words =
            "Shows which skills a request would ask for, and the words that say so. Nothing is sent and nothing runs.";
        y += f.say(NodeId::of("objective-say", 0), Point::new(x, y), words, SMALL, f.theme.muted, w).h + 10.0;
        let h = f.m.control.max(36.0);
        let bw = widgets::button_width(f, "Try it", false);
        let field = Rect::new(x, y, (w - bw - 12.0).max(60.0), h);
        let c = Control::new(Role::TextField, "Objective").describe(words);
        let focus = Action::Focus(objective_id());
        self.skills.objective.boxed(f, objective_id(), field, c, "Run /weekly-review for this week", focus);
        let b = Rect::new(field.right() + 12.0, y, bw, h);
        let c = Control::button("Try it");
        widgets::button(f, NodeId::of("objective-try", 0), b, Button::Primary, None, c, Action::TryObjective);
        y += h + 12.0;
        let body = Rect::new(rect.x, y, rect.w, (rect.bottom() - y).max(1.0));
        let id = NodeId::of("objective-page", 0);
        let scroll = self.scrolls.get(&id).copied().unwrap_or(0.0);
        let Some(tried) = &self.skills.tried else { return };
        f.scroll(id, body, scroll, |f, dy| {
            let mut y = body.y - dy;
            match &tried.found {
                Err(why) => {
                    y += f.say(NodeId::of("objective-failed", 0), Point::new(x, y), why, BODY, f.theme.danger, w).h
                }
                Ok(all) => {
                    let node = Node { id, role: Role::List, name: "Verdicts".into(), rect: body, ..Node::default() };
                    f.group(node, |f| {
                        for (i, e) in (0_u64..).zip(all) {
                            y += verdict(f, i, &tried.text, e, Point::new(x, y), w) + 12.0;
                        }
                    });
                }
            }
            y + dy - body.y + 24.0
        });
    }
}

/// One skill's verdict, with the objective and what was found in it marked. Gives its height.
fn verdict(f: &mut Frame<'_, Action>, i: u64, text: &str, e: &Evaluation, at: Point, w: f32) -> f32 {
    let (word, ink) = if e.is_active() { ("Active", f.theme.good) } else { ("Inactive", f.theme.muted) };
    let reasons: Vec<String> = e.reasons.iter().map(reason_words).collect();
    let head = format!("{}: {word}", e.skill);
    let s = f.line(at, &head, SMALL.weight(600), ink, w);
    let reasons = reasons.join(", ");
    let left = (w - s.w - 12.0).max(20.0);
    let _ = f.line(Point::new(at.x + s.w + 12.0, at.y + 2.0), &reasons, CAPTION, f.theme.muted, left);
    let mut h = s.h + 2.0;
    let mut said = vec![];
    if !e.evidence.is_empty() {
        let mut spans = vec![];
        let mut end = 0;
        for x in &e.evidence {
            let range = x.span.start.max(end)..x.span.end;
            said.push(format!("{} “{}”", x.reason.name(), text.get(x.span.start..x.span.end).unwrap_or_default()));
            if range.start < range.end && text.get(range.clone()).is_some() {
                let color = if x.reason.is_positive() { f.theme.good } else { f.theme.danger };
                end = range.end;
                spans.push(Span { range, style: Some(BODY.weight(700)), color: Some(color) });
            }
        }
        let block = f.block(text, BODY, &spans, Some(w), Wrap::Word);
        h += f.run(block, Point::new(at.x, at.y + h), f.theme.text).h;
    }
    let name = format!("{head}; {reasons}. {}", clip::clip(&said.join("; "), 1024));
    let rect = Rect::new(at.x, at.y, w, h);
    f.node(Node { id: NodeId::of("objective-verdict", i), role: Role::Text, name, rect, ..Node::default() });
    h
}
