//! Streaming, safety and round trips.

use super::*;

fn hrefs(blocks: &[Block]) -> Vec<String> {
    let mut out = Vec::new();
    let mut todo: Vec<&Block> = blocks.iter().collect();
    while let Some(block) = todo.pop() {
        let mut take = |spans: &[Span]| out.extend(spans.iter().filter_map(|s| s.href.as_ref()).map(|h| h.to_string()));
        match block {
            Block::Heading { spans, .. } | Block::Paragraph(spans) => take(spans),
            Block::Quote(blocks) => todo.extend(blocks),
            Block::List { items, .. } => todo.extend(items.iter().flat_map(|i| &i.blocks)),
            Block::Table { head, rows, .. } => head.iter().chain(rows.iter().flatten()).for_each(|cell| take(cell)),
            Block::Code { .. } | Block::Rule => {}
        }
    }
    out
}

fn text_of(blocks: &[Block]) -> String {
    let spans = |spans: &[Span]| spans.iter().map(|s| s.text.as_str()).collect::<String>();
    blocks
        .iter()
        .map(|block| match block {
            Block::Heading { spans: s, .. } | Block::Paragraph(s) => spans(s),
            Block::Quote(blocks) => text_of(blocks),
            Block::List { items, .. } => items.iter().map(|i| text_of(&i.blocks)).collect::<Vec<_>>().join("\n"),
            Block::Code { text, .. } => text.clone(),
            Block::Table { head, rows, .. } => {
                head.iter().chain(rows.iter().flatten()).map(|c| spans(c)).collect::<Vec<_>>().join("|")
            }
            Block::Rule => String::new(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

const CASE: &str = "[open](JaVaScRiPt:void 0)\n\n[open2](<JaVaScRiPt:void 0>)\n\n[a](java&#115;cript:void%200) [b](vbscript:x) [c](data:text/html,x)\n\n<img src=x onerror=y>\n\n[d](//evil.example) [e](file:///etc/passwd) [f](\tjava\nscript:x) ![i](https://tracker.example/p.gif)\n\n<javascript:alert(1)> <b onclick=z>bold</b>\n";

#[test]
fn field_8h4_nothing_but_allowed_schemes_is_a_link() {
    let blocks = parse(CASE);
    assert_eq!(hrefs(&blocks), Vec::<String>::new());
    let text = text_of(&blocks);
    for part in ["open", "<img src=x onerror=y>", "[image: i]", "<b onclick=z>"] {
        assert!(text.contains(part), "{part} is shown in {text}");
    }
    let good = parse("[a](HTTPS://Example.com/x?a=1&b=2) [m](mailto:a@b.c) <http://x.org>");
    assert_eq!(hrefs(&good), ["https://Example.com/x?a=1&b=2", "mailto:a@b.c", "http://x.org"]);
}

#[test]
fn field_8h4_the_export_is_as_safe_as_the_view() {
    let exported = blocks_to_markdown(&parse(CASE));
    assert_eq!(hrefs(&parse(&exported)), Vec::<String>::new());
    // As another reader would see it: no raw HTML, no image, no link at all.
    for event in Parser::new_ext(&exported, Options::all()) {
        assert!(
            !matches!(
                event,
                Event::Html(_)
                    | Event::InlineHtml(_)
                    | Event::Start(pulldown_cmark::Tag::Link { .. } | pulldown_cmark::Tag::Image { .. })
            ),
            "{event:?} in {exported}"
        );
    }
}

#[test]
fn field_8h4_hrefs_are_judged_after_normalising() {
    for bad in [
        "javascript:x",
        " javascript:x",
        "java\tscript:x",
        "JAVASCRIPT&colon;x",
        "https:",
        "https://",
        "https:///x",
        "http:/x",
        "/rel",
        "x",
        "mailto:",
        "http://a\u{202E}b",
        "http://a b",
        "http:\\\\a",
        "\u{1}javascript:x",
    ] {
        assert_eq!(Href::parse(bad), None, "{bad:?}");
    }
    assert_eq!(Href::parse(" ht\ntps://a/ ").map(|h| h.to_string()), Some("https://a/".into()));
}

const DOCUMENT: &str = "# Title *now*\n\nA **bold** and `code` and ~~old~~ line  \nbroken, [link](https://a.example/x).\n\n1. one\n2. two\n   - inner\n   - more\n\n3. three\n\n- [x] done\n- [ ] open\n\n> quote\n> > deeper\n\n```rust\nfn main() { println!(\"`|`\"); }\n\n# not a heading\n```\n\n| a | b |\n| --- | :-: |\n| 1 | `x\\|y` |\n| **2** | [l](http://b.example) |\n\n    indented\n\nSetext\n------\n\n***\n\nlast *line* with naïve 🌊 日 & <b>html</b>\n";

#[test]
fn the_kinds_of_blocks_are_found() {
    let kinds: Vec<&str> = parse(DOCUMENT)
        .iter()
        .map(|b| match b {
            Block::Heading { .. } => "heading",
            Block::Paragraph(_) => "paragraph",
            Block::Quote(_) => "quote",
            Block::List { .. } => "list",
            Block::Code { .. } => "code",
            Block::Table { .. } => "table",
            Block::Rule => "rule",
        })
        .collect();
    assert_eq!(
        kinds,
        ["heading", "paragraph", "list", "list", "quote", "code", "table", "code", "heading", "rule", "paragraph"]
    );
    assert_eq!(
        parse("```py title=x\na\n"),
        [Block::Code { lang: "py".into(), text: "a".into() }],
        "an open fence is code"
    );
}

#[test]
fn streaming_in_any_pieces_gives_the_same_blocks() {
    let whole = parse(DOCUMENT);
    assert_eq!(whole, build::blocks(DOCUMENT, build::Links::Live), "splitting changes nothing");
    let chars: Vec<char> = DOCUMENT.chars().collect();
    for size in [1, 2, 3, 5, 17, 100, 1000] {
        let mut stream = Stream::new();
        for piece in chars.chunks(size) {
            let before: Vec<Block> = stream.blocks().take(stream.closed_len()).cloned().collect();
            let kept = stream.push(&piece.iter().collect::<String>());
            assert_eq!(kept, before.len());
            let after: Vec<Block> = stream.blocks().take(kept).cloned().collect();
            assert_eq!(before, after, "a closed block never changes");
        }
        stream.finish();
        assert_eq!(stream.blocks().cloned().collect::<Vec<_>>(), whole, "pieces of {size}");
    }
}

#[test]
fn a_list_goes_on_when_its_next_number_is_cut() {
    let mut stream = Stream::new();
    for piece in ["1. a\n\n", "2", ". b\n"] {
        stream.push(piece);
    }
    stream.finish();
    assert_eq!(stream.blocks().count(), 1);
}

#[test]
fn links_are_inert_until_their_block_is_complete() {
    let mut stream = Stream::new();
    let open = |stream: &Stream| hrefs(&stream.blocks().cloned().collect::<Vec<_>>()).len();
    stream.push("see [x](https://good.exam");
    assert_eq!(open(&stream), 0);
    stream.push("ple) and");
    assert_eq!(open(&stream), 0);
    stream.push(" more\n\nnext\n");
    assert_eq!(open(&stream), 1);
}

#[test]
fn an_export_reads_back_as_the_same_blocks() {
    let blocks = parse(DOCUMENT);
    let exported = blocks_to_markdown(&blocks);
    // Two lists in a row are one list to a reader; everything else comes back exactly.
    let merge =
        |blocks: &[Block]| blocks.iter().filter(|b| !matches!(b, Block::List { .. })).cloned().collect::<Vec<_>>();
    assert_eq!(merge(&parse(&exported)), merge(&blocks), "{exported}");
}

#[test]
fn hostile_text_is_bounded() {
    for text in [
        ">".repeat(20_000),
        "- ".repeat(5_000),
        "[".repeat(20_000),
        "*a ".repeat(10_000),
        "|".repeat(5_000),
        "`".repeat(9_999),
        "\u{0}\u{FEFF}\r".repeat(999),
    ] {
        let blocks = parse(&text);
        let _ = blocks_to_markdown(&blocks);
        let mut stream = Stream::new();
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(1500).for_each(|piece| {
            stream.push(&piece.iter().collect::<String>());
        });
        stream.finish();
    }
}
