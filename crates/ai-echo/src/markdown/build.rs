//! Parser events into blocks, with a bounded depth and no recursion over foreign text.

use pulldown_cmark::{Alignment, CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::{Align, Block, Href, ListItem, Span, Style, options};

/// Deeper nesting is drawn at this depth.
pub const MAX_DEPTH: usize = 12;
/// More blocks of one piece of source than this are not drawn.
pub const MAX_BLOCKS: usize = 20_000;

/// Whether links lead anywhere yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// The text may still grow.
    Inert,
    /// The text is complete.
    Live,
}

/// A container that is being filled.
enum Frame {
    Root(Vec<Block>),
    Quote(Vec<Block>),
    List { start: Option<u64>, items: Vec<ListItem> },
    Item { task: Option<bool>, blocks: Vec<Block> },
    Table { align: Vec<Align>, head: Vec<Vec<Span>>, rows: Vec<Vec<Vec<Span>>>, row: Vec<Vec<Span>> },
}

struct Builder {
    frames: Vec<Frame>,
    /// Containers that were not opened because of [`MAX_DEPTH`], so that their ends match.
    skipped: usize,
    spans: Vec<Span>,
    code: Option<(String, String)>,
    strong: usize,
    emphasis: usize,
    strike: usize,
    href: Option<Href>,
    images: usize,
    links: Links,
    count: usize,
}

/// The blocks of one piece of source.
pub fn blocks(source: &str, links: Links) -> Vec<Block> {
    let mut builder = Builder {
        frames: vec![Frame::Root(Vec::new())],
        skipped: 0,
        spans: Vec::new(),
        code: None,
        strong: 0,
        emphasis: 0,
        strike: 0,
        href: None,
        images: 0,
        links,
        count: 0,
    };
    for event in Parser::new_ext(source, options()) {
        builder.event(event);
    }
    builder.end_paragraph();
    while builder.frames.len() > 1 {
        builder.close_frame();
    }
    match builder.frames.pop() {
        Some(Frame::Root(blocks)) => blocks,
        _ => Vec::new(),
    }
}

impl Builder {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text, false),
            },
            Event::Code(text) => self.text(&text, true),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text, false),
            Event::SoftBreak => self.text(" ", false),
            Event::HardBreak => self.text("\n", false),
            Event::Rule => self.block(Block::Rule),
            Event::TaskListMarker(done) => {
                if let Some(Frame::Item { task, .. }) = self.frames.last_mut() {
                    *task = Some(done);
                }
            }
            Event::InlineMath(text) | Event::DisplayMath(text) | Event::FootnoteReference(text) => {
                self.text(&text, false)
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::BlockQuote(_) => self.open(Frame::Quote(Vec::new())),
            Tag::List(start) => self.open(Frame::List { start, items: Vec::new() }),
            Tag::Item => self.open(Frame::Item { task: None, blocks: Vec::new() }),
            Tag::Table(align) => {
                let align = align
                    .iter()
                    .map(|a| match a {
                        Alignment::Center => Align::Center,
                        Alignment::Right => Align::End,
                        Alignment::None | Alignment::Left => Align::Start,
                    })
                    .collect();
                self.open(Frame::Table { align, head: Vec::new(), rows: Vec::new(), row: Vec::new() });
            }
            Tag::CodeBlock(kind) => {
                self.end_paragraph();
                let lang = match &kind {
                    CodeBlockKind::Fenced(info) => {
                        info.split([' ', ',', '\t', '{']).next().unwrap_or_default().to_owned()
                    }
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((lang, String::new()));
            }
            Tag::Paragraph | Tag::Heading { .. } | Tag::HtmlBlock => self.end_paragraph(),
            Tag::Strong => self.strong += 1,
            Tag::Emphasis => self.emphasis += 1,
            Tag::Strikethrough => self.strike += 1,
            Tag::Link { dest_url, .. } => {
                self.href = Href::parse(&dest_url).filter(|_| self.links == Links::Live);
            }
            Tag::Image { .. } => {
                self.images += 1;
                self.text("[image: ", false);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let spans = std::mem::take(&mut self.spans);
                self.block(Block::Heading { level: level as u8, spans });
            }
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_paragraph(),
            TagEnd::CodeBlock => {
                if let Some((lang, mut text)) = self.code.take() {
                    if text.ends_with('\n') {
                        text.pop();
                    }
                    self.block(Block::Code { lang, text });
                }
            }
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::Table => self.close(),
            TagEnd::TableCell => {
                let spans = std::mem::take(&mut self.spans);
                if let Some(Frame::Table { row, .. }) = self.frames.last_mut() {
                    row.push(spans);
                }
            }
            TagEnd::TableHead => {
                if let Some(Frame::Table { head, row, .. }) = self.frames.last_mut() {
                    *head = std::mem::take(row);
                }
            }
            TagEnd::TableRow => {
                if let Some(Frame::Table { rows, row, .. }) = self.frames.last_mut() {
                    rows.push(std::mem::take(row));
                }
            }
            TagEnd::Strong => self.strong = self.strong.saturating_sub(1),
            TagEnd::Emphasis => self.emphasis = self.emphasis.saturating_sub(1),
            TagEnd::Strikethrough => self.strike = self.strike.saturating_sub(1),
            TagEnd::Link => self.href = None,
            TagEnd::Image => {
                self.images = self.images.saturating_sub(1);
                self.text("]", false);
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, code: bool) {
        if text.is_empty() {
            return;
        }
        let style = Style { strong: self.strong > 0, emphasis: self.emphasis > 0, strike: self.strike > 0, code };
        let href = self.href.clone();
        match self.spans.last_mut() {
            Some(last) if last.style == style && last.href == href => last.text.push_str(text),
            _ => self.spans.push(Span { text: text.to_owned(), style, href }),
        }
    }

    fn end_paragraph(&mut self) {
        // A paragraph never ends in a break; an HTML block's last line end is none either.
        if let Some(last) = self.spans.last_mut() {
            last.text.truncate(last.text.trim_end_matches('\n').len());
            if last.text.is_empty() {
                self.spans.pop();
            }
        }
        let spans = std::mem::take(&mut self.spans);
        if !spans.is_empty() {
            self.block(Block::Paragraph(spans));
        }
    }

    fn block(&mut self, block: Block) {
        self.count += 1;
        if self.count > MAX_BLOCKS {
            return;
        }
        match self.frames.last_mut() {
            Some(Frame::Root(blocks) | Frame::Quote(blocks) | Frame::Item { blocks, .. }) => blocks.push(block),
            // Text of a skipped item stands in an item of its own.
            Some(Frame::List { items, .. }) => items.push(ListItem { task: None, blocks: vec![block] }),
            Some(Frame::Table { .. }) | None => {}
        }
    }

    fn open(&mut self, frame: Frame) {
        self.end_paragraph();
        let full = self.frames.len() > MAX_DEPTH && !matches!(frame, Frame::Table { .. });
        // An item may not be opened outside of its list.
        let loose = matches!(frame, Frame::Item { .. }) && !matches!(self.frames.last(), Some(Frame::List { .. }));
        if self.skipped > 0 || full || loose {
            self.skipped += 1;
        } else {
            self.frames.push(frame);
        }
    }

    fn close(&mut self) {
        self.end_paragraph();
        if self.skipped > 0 {
            self.skipped -= 1;
        } else if self.frames.len() > 1 {
            self.close_frame();
        }
    }

    fn close_frame(&mut self) {
        let Some(frame) = self.frames.pop() else { return };
        match frame {
            Frame::Root(blocks) => self.frames.push(Frame::Root(blocks)),
            Frame::Quote(blocks) => self.block(Block::Quote(blocks)),
            Frame::List { start, items } => self.block(Block::List { start, items }),
            Frame::Table { align, head, rows, .. } => self.block(Block::Table { align, head, rows }),
            Frame::Item { task, blocks } => match self.frames.last_mut() {
                Some(Frame::List { items, .. }) => items.push(ListItem { task, blocks }),
                _ => blocks.into_iter().for_each(|block| self.block(block)),
            },
        }
    }
}
