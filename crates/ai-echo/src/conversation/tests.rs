//! Items, titles, reloads and the export.

use kernel::{ConversationId, Instant};
use models::ProviderConfig;
use pulldown_cmark::{Event, Options, Parser, Tag};

use super::*;

fn conversation() -> Conversation {
    Conversation::new(ConversationId::new("c1").expect("id"), ProviderConfig::OnDevice, None, Instant::default())
}

fn user(text: &str) -> ItemKind {
    ItemKind::User { text: text.into(), attachments: vec![], via: Via::Plain }
}

fn answer(text: &str, state: AnswerState) -> ItemKind {
    ItemKind::Assistant { text: text.into(), state, model: "on-device".into() }
}

#[test]
fn titles_come_from_the_first_words_until_a_person_names_them() {
    let mut c = conversation();
    c.push(1, user("\n  What is\tin notes/todo.md? \nmore"), Instant::default());
    assert_eq!(c.title, "What is in notes/todo.md?");
    c.rename("  My   plan\u{7}\n ");
    c.push(2, user("else"), Instant::default());
    assert_eq!((c.title.as_str(), c.named), ("My plan", true));
    c.rename("");
    assert_eq!((c.title.as_str(), c.named), ("What is in notes/todo.md?", false));
    for k in 0..3 {
        let mut c = conversation();
        c.push(1, user(&format!("{}{}", "x".repeat(k), "→".repeat(100_000))), Instant::default());
        assert!(c.title.len() <= 64 && c.title.ends_with('…'), "field_5h4");
    }
}

#[test]
fn field_6h3_a_reload_brings_back_everything_and_marks_what_was_open() {
    let mut c = conversation();
    let turn = c.next_turn();
    c.push(turn.turn, user("q"), Instant::default());
    c.push(turn.turn, answer("par", AnswerState::Streaming), Instant::default());
    c.draft = Draft {
        text: "next: check totals".into(),
        caret: 4,
        attachments: vec![Attachment {
            mount: MountId::new("m").expect("id"),
            path: MountPath::parse("a.csv").expect("path"),
        }],
    };
    let stored = serde_json::to_string(&(c.record(), &c.draft, &c.items)).expect("json");
    let (record, draft, items): (ConversationRecord, Draft, Vec<Item>) = serde_json::from_str(&stored).expect("back");
    let mut back = Conversation::from_record(record, Some(draft));
    back.take_items(items);
    assert_eq!(back, c);
    assert_eq!(back.mark_interrupted(), [2]);
    assert!(back.items.iter().all(Item::is_final));
    assert_eq!(back.next_turn().turn, 2, "no key is used twice");
}

#[test]
fn a_late_load_does_not_lose_what_was_said_meanwhile() {
    let mut c = conversation();
    c.push(1, user("old"), Instant::default());
    let old = c.items.clone();
    let mut back = Conversation::from_record(c.record(), None);
    back.push(2, user("new"), Instant::default());
    back.take_items(old);
    let ids: Vec<u64> = back.items.iter().map(|i| i.id).collect();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn field_8h4_an_exported_conversation_holds_no_link_but_allowed_ones() {
    let hostile = "[open](JaVaScRiPt:void 0) [a](java&#115;cript:void%200) [b](vbscript:x) <img src=x onerror=y> ![t](http://t/x.png)";
    let mut c = conversation();
    c.title = hostile.into();
    c.push(1, user(hostile), Instant::default());
    c.push(1, answer(&format!("{hostile} [good](https://good.example/)"), AnswerState::Cut), Instant::default());
    let call = CallId { turn: TurnKey { conversation: c.id.clone(), turn: 1 }, n: 1 };
    c.push(
        1,
        ItemKind::Tool {
            call,
            tool: "files.read".into(),
            arguments: format!("```\n{hostile}"),
            state: ToolState::Refused(hostile.into()),
            summary: hostile.into(),
            preview: format!("````\n{hostile}"),
            result: None,
            receipt: None,
        },
        Instant::default(),
    );
    c.push(1, ItemKind::Notice { text: hostile.into() }, Instant::default());
    let exported = to_markdown(&c);
    let mut links = Vec::new();
    for event in Parser::new_ext(&exported, Options::all()) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => links.push(dest_url.to_string()),
            Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. }) => {
                panic!("{event:?} in {exported}")
            }
            _ => {}
        }
    }
    assert_eq!(links, ["https://good.example/"]);
    assert!(exported.contains("open") && exported.contains("onerror"), "nothing is hidden");
}
