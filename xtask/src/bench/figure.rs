//! One figure of a bench, and its row in the table.

use std::fmt;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The table's head; the columns of a row stand below it.
pub const HEAD: &str =
    "figure                                            measured unit      budget      peer  ratio verdict";

/// What a bench measured: `{"name", "value", "unit", "budget"?, "peer"?: {"name", "value"},
/// "more_is_better"?, "note"?}`.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The measurement.
    pub value: f64,
    /// Of the value, the budget and the peer.
    pub unit: String,
    /// What it may be, by the table of budgets.
    pub budget: Option<f64>,
    /// A bound or another way to the same, measured in the same run: what it is, and how it did.
    pub peer: Option<(String, f64)>,
    /// Turns the comparison with the budget round.
    pub more_is_better: bool,
    /// How it was measured.
    pub note: String,
}

impl Figure {
    /// Without anything to compare it with.
    pub fn new(name: &str, value: f64, unit: &str) -> Self {
        let (name, unit) = (name.to_owned(), unit.to_owned());
        Self { name, value, unit, budget: None, peer: None, more_is_better: false, note: String::new() }
    }

    /// Reads a bench's line. A value, a budget or a peer that is no number was not measured, and is
    /// refused with the figure's name.
    pub fn read(line: &str) -> Result<Self> {
        let line: Value = serde_json::from_str(line).with_context(|| format!("not a figure: {line}"))?;
        let text = |key: &str| line[key].as_str();
        let (Some(name), Some(unit)) = (text("name"), text("unit")) else { bail!("a figure without a name: {line}") };
        let number = |value: &Value| {
            let number = value.as_f64().filter(|n| n.is_finite());
            number.with_context(|| format!("{name} was not measured: {line}"))
        };
        let mut figure = Self::new(name, number(&line["value"])?, unit);
        figure.budget = line.get("budget").map(number).transpose()?;
        if let Some(peer) = line.get("peer") {
            let name = peer["name"].as_str().with_context(|| format!("a peer without a name: {line}"))?;
            figure.peer = Some((name.to_owned(), number(&peer["value"])?));
        }
        figure.more_is_better = line["more_is_better"] == true;
        figure.note = text("note").unwrap_or_default().to_owned();
        Ok(figure)
    }

    /// Whether the budget holds; nothing without one.
    fn verdict(&self) -> &'static str {
        match self.budget {
            None => "",
            Some(budget) if self.more_is_better && self.value < budget => "under",
            Some(budget) if !self.more_is_better && self.value > budget => "over",
            Some(_) => "ok",
        }
    }
}

/// A row: name, figure, unit, budget, peer, ratio to the peer (or else to the budget), verdict.
impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |n: f64| match n {
            n if n.fract() == 0.0 || n >= 1000.0 => format!("{n:.0}"),
            n if n >= 100.0 => format!("{n:.1}"),
            n => format!("{n:.2}"),
        };
        let peer = self.peer.as_ref().map(|(_, value)| *value);
        let ratio = peer.or(self.budget).filter(|n| *n > 0.0).map(|n| format!("{:.2}", self.value / n));
        let cell = |n: Option<f64>| n.map(show).unwrap_or_default();
        let Self { name, unit, .. } = self;
        let (value, budget, peer) = (show(self.value), cell(self.budget), cell(peer));
        let ratio = ratio.unwrap_or_default();
        let row = format!("{name:<46} {value:>11} {unit:<7} {budget:>8} {peer:>9} {ratio:>6} {:<7}", self.verdict());
        let peer = self.peer.iter().map(|(name, _)| format!("peer: {name}"));
        let words: Vec<String> = peer.chain((!self.note.is_empty()).then(|| self.note.clone())).collect();
        f.write_str(format!("{row}  {}", words.join("; ")).trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(line: &str) -> Vec<String> {
        Figure::read(line).unwrap().to_string().split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn a_figure_stands_beside_its_budget_and_its_peer() {
        let over = row(r#"{"name":"key","value":5.0,"unit":"ms","budget":4}"#);
        assert_eq!(over, ["key", "5", "ms", "4", "1.25", "over"]);
        let with = row(r#"{"name":"key","value":1.5,"unit":"ms","budget":4,"peer":{"name":"p","value":3}}"#);
        assert_eq!(with, ["key", "1.50", "ms", "4", "3", "0.50", "ok", "peer:", "p"]);
        let decode = r#"{"name":"decode","value":30,"unit":"tok/s","budget":40,"more_is_better":true,"note":"n"}"#;
        assert_eq!(row(decode), ["decode", "30", "tok/s", "40", "0.75", "under", "n"]);
        assert_eq!(row(r#"{"name":"idle","value":0,"unit":"frames","budget":0}"#), ["idle", "0", "frames", "0", "ok"]);
        assert_eq!(row(r#"{"name":"alone","value":12345.6,"unit":"x"}"#), ["alone", "12346", "x"]);
    }

    #[test]
    fn what_was_not_measured_is_refused_by_name() {
        for line in [
            r#"{"name":"key","unit":"ms"}"#,
            r#"{"name":"key","value":null,"unit":"ms"}"#,
            r#"{"name":"key","value":"5","unit":"ms"}"#,
            r#"{"name":"key","value":5,"unit":"ms","budget":null}"#,
            r#"{"name":"key","value":5,"unit":"ms","peer":{"name":"p","value":null}}"#,
        ] {
            let error = Figure::read(line).unwrap_err().to_string();
            assert!(error.starts_with("key was not measured"), "{error}");
        }
        assert!(Figure::read(r#"{"value":5,"unit":"ms"}"#).is_err());
        assert!(Figure::read("{").is_err());
    }

    #[test]
    fn the_columns_stand_below_the_head() {
        let row = Figure::read(r#"{"name":"n","value":1.5,"unit":"ms","budget":4,"peer":{"name":"p","value":3}}"#)
            .unwrap()
            .to_string();
        for (word, cell) in [("measured", "1.50"), ("budget", "4"), ("peer", "3"), ("ratio", "0.50")] {
            let end = HEAD.find(word).unwrap() + word.len();
            assert!(row[..end].ends_with(cell), "{word}: {row}");
        }
    }
}
