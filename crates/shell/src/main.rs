//! The browser: entry point and adapters. It carries messages and performs effects; the rules lie below.

use wasm_bindgen as _; // its glue is what the page loads

fn main() {}
