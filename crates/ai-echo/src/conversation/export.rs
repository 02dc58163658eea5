//! A conversation as one markdown document, as safe as the live view (field 8H4).

use super::{Conversation, ItemKind, ToolState, Via, guidance_words};
use crate::markdown::{Block, blocks_to_markdown, escape_text, parse};

/// The transcript as markdown. A person's words and what tools said are text; the model's words
/// keep their form, and nothing of them that could act.
pub fn to_markdown(conversation: &Conversation) -> String {
    let mut out = format!("# {}\n", escape_text(&conversation.title));
    for item in &conversation.items {
        out.push('\n');
        match &item.kind {
            ItemKind::User { text, attachments, via } => {
                out.push_str("## You\n\n");
                let via = match via {
                    Via::Plain => None,
                    Via::Tool(name) => Some(format!("/tool:{name}")),
                    Via::Skill(id) => Some(format!("/skill:{id}")),
                    Via::Undo(_) => Some("Undo".to_owned()),
                };
                if let Some(via) = via {
                    out.push_str(&format!("{}\n\n", escape_text(&via)));
                }
                out.push_str(&plain(text));
                for attachment in attachments {
                    out.push_str(&format!("\nAttached: {}\n", escape_text(attachment.path.as_str())));
                }
            }
            ItemKind::Assistant { text, state, model } => {
                out.push_str(&format!("## AI Echo ({})\n\n", escape_text(model)));
                out.push_str(&blocks_to_markdown(&parse(text)));
                if let Some(words) = state.words() {
                    out.push_str(&format!("\n{}\n", plain(&words)));
                }
            }
            ItemKind::Tool { tool, arguments, state, summary, preview, .. } => {
                let state = match state {
                    ToolState::Refused(words) if words.is_empty() => "refused".to_owned(),
                    ToolState::Failed(words) if words.is_empty() => "failed".to_owned(),
                    ToolState::Refused(words) | ToolState::Failed(words) => words.clone(),
                    ToolState::Done => summary.clone(),
                    other => format!("{other:?}"),
                };
                out.push_str(&format!("### Tool {}\n\n", escape_text(tool)));
                let code =
                    |text: &str| blocks_to_markdown(&[Block::Code { lang: String::new(), text: text.to_owned() }]);
                out.push_str(&code(arguments));
                out.push_str(&format!("\n{}\n", plain(&state)));
                if !preview.is_empty() {
                    out.push_str(&format!("\n{}", code(preview)));
                }
            }
            ItemKind::Guidance { what, used, left_out, .. } => {
                out.push_str(&plain(&guidance_words(*what, used, *left_out)))
            }
            ItemKind::Notice { text } => out.push_str(&plain(text)),
        }
    }
    out
}

/// Words as text: every mark escaped, lines kept.
fn plain(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(|line| escape_text(line.trim())).collect();
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        out.push_str(line);
        let followed = lines.get(i + 1).is_some_and(|next| !next.is_empty());
        out.push_str(if !line.is_empty() && followed { "\\\n" } else { "\n" });
    }
    out
}
