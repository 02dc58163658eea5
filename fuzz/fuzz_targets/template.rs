//! A template and a line of any bytes are filled or refused; what was inserted is the line or a word
//! of it, and the rest is the template's. The first byte says how, a newline parts the two.
#![no_main]

use libfuzzer_sys::fuzz_target;
use skills::arguments::{Dialect, IndexBase, Template, split};

fuzz_target!(|bytes: &[u8]| {
    let Some((&how, rest)) = bytes.split_first() else { return };
    let text = String::from_utf8_lossy(rest);
    let (line, template) = text.split_once('\n').unwrap_or((&text, ""));
    let on = |n: u8| how & (1 << n) != 0;
    let dialect = Dialect {
        base: if on(0) { IndexBase::Zero } else { IndexBase::One },
        names: vec!["who".into()],
        optional: on(1),
        in_fences: on(2),
        backslash: on(3),
        dollar: on(4),
        curly: on(5),
        inputs: on(6),
    };
    let Ok(template) = Template::parse(template, &dialect) else { return };
    if let Ok(filled) = template.fill(line) {
        let words = split(line).unwrap_or_default();
        for range in &filled.inserted {
            let inserted = &filled.text[range.clone()];
            assert!(inserted == line || words.iter().any(|w| w.text == inserted));
        }
    }
});
