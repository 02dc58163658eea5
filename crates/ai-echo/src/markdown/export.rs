//! Blocks back into markdown that is as safe as what was shown (field 8H4).
//!
//! What is written is made from the blocks, never from the model's source: a target that was not
//! allowed is not in the blocks, and every mark in a text is escaped.

use super::{Align, Block, Span};

/// Text with every character escaped that could mean something.
pub fn escape_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        if matches!(
            c,
            '\\' | '`'
                | '*'
                | '_'
                | '{'
                | '}'
                | '['
                | ']'
                | '<'
                | '>'
                | '('
                | ')'
                | '#'
                | '+'
                | '-'
                | '.'
                | '!'
                | '|'
                | '~'
                | '&'
                | '='
                | ':'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Markdown of these blocks.
pub fn blocks_to_markdown<'a>(blocks: impl IntoIterator<Item = &'a Block>) -> String {
    let mut out = String::new();
    for (i, block) in blocks.into_iter().enumerate() {
        if i > 0 {
            // Two lists in a row would become one without something between them.
            out.push('\n');
        }
        write(block, &mut out);
    }
    out
}

fn write(block: &Block, out: &mut String) {
    match block {
        Block::Heading { level, spans } => {
            out.push_str(&"#".repeat(usize::from(*level)));
            out.push(' ');
            out.push_str(&inline(spans).replace('\n', " "));
            out.push('\n');
        }
        Block::Paragraph(spans) => {
            out.push_str(&inline(spans).replace('\n', "\\\n"));
            out.push('\n');
        }
        Block::Quote(blocks) => indent(&blocks_to_markdown(blocks), "> ", "> ", out),
        Block::List { start, items } => {
            for (i, item) in items.iter().enumerate() {
                let mark = match start {
                    Some(first) => format!("{}. ", first.saturating_add(i as u64)),
                    None => "- ".to_owned(),
                };
                let task = match item.task {
                    Some(true) => "[x] ",
                    Some(false) => "[ ] ",
                    None => "",
                };
                let body = format!("{task}{}", blocks_to_markdown(&item.blocks));
                indent(&body, &mark, &" ".repeat(mark.len()), out);
            }
        }
        Block::Code { lang, text } => {
            let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            let lang: String = lang.chars().filter(|c| c.is_alphanumeric() || "+-#._".contains(*c)).collect();
            out.push_str(&format!("{fence}{lang}\n{text}\n{fence}\n"));
        }
        Block::Table { align, head, rows } => {
            let row = |cells: &[Vec<Span>], out: &mut String| {
                out.push('|');
                for cell in cells {
                    out.push_str(&format!(" {} |", cell_text(cell)));
                }
                out.push('\n');
            };
            row(head, out);
            out.push('|');
            for align in align {
                out.push_str(match align {
                    Align::Start => " --- |",
                    Align::Center => " :---: |",
                    Align::End => " ---: |",
                });
            }
            out.push('\n');
            rows.iter().for_each(|cells| row(cells, out));
        }
        Block::Rule => out.push_str("* * *\n"),
    }
}

fn cell_text(spans: &[Span]) -> String {
    // In a table a bar ends the cell even inside code.
    spans
        .iter()
        .map(|span| {
            let text = inline(std::slice::from_ref(span)).replace('\n', " ");
            if span.style.code { text.replace('|', "\\|") } else { text }
        })
        .collect()
}

fn indent(text: &str, first: &str, rest: &str, out: &mut String) {
    if text.is_empty() {
        out.push_str(first.trim_end());
        out.push('\n');
    }
    for (i, line) in text.lines().enumerate() {
        let prefix = if i == 0 { first } else { rest };
        out.push_str(if line.is_empty() { prefix.trim_end() } else { prefix });
        out.push_str(line);
        out.push('\n');
    }
}

fn inline(spans: &[Span]) -> String {
    let mut out = String::new();
    for span in spans {
        let body = if span.style.code { code(&span.text) } else { escape_text(&span.text) };
        let mut marks = String::new();
        if span.style.strong {
            marks.push_str("**");
        }
        if span.style.emphasis {
            marks.push('*');
        }
        if span.style.strike {
            marks.push_str("~~");
        }
        let closing: String = marks.chars().rev().collect();
        // Marks bind only when they touch the text, so outer blanks stay outside.
        let core = body.trim();
        let (lead, trail) = match body.find(core) {
            Some(at) if !core.is_empty() => (&body[..at], &body[at + core.len()..]),
            _ => (body.as_str(), ""),
        };
        let marked = if core.is_empty() { String::new() } else { format!("{marks}{core}{closing}") };
        out.push_str(lead);
        match &span.href {
            Some(href) if !marked.is_empty() => {
                let target: String = href
                    .as_str()
                    .chars()
                    .map(|c| {
                        if matches!(c, '<' | '>' | '(' | ')' | '&') {
                            format!("%{:02X}", c as u32)
                        } else {
                            c.to_string()
                        }
                    })
                    .collect();
                // `&` separates a query's parts and must stay; as an entity it comes back whole.
                let target = target.replace("%26", "&amp;");
                out.push_str(&format!("[{marked}](<{target}>)"));
            }
            _ => out.push_str(&marked),
        }
        out.push_str(trail);
    }
    out
}

fn code(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') || (text.starts_with(' ') && text.ends_with(' ')) {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}
