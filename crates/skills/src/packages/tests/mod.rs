//! Cases of packages by id: the reference validator's table, the field's faults, the subset.

mod files;
mod people;
mod roots;
mod total;
mod validator;

use super::{Inspection, inspect};

/// Inspects a whole file.
fn file(folder: &str, bytes: impl AsRef<[u8]>) -> Inspection {
    let bytes = bytes.as_ref();
    inspect(folder, bytes, bytes.len() as u64)
}

/// A file with these lines between the fences, and a body.
fn with(lines: &str) -> String {
    format!("---\n{lines}---\nRead the table.\n")
}

/// Codes with line and column.
fn codes(i: &Inspection) -> Vec<(&'static str, u32, u32)> {
    i.diagnostics.iter().map(|d| (d.code.name(), d.at.map_or(0, |a| a.line), d.at.map_or(0, |a| a.column))).collect()
}
