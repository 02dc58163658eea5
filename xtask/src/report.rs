//! One progress line per step of the set-up.

use std::io::Write;
use std::time::Instant;

use anyhow::Result;

/// Prints `name … outcome` and, where it took time, how long.
///
/// The name goes out before the work starts, so that whoever waits knows for what.
pub fn step<T>(name: &str, work: impl FnOnce() -> Result<(T, String)>) -> Result<T> {
    print!("  {name} … ");
    std::io::stdout().flush()?;
    let start = Instant::now();
    match work() {
        Ok((value, outcome)) => {
            let seconds = start.elapsed().as_secs();
            match seconds {
                0 => println!("{outcome}"),
                _ => println!("{outcome} ({seconds} s)"),
            }
            Ok(value)
        }
        Err(error) => {
            println!("failed");
            Err(error.context(format!("the step {name:?} failed")))
        }
    }
}
