//! Markdown of a model's answer as blocks that a transcript can draw (field 8H4).
//!
//! Nothing in an answer acts: raw HTML is text, images are named and not loaded, and a link has a
//! target only if its scheme is http, https or mailto *after* normalising. While text streams in,
//! only the last block is parsed again, and its links stay inert until the block is complete.

mod build;
mod export;
mod href;
#[cfg(test)]
mod tests;

use pulldown_cmark::{Event, Options, Parser};

pub use export::{blocks_to_markdown, escape_text};
pub use href::Href;

/// An open block of this size is no longer parsed again at every piece of text.
const EAGER_BYTES: usize = 16 * 1024;

/// How a piece of text looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style {
    /// Bold.
    pub strong: bool,
    /// Italic.
    pub emphasis: bool,
    /// Struck through.
    pub strike: bool,
    /// In the code face.
    pub code: bool,
}

/// A run of text of one style. A line feed inside `text` is a line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text.
    pub text: String,
    /// Its look.
    pub style: Style,
    /// Where it leads; `None` is inert text.
    pub href: Option<Href>,
}

/// How a table's column is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// At the reading start.
    Start,
    /// Centred.
    Center,
    /// At the end.
    End,
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListItem {
    /// A task's box: open or ticked.
    pub task: Option<bool>,
    /// The item's blocks.
    pub blocks: Vec<Block>,
}

/// A block of the transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A heading, level 1 to 6.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its text.
        spans: Vec<Span>,
    },
    /// A paragraph.
    Paragraph(Vec<Span>),
    /// A quotation.
    Quote(Vec<Block>),
    /// A list; `start` numbers it.
    List {
        /// The first number of an ordered list.
        start: Option<u64>,
        /// The items.
        items: Vec<ListItem>,
    },
    /// Preformatted text with its language, for the copy button and the face.
    Code {
        /// The first word of the fence, possibly empty.
        lang: String,
        /// The code, without the last line feed.
        text: String,
    },
    /// A table.
    Table {
        /// One a column.
        align: Vec<Align>,
        /// The cells of the head.
        head: Vec<Vec<Span>>,
        /// The cells of each row.
        rows: Vec<Vec<Vec<Span>>>,
    },
    /// A horizontal rule.
    Rule,
}

fn options() -> Options {
    Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS
}

/// Blocks of a text that is still growing.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The text from the start of the open block on.
    tail: String,
    closed: Vec<Block>,
    open: Vec<Block>,
    /// The tail's length at the last parse of a large open block.
    parsed_at: usize,
    finished: bool,
}

impl Stream {
    /// An empty document.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next piece. Returns the number of blocks that did not change: a view keeps the
    /// layout of those.
    pub fn push(&mut self, text: &str) -> usize {
        if self.finished || text.is_empty() {
            return self.closed.len();
        }
        let kept = self.closed.len();
        self.tail.push_str(text);
        let lazy = self.tail.len() > EAGER_BYTES;
        if lazy && self.tail.len() - self.parsed_at < self.tail.len() / 8 {
            return kept;
        }
        self.split();
        self.parsed_at = self.tail.len();
        self.open = build::blocks(&self.tail, build::Links::Inert);
        kept
    }

    /// The text is complete: the last block is closed and its links work.
    pub fn finish(&mut self) {
        if !std::mem::replace(&mut self.finished, true) {
            self.split();
            self.closed.extend(build::blocks(&self.tail, build::Links::Live));
            self.tail = String::new();
            self.open = Vec::new();
        }
    }

    /// The blocks that will not change again, then those of the open end.
    pub fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.closed.iter().chain(&self.open)
    }

    /// How many blocks will not change again.
    pub fn closed_len(&self) -> usize {
        self.closed.len()
    }

    /// Closes every top-level block that another one follows. The last line may still become
    /// something else (`2` may become `2. b` and go on with a list), so only whole lines decide.
    fn split(&mut self) {
        let end = self.tail.rfind('\n').map_or(0, |at| at + 1);
        let lines = &self.tail[..end];
        let mut depth = 0usize;
        let mut starts = Vec::new();
        for (event, range) in Parser::new_ext(lines, options()).into_offset_iter() {
            match event {
                Event::Start(_) => {
                    if depth == 0 {
                        starts.push(line_start(lines, range.start));
                    }
                    depth += 1;
                }
                Event::End(_) => depth = depth.saturating_sub(1),
                Event::Rule if depth == 0 => starts.push(line_start(lines, range.start)),
                _ => {}
            }
        }
        let Some(&last) = starts.last() else { return };
        let mut from = 0;
        for &to in starts.iter().skip(1) {
            self.closed.extend(build::blocks(&lines[from..to], build::Links::Live));
            from = to;
        }
        if from == last && from > 0 {
            self.tail.drain(..from);
            self.parsed_at = 0;
        }
    }
}

/// An indented code block begins behind its indent; the split must not cut that off.
fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |newline| newline + 1)
}

/// The blocks of a complete text.
pub fn parse(text: &str) -> Vec<Block> {
    let mut stream = Stream::new();
    stream.tail.push_str(text);
    stream.finish();
    stream.closed
}
