//! An optional JSON Schema for a line of arguments: the kernel's validator, nothing coerced
//! (decision 10).

use kernel::json;
use kernel::schema::{Schema, SchemaError};
use serde_json::{Map, Value};

use super::words::split;
use super::{ArgumentRefusal, LINE_MAX, bound};

/// A schema of arguments.
#[derive(Clone, Debug)]
pub struct ArgumentSchema {
    schema: Schema,
}

impl ArgumentSchema {
    /// Compiles a schema's text.
    ///
    /// # Errors
    /// A keyword outside the subset, a dangling reference, a bound.
    pub fn compile(text: &str) -> Result<Self, SchemaError> {
        Schema::compile(text).map(|schema| Self { schema })
    }

    /// Reads a line as arguments: a JSON object as it is, or words as the texts of the declared
    /// properties in their order.
    ///
    /// # Errors
    /// The first thing that is not as declared.
    pub fn read(&self, line: &str) -> Result<Value, ArgumentRefusal> {
        bound("the line", "bytes", line.len(), LINE_MAX)?;
        let value = if line.trim_start().starts_with('{') {
            json::parse(line.trim().as_bytes(), json::ARGS).map_err(|e| ArgumentRefusal::Schema {
                pointer: "the arguments".to_owned(),
                expected: "a JSON object".to_owned(),
                observed: e.to_string(),
            })?
        } else {
            let (words, properties) = (split(line)?, self.schema.properties());
            if words.len() > properties.len() {
                return Err(ArgumentRefusal::Unused { given: words.len(), places: properties.len() });
            }
            let pairs = properties.into_iter().zip(words).map(|(p, w)| (p.name, Value::String(w.text)));
            Value::Object(pairs.collect::<Map<_, _>>())
        };
        match self.schema.check(&value).into_iter().next() {
            None => Ok(value),
            Some(problem) => Err(ArgumentRefusal::Schema {
                pointer: if problem.pointer.is_empty() { "the arguments".to_owned() } else { problem.pointer },
                expected: problem.expected,
                observed: problem.observed,
            }),
        }
    }
}
