//! When to look at the folders again (decision 26). Pure: signals and the time come in, what is
//! due goes out.
//!
//! With an observer a change is looked at once it has been quiet for [`DEBOUNCE_MS`], and at the
//! latest [`LATEST_MS`] after the first; without one, every [`POLL_MS`] while somebody can see it.
//! Opening the palette and submitting always look at once, for what is dispatched must be what is
//! there (decision 31). A look that was under way when something happened is followed by another.

use super::root::Root;
use kernel::mount::MountPath;

/// Quiet time after a change, in milliseconds.
pub const DEBOUNCE_MS: u64 = 500;
/// Longest wait after a first change that is followed by others.
pub const LATEST_MS: u64 = 2_000;
/// Time between two looks without an observer.
pub const POLL_MS: u64 = 2_000;

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// The tab became visible, or hidden.
    Visible(bool),
    /// The browser tells of changes, or stopped doing so.
    Observer(bool),
    /// Something at this path changed; the root stands for “somewhere”.
    Changed(MountPath),
    /// The palette opened, or something is being submitted.
    Asked,
    /// A look began.
    Began,
    /// A look ended.
    Ended,
}

/// When the next look is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Now.
    Now,
    /// At this time (milliseconds, as passed in), unless a signal comes first.
    At(u64),
    /// Not before a signal.
    Never,
}

/// The watcher of one workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watcher {
    workspace: MountPath,
    visible: bool,
    observer: bool,
    looking: bool,
    asked: bool,
    /// First and last change that no look has seen.
    changed: Option<(u64, u64)>,
    last: Option<u64>,
}

impl Watcher {
    /// A watcher that has not looked yet.
    #[must_use]
    pub fn new(workspace: &MountPath) -> Self {
        Self {
            workspace: workspace.clone(),
            visible: true,
            observer: false,
            looking: false,
            asked: false,
            changed: None,
            last: None,
        }
    }

    /// True when a change at `path` can change a package: it lies in one of the roots, or above.
    #[must_use]
    pub fn concerns(&self, path: &MountPath) -> bool {
        let within = |a: &MountPath, b: &MountPath| {
            b.is_root() || a == b || a.as_str().strip_prefix(b.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        Root::ALL
            .iter()
            .filter_map(|r| r.path(&self.workspace).ok())
            .any(|root| within(path, &root) || within(&root, path))
    }

    /// Takes a signal at `now`.
    pub fn on(&mut self, signal: &Signal, now: u64) {
        match signal {
            Signal::Visible(v) => self.visible = *v,
            Signal::Observer(v) => {
                // What happened while nobody told is not known.
                if self.observer != *v {
                    self.changed.get_or_insert((now, now));
                }
                self.observer = *v;
            }
            Signal::Changed(path) => {
                if self.concerns(path) {
                    self.changed = Some((self.changed.map_or(now, |(first, _)| first), now));
                }
            }
            Signal::Asked => self.asked = true,
            Signal::Began => {
                (self.looking, self.asked, self.changed) = (true, false, None);
            }
            Signal::Ended => (self.looking, self.last) = (false, Some(now)),
        }
    }

    /// When to look next.
    #[must_use]
    pub fn due(&self, now: u64) -> Due {
        if self.looking {
            return Due::Never;
        }
        if self.asked || self.last.is_none() {
            return Due::Now;
        }
        let quiet =
            self.changed.map(|(first, last)| (last.saturating_add(DEBOUNCE_MS)).min(first.saturating_add(LATEST_MS)));
        let poll = (self.visible && !self.observer).then(|| self.last.unwrap_or(0).saturating_add(POLL_MS));
        match quiet.into_iter().chain(poll).min() {
            Some(at) if at <= now => Due::Now,
            Some(at) => Due::At(at),
            None => Due::Never,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> MountPath {
        MountPath::parse(text).expect("path")
    }

    fn looked(observer: bool) -> Watcher {
        let mut w = Watcher::new(&MountPath::root());
        assert_eq!(w.due(0), Due::Now);
        w.on(&Signal::Observer(observer), 0);
        w.on(&Signal::Began, 0);
        assert_eq!(w.due(5), Due::Never);
        w.on(&Signal::Ended, 10);
        w
    }

    #[test]
    fn changes_wait_until_they_are_quiet_but_not_for_ever() {
        let mut w = looked(true);
        assert_eq!(w.due(9_999_999), Due::Never);
        let file = Signal::Changed(at(".agents/skills/tide-table/SKILL.md"));
        w.on(&file, 1_000);
        assert_eq!(w.due(1_000), Due::At(1_500));
        w.on(&file, 1_400);
        assert_eq!((w.due(1_500), w.due(1_900)), (Due::At(1_900), Due::Now));
        for t in (1_400..5_000).step_by(100) {
            w.on(&file, t);
        }
        assert_eq!(w.due(2_999), Due::At(3_000));
        assert_eq!(w.due(3_000), Due::Now);
    }

    #[test]
    fn a_change_during_a_look_is_looked_at_again() {
        let mut w = looked(true);
        w.on(&Signal::Changed(at(".claude")), 100);
        w.on(&Signal::Began, 700);
        w.on(&Signal::Changed(at(".claude/skills/new")), 701);
        w.on(&Signal::Ended, 720);
        assert_eq!(w.due(720), Due::At(1_201));
        w.on(&Signal::Began, 1_201);
        w.on(&Signal::Asked, 1_202);
        w.on(&Signal::Ended, 1_203);
        assert_eq!(w.due(1_203), Due::Now);
    }

    #[test]
    fn without_an_observer_a_visible_tab_polls_and_a_hidden_one_does_not() {
        let mut w = looked(false);
        assert_eq!(w.due(10), Due::At(2_010));
        w.on(&Signal::Visible(false), 20);
        assert_eq!(w.due(99_999), Due::Never);
        w.on(&Signal::Asked, 99_999);
        assert_eq!(w.due(99_999), Due::Now);
    }

    #[test]
    fn only_what_can_change_a_package_counts() {
        let w = Watcher::new(&at("work"));
        for yes in ["", "work", "work/.agents", "work/.cursor/skills", "work/.github/skills/a/SKILL.md"] {
            assert!(w.concerns(&at(yes)), "{yes}");
        }
        for no in [
            "other",
            "work/src/a.rs",
            "work/.agents/rules",
            "work/.agents/skills2",
            "work/.github/workflows/x",
            ".agents",
        ] {
            assert!(!w.concerns(&at(no)), "{no}");
        }
        let mut w = looked(true);
        w.on(&Signal::Changed(at("target/x")), 50);
        assert_eq!(w.due(9_999), Due::Never);
    }
}
