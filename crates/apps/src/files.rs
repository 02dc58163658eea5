//! Files: browse a mount, read a file.

use crate::catalogue::AppKey;
use crate::desktop::{Action, Desktop, Effect, FilesId};
use crate::status::{Mount, MountState};
use ai_echo::tools::size_words;
use kernel::mount::{Entry, EntryKind, MountError, MountPath, Need, Reply};
use kernel::{MountId, clip};
use scene::{Node, NodeId, Point, Rect, Role};
use ui::event::Key;
use ui::theme::{self, BODY, CAPTION, MONO, SMALL};
use ui::widgets::{self, Kind as Button};
use ui::{Control, Cursor, Frame, Icon};
use unicode_segmentation::UnicodeSegmentation as _;

/// Entries shown of one folder.
pub const ENTRIES_MAX: usize = 4096;
/// Bytes shown of one file.
pub const FILE_MAX: usize = 256 * 1024;

/// Entries that a page key goes on by.
const PAGE: isize = 10;

/// A row of the list.
pub(crate) fn entry_id(i: u64) -> NodeId {
    NodeId::of("entry", i)
}
/// The text of the file that is open.
pub(crate) fn text_id() -> NodeId {
    NodeId::of("file-text", 0)
}

/// A file that is open.
#[derive(Debug)]
struct Open {
    path: MountPath,
    /// Lines, or why there are none.
    lines: Option<Result<Vec<String>, String>>,
    /// What was kept of how much.
    cut: Option<(usize, u64)>,
    /// The lines in rows of a number of columns: (line, from, to).
    rows: (usize, Vec<(u32, u32, u32)>),
}

/// Cuts lines into rows of at most `columns`, where wide characters take two: behind a blank where
/// the row has one, else anywhere. The rows have one height, so that a long file costs only those
/// in view.
fn rows_of(lines: &[String], columns: usize) -> Vec<(u32, u32, u32)> {
    let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let mut out = Vec::with_capacity(lines.len());
    for (n, l) in lines.iter().enumerate() {
        let (mut from, mut used) = (0, 0);
        // Where the row's last word begins, and the columns before it.
        let mut word = (0, 0);
        for (at, g) in l.grapheme_indices(true) {
            let wide = match g.chars().next() {
                Some('\t') => 8,
                Some(c) if c >= '\u{1100}' => 2,
                _ => 1,
            };
            if used + wide > columns && at > from {
                let (to, before) = if word.0 > from { word } else { (at, used) };
                out.push((small(n), small(from), small(to)));
                (from, used) = (to, used - before);
            }
            used += wide;
            if g == " " || g == "\t" {
                word = (at + g.len(), used);
            }
        }
        out.push((small(n), small(from), small(l.len())));
    }
    out
}

/// What Files keeps.
#[derive(Debug, Default)]
pub(crate) struct FilesUi {
    mount: Option<MountId>,
    folder: MountPath,
    entries: Option<Result<(Vec<Entry>, bool), String>>,
    file: Option<Open>,
    /// Height of a row of the list as it was painted, logical pixels.
    row_height: f32,
    listing: Option<FilesId>,
    reading: Option<FilesId>,
}

impl FilesUi {
    pub(crate) fn mount(&self) -> Option<&MountId> {
        self.mount.as_ref()
    }
    pub(crate) fn opened(&mut self, mounts: &[Mount], id: u64, out: &mut Vec<Effect>) {
        if self.mount.is_none()
            && let Some(m) = mounts.first()
        {
            self.open_mount(m.id().clone(), m.state.readable(), id, out);
        }
    }
    pub(crate) fn open_mount(&mut self, m: MountId, ready: bool, id: u64, out: &mut Vec<Effect>) {
        *self = Self { mount: Some(m), ..Self::default() };
        if ready {
            self.refresh(id, out);
        }
    }
    pub(crate) fn mounts_changed(&mut self, mounts: &[Mount], id: u64, out: &mut Vec<Effect>) {
        let Some(m) = &self.mount else { return };
        match mounts.iter().find(|x| x.id() == m) {
            None => *self = Self::default(),
            Some(x) if x.state.readable() && !matches!(self.entries, Some(Ok(_))) => self.refresh(id, out),
            Some(_) => {}
        }
    }
    pub(crate) fn open_folder(&mut self, p: MountPath, id: u64, out: &mut Vec<Effect>) {
        self.folder = p;
        self.file = None;
        self.entries = None;
        self.refresh(id, out);
    }
    pub(crate) fn open_file(&mut self, path: MountPath, id: u64, out: &mut Vec<Effect>) {
        let Some(mount) = self.mount.clone() else { return };
        self.reading = Some(FilesId(id));
        let needs = vec![Need::Read { path: path.clone(), max: FILE_MAX }];
        self.file = Some(Open { path, lines: None, cut: None, rows: (0, vec![]) });
        out.push(Effect::Files { id: FilesId(id), mount, needs });
    }
    /// Closes the file; gives the place of its row in the list.
    pub(crate) fn close_file(&mut self) -> u64 {
        self.reading = None;
        let (Some(file), Some(Ok((entries, _)))) = (self.file.take(), &self.entries) else { return 0 };
        (0..).zip(entries).find(|(_, e)| e.name == file.path.name()).map_or(0, |(i, _)| i)
    }
    pub(crate) fn refresh(&mut self, id: u64, out: &mut Vec<Effect>) {
        let Some(mount) = self.mount.clone() else { return };
        self.listing = Some(FilesId(id));
        let needs = vec![Need::List { path: self.folder.clone(), max: ENTRIES_MAX }];
        out.push(Effect::Files { id: FilesId(id), mount, needs });
    }
    /// Replies of a round; those of a round that nobody waits for are late and change nothing.
    pub(crate) fn replies(&mut self, id: FilesId, replies: Vec<Reply>, status: &mut String) {
        let said = |e: &MountError, p: &MountPath| e.about(p).plain();
        if self.listing == Some(id) {
            self.listing = None;
            self.entries = Some(match replies.into_iter().next() {
                Some(Reply::Listed { mut entries, truncated }) => {
                    entries.sort_by_key(|e| (e.kind == EntryKind::File, e.name.to_lowercase()));
                    Ok((entries, truncated))
                }
                Some(Reply::Failed(e)) => Err(said(&e, &self.folder)),
                _ => Err("The folder could not be read.".to_owned()),
            });
            if let Some(Err(e)) = &self.entries {
                status.clone_from(e);
            }
        } else if self.reading == Some(id) {
            self.reading = None;
            let Some(file) = &mut self.file else { return };
            file.lines = Some(match replies.into_iter().next() {
                Some(Reply::Bytes { bytes, total }) => {
                    if bytes.contains(&0) {
                        Err(format!("This is not a text file ({}).", size_words(total)))
                    } else {
                        let (text, kept) = clip::clip_bytes(&bytes, FILE_MAX);
                        file.cut = ((kept as u64) < total).then_some((kept, total));
                        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
                        Ok(text.lines().map(str::to_owned).collect())
                    }
                }
                Some(Reply::Failed(e)) => Err(said(&e, &file.path)),
                _ => Err("The file could not be read.".to_owned()),
            });
        }
    }
}

impl FilesUi {
    /// The number of a row of the list.
    fn entry_at(&self, id: NodeId) -> Option<usize> {
        let Some(Ok((entries, _))) = &self.entries else { return None };
        (0..entries.len()).find(|i| entry_id(*i as u64) == id)
    }
    pub(crate) fn is_entry(&self, id: NodeId) -> bool {
        self.file.is_none() && self.entry_at(id).is_some()
    }
}

impl Desktop {
    /// The arrow keys go from row to row of the list, which scrolls along.
    pub(crate) fn files_move(&mut self, from: NodeId, key: &Key) {
        let Some(at) = self.files.entry_at(from) else { return };
        let Some(Ok((entries, _))) = &self.files.entries else { return };
        let last = entries.len().saturating_sub(1);
        let by = match key {
            Key::Up => -1,
            Key::Down => 1,
            Key::PageUp => -PAGE,
            Key::PageDown => PAGE,
            Key::Home => isize::MIN,
            _ => isize::MAX,
        };
        let to = at.saturating_add_signed(by).min(last);
        // The list paints only what is in view: it scrolls first, the keyboard follows.
        let list = NodeId::of("entries", 0);
        if let Some(area) = self.painted.scrolls.iter().find(|s| s.id == list).copied() {
            let row = self.files.row_height;
            let (top, y) = (to as f32 * row, self.scrolls.entry(list).or_default());
            *y = y.min(top).max(top + row + 8.0 - area.rect.h).clamp(0.0, area.max);
        }
        self.focus_when_there(AppKey::Files, entry_id(to as u64));
    }

    /// Paints Files into its window's body.
    pub(crate) fn paint_files(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        let narrow = rect.w < 560.0;
        let side = if narrow { 0.0 } else { 200.0 };
        if !narrow {
            self.paint_mounts(f, Rect::new(rect.x, rect.y, side, rect.h));
        }
        let mut main = Rect::new(rect.x + side, rect.y, rect.w - side, rect.h);
        if narrow {
            let h = 44.0 * (self.mounts.len() as f32).min(3.0) + 48.0;
            self.paint_mounts(f, Rect::new(rect.x, rect.y, rect.w, h));
            main = Rect::new(rect.x, rect.y + h, rect.w, rect.h - h);
        }
        let mount = self.files.mount.clone().and_then(|id| self.mounts.iter().find(|m| *m.id() == id).cloned());
        let Some(mount) = mount else {
            let words = (
                "No folder is open",
                "Mount a folder from this computer, or drop one here. AI Echo can then read it, and change it with your review.",
            );
            self.paint_blank(f, main, words, Some(("Mount a folder", Action::PickFolder)));
            return;
        };
        if !mount.state.readable() {
            let action = match mount.state {
                MountState::Missing => ("Mount it again", Action::PickFolder),
                _ => ("Reconnect", Action::Reconnect(mount.id().clone())),
            };
            let title = mount.record.title.clone();
            self.paint_blank(f, main, (&title, mount.state.words()), Some(action));
            return;
        }
        let bar = Rect::new(main.x, main.y, main.w, 40.0);
        f.fill(Rect::new(bar.x, bar.bottom() - 1.0, bar.w, 1.0), f.theme.line, 0.0);
        self.paint_crumbs(f, bar, &mount);
        let body = Rect::new(main.x, bar.bottom(), main.w, main.h - bar.h);
        if self.files.file.is_some() {
            self.paint_file(f, body);
        } else {
            self.paint_entries(f, body);
        }
    }

    fn paint_blank(&mut self, f: &mut Frame<'_, Action>, r: Rect, words: (&str, &str), button: Option<(&str, Action)>) {
        let w = (r.w - 48.0).min(420.0);
        let x = (r.x + (r.w - w) / 2.0).round();
        let mut y = r.y + (r.h * 0.3).min(140.0);
        let s = f.heading(NodeId::of("files-blank", 0), Point::new(x, y), words.0, theme::HEADING, 2, w);
        y += s.h + 8.0;
        let s = f.say(NodeId::of("files-blank", 1), Point::new(x, y), words.1, BODY, f.theme.muted, w);
        y += s.h + 16.0;
        if let Some((label, action)) = button {
            let bw = widgets::button_width(f, label, false);
            let b = Rect::new(x, y, bw, f.m.control);
            widgets::button(
                f,
                NodeId::of("files-blank-do", 0),
                b,
                Button::Primary,
                None,
                Control::button(label),
                action,
            );
        }
    }

    fn paint_mounts(&mut self, f: &mut Frame<'_, Action>, rect: Rect) {
        f.fill_radii(rect, f.theme.panel, scene::Radii([0.0, 0.0, 0.0, 10.0]));
        f.fill(Rect::new(rect.right() - 1.0, rect.y, 1.0, rect.h), f.theme.line, 0.0);
        let node = Node {
            id: NodeId::of("mounts", 0),
            role: Role::Navigation,
            name: "Mounted folders".into(),
            rect,
            ..Node::default()
        };
        f.group(node, |f| {
            let row = 44.0;
            let mut y = rect.y + 4.0;
            for (i, m) in self.mounts.iter().enumerate() {
                let r = Rect::new(rect.x + 8.0, y, rect.w - 16.0, row);
                if r.bottom() > rect.bottom() - row {
                    break;
                }
                let on = self.files.mount.as_ref() == Some(m.id());
                let mut c = Control::button(m.record.title.clone()).describe(m.state.words());
                c.state.pressed = Some(on);
                let forget = if on && !m.sample { 32.0 } else { 0.0 };
                let hit = Rect { w: r.w - forget, ..r };
                f.control(NodeId::of("mount", i as u64), hit, c, Some(Action::OpenMount(m.id().clone())), |f, look| {
                    widgets::row_back(f, r, on, look);
                    ui::icons::icon(f, Icon::Folder, Rect::new(r.x + 8.0, r.y, 16.0, r.h), f.theme.muted);
                    let w = hit.w - 40.0;
                    let _ = f.line(Point::new(r.x + 32.0, r.y + 4.0), &m.record.title, SMALL, f.theme.text, w);
                    let (words, ink) = match m.state {
                        MountState::Ready if m.sample => ("Sample, inside this browser", f.theme.muted),
                        MountState::Ready => ("Connected", f.theme.muted),
                        MountState::ReadOnly => ("Can be read, not changed", f.theme.muted),
                        MountState::NeedsReconnect => ("Needs reconnect", f.theme.warn),
                        MountState::Denied => ("Denied", f.theme.danger),
                        MountState::Missing => ("Missing", f.theme.danger),
                    };
                    let _ = f.line(Point::new(r.x + 32.0, r.y + 24.0), words, CAPTION, ink, w);
                });
                if forget > 0.0 {
                    let b = Rect::new(r.right() - 32.0, r.y + 8.0, 28.0, 28.0);
                    let c = Control::button(format!("Forget {}", m.record.title))
                        .describe("the folder itself stays as it is");
                    widgets::icon_button(
                        f,
                        NodeId::of("forget", i as u64),
                        b,
                        Icon::Close,
                        c,
                        Action::Unmount(m.id().clone()),
                    );
                }
                y += row;
            }
            let b = Rect::new(rect.x + 8.0, y + 4.0, rect.w - 16.0, 36.0);
            widgets::button(
                f,
                NodeId::of("mount-new", 0),
                b,
                Button::Plain,
                Some(Icon::Plus),
                Control::button("Mount a folder"),
                Action::PickFolder,
            );
        });
    }

    fn paint_crumbs(&mut self, f: &mut Frame<'_, Action>, bar: Rect, mount: &Mount) {
        let node = Node {
            id: NodeId::of("crumbs", 0),
            role: Role::Navigation,
            name: "Path".into(),
            rect: bar,
            ..Node::default()
        };
        f.group(node, |f| {
            let limit = bar.right() - 84.0;
            let mut x = bar.x + 12.0;
            let mut parts = vec![(mount.record.title.clone(), MountPath::root())];
            let mut at = MountPath::root();
            for s in self.files.folder.segments() {
                if let Ok(p) = at.join(s) {
                    at = p;
                    parts.push((s.to_owned(), at.clone()));
                }
            }
            for (i, (label, path)) in parts.iter().enumerate() {
                let w = f.width(label, SMALL) + 12.0;
                if x + w > limit {
                    let _ = f.line(Point::new(x, bar.y + 10.0), "…", SMALL, f.theme.muted, 20.0);
                    break;
                }
                let r = Rect::new(x, bar.y + 6.0, w, 28.0);
                f.control(
                    NodeId::of("crumb", i as u64),
                    r,
                    Control::button(label.clone()),
                    Some(Action::OpenFolder(path.clone())),
                    |f, look| {
                        widgets::row_back(f, r, false, look);
                        f.centered(r, label, SMALL, f.theme.text);
                    },
                );
                x += w;
                ui::icons::icon(f, Icon::Right, Rect::new(x, bar.y, 12.0, bar.h), f.theme.muted);
                x += 14.0;
            }
            if let Some(file) = &self.files.file {
                let _ = f.heading_line(
                    NodeId::of("file-name", 0),
                    Point::new(x + 6.0, bar.y + 10.0),
                    file.path.name(),
                    (limit - x - 6.0).max(1.0),
                );
            }
            let b = Rect::new(bar.right() - 40.0, bar.y + 4.0, 32.0, 32.0);
            if self.files.file.is_some() {
                widgets::icon_button(
                    f,
                    NodeId::of("file-close", 0),
                    b,
                    Icon::Close,
                    Control::button("Close the file"),
                    Action::CloseFile,
                );
            } else {
                widgets::icon_button(
                    f,
                    NodeId::of("files-refresh", 0),
                    b,
                    Icon::Refresh,
                    Control::button("Read the folder again"),
                    Action::RefreshFiles,
                );
            }
        });
    }

    fn paint_entries(&mut self, f: &mut Frame<'_, Action>, r: Rect) {
        let (entries, truncated) = match &self.files.entries {
            None => {
                f.say(
                    NodeId::of("files-state", 0),
                    Point::new(r.x + 20.0, r.y + 16.0),
                    "Reading the folder…",
                    SMALL,
                    f.theme.muted,
                    r.w - 40.0,
                );
                return;
            }
            Some(Err(e)) => {
                f.say(
                    NodeId::of("files-state", 0),
                    Point::new(r.x + 20.0, r.y + 16.0),
                    e,
                    BODY,
                    f.theme.danger,
                    r.w - 40.0,
                );
                return;
            }
            Some(Ok((e, _))) if e.is_empty() => {
                f.say(
                    NodeId::of("files-state", 0),
                    Point::new(r.x + 20.0, r.y + 16.0),
                    "This folder is empty.",
                    BODY,
                    f.theme.muted,
                    r.w - 40.0,
                );
                return;
            }
            Some(Ok((e, t))) => (e, *t),
        };
        let row = f.m.row;
        self.files.row_height = row;
        let id = NodeId::of("entries", 0);
        let y = self.scrolls.get(&id).copied().unwrap_or(0.0);
        let node = Node { id, role: Role::List, name: "Entries".into(), rect: r, ..Node::default() };
        f.group(node, |f| {
            f.scroll(id, r, y, |f, y| {
                let first = (y / row).floor().max(0.0) as usize;
                let most = (r.h / row).ceil() as usize + 1;
                for (i, e) in entries.iter().enumerate().skip(first).take(most) {
                    let at = Rect::new(r.x + 8.0, r.y + 4.0 + i as f32 * row - y, r.w - 16.0, row);
                    let path = self.files.folder.join(&e.name);
                    let folder = e.kind == EntryKind::Folder;
                    let size = e.size.filter(|_| !folder).map(size_words).unwrap_or_default();
                    let mut c = Control::button(e.name.clone());
                    c.description = match (&path, folder) {
                        (Err(why), _) => format!("cannot be opened: {why}"),
                        (_, true) => "folder".to_owned(),
                        _ if e.kind == EntryKind::Link => "a link, not followed".to_owned(),
                        _ => size.clone(),
                    };
                    c.state.disabled = path.is_err() || e.kind == EntryKind::Link;
                    c.state.pos_in_set = u32::try_from(i + 1).ok();
                    c.state.set_size = u32::try_from(entries.len()).ok();
                    let action = path.ok().map(|p| if folder { Action::OpenFolder(p) } else { Action::OpenFile(p) });
                    f.control(entry_id(i as u64), at, c, action, |f, look| {
                        widgets::row_back(f, at, false, look);
                        let sign = if folder { Icon::Folder } else { Icon::File };
                        let ink = if folder { f.theme.accent } else { f.theme.muted };
                        ui::icons::icon(f, sign, Rect::new(at.x + 10.0, at.y, 16.0, at.h), ink);
                        let ty = at.y + (at.h - 20.0) / 2.0;
                        let w = f.width(&size, CAPTION);
                        let _ = f.line(Point::new(at.x + 38.0, ty), &e.name, BODY, f.theme.text, at.w - 60.0 - w);
                        let _ =
                            f.line(Point::new(at.right() - 12.0 - w, ty + 2.0), &size, CAPTION, f.theme.muted, w + 2.0);
                    });
                }
                let mut h = 8.0 + entries.len() as f32 * row;
                if truncated {
                    let words = format!("Only the first {ENTRIES_MAX} entries are shown.");
                    let at = Point::new(r.x + 20.0, r.y + h - y);
                    f.say(NodeId::of("files-cut", 0), at, &words, SMALL, f.theme.warn, r.w - 40.0);
                    h += 28.0;
                }
                h
            });
        });
    }

    fn paint_file(&mut self, f: &mut Frame<'_, Action>, r: Rect) {
        let Some(file) = &mut self.files.file else { return };
        let top = Rect::new(r.x, r.y, r.w, 36.0);
        let words = match file.cut {
            Some((kept, total)) => format!("{kept} of {total} bytes are shown"),
            None => file.path.to_string(),
        };
        let ink = if file.cut.is_some() { f.theme.warn } else { f.theme.muted };
        let at = Point::new(top.x + 20.0, top.y + 10.0);
        let s = f.line(at, &words, CAPTION, ink, top.w - 200.0);
        f.node(Node {
            id: NodeId::of("file-words", 0),
            role: Role::Text,
            name: words,
            rect: Rect::new(at.x, at.y, s.w, s.h),
            ..Node::default()
        });
        let label = "Ask AI Echo about it";
        let w = widgets::button_width(f, label, true);
        let b = Rect::new(top.right() - w - 12.0, top.y + 4.0, w, 28.0);
        let c = Control::button(label).describe("attaches the file to your next message");
        widgets::button(
            f,
            NodeId::of("file-ask", 0),
            b,
            Button::Plain,
            Some(Icon::Echo),
            c,
            Action::AttachFile(file.path.clone()),
        );
        let body = Rect::new(r.x, top.bottom(), r.w, r.h - top.h);
        let lines = match &file.lines {
            None => {
                f.say(
                    NodeId::of("files-state", 0),
                    Point::new(body.x + 20.0, body.y + 12.0),
                    "Reading the file…",
                    SMALL,
                    f.theme.muted,
                    body.w - 40.0,
                );
                return;
            }
            Some(Err(e)) => {
                f.say(
                    NodeId::of("files-state", 0),
                    Point::new(body.x + 20.0, body.y + 12.0),
                    e,
                    BODY,
                    f.theme.danger,
                    body.w - 40.0,
                );
                return;
            }
            Some(Ok(l)) => l,
        };
        let id = text_id();
        let row = MONO.line_height;
        let y = self.scrolls.get(&id).copied().unwrap_or(0.0);
        let value = lines.join("\n");
        f.node(Node { id, role: Role::Code, name: file.path.to_string(), value, rect: body, ..Node::default() });
        f.press(id, body, Action::Focus(id), Cursor::Default, true);
        // Long lines go on in the next row; only the rows in view are laid out.
        let (left, cell) = (68.0, f.width("0000000000", MONO) / 10.0);
        let columns = ((body.w - left - 20.0) / cell).floor().max(8.0) as usize;
        if file.rows.0 != columns {
            file.rows = (columns, rows_of(lines, columns));
        }
        let rows = &file.rows.1;
        f.scroll(id, body, y, |f, y| {
            let first = (y / row).floor().max(0.0) as usize;
            let most = (body.h / row).ceil() as usize + 1;
            for (i, (n, from, to)) in rows.iter().enumerate().skip(first).take(most) {
                let ly = (body.y + 4.0 + i as f32 * row - y).round();
                if *from == 0 {
                    let n = (n + 1).to_string();
                    let nw = f.width(&n, MONO);
                    let _ = f.line(Point::new(body.x + 52.0 - nw, ly), &n, MONO, f.theme.muted, nw + 2.0);
                }
                let shown = lines.get(*n as usize).and_then(|l| l.get(*from as usize..*to as usize)).unwrap_or("");
                let _ = f.line(Point::new(body.x + left, ly), shown, MONO, f.theme.text, body.w - left);
            }
            8.0 + rows.len() as f32 * row
        });
        f.ring(id, body.inset(1.0, 1.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_goes_on_in_the_next_row_and_nothing_of_it_is_lost() {
        let long = format!("{}é漢字👩‍👩‍👧‍👦{}", "a".repeat(4000), "z".repeat(10));
        let lines = vec!["short".to_owned(), String::new(), long.clone()];
        for columns in [8, 80, 10_000] {
            let rows = rows_of(&lines, columns);
            for (n, l) in lines.iter().enumerate() {
                let parts: String = rows
                    .iter()
                    .filter(|(line, ..)| *line as usize == n)
                    .map(|(_, a, b)| &l[*a as usize..*b as usize])
                    .collect();
                assert_eq!(&parts, l, "{columns}");
            }
            assert!(rows.iter().all(|(_, a, b)| (b - a) as usize <= columns * 32));
        }
        assert_eq!(rows_of(&lines, 80).len(), 2 + 4030_usize.div_ceil(80));
        // Where a row has a blank, a word goes on whole in the next one.
        let words = ["the tide turns at noon".to_owned()];
        let rows = rows_of(&words, 10);
        let rows: Vec<&str> = rows.iter().map(|(_, a, b)| &words[0][*a as usize..*b as usize]).collect();
        assert_eq!(rows, ["the tide ", "turns at ", "noon"]);
    }
}
