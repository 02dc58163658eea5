//! Names that look like other names: `раураl` in Cyrillic, `paypa1` with a digit.
//!
//! Two names are confusable when their skeletons are equal: compatibility forms undone (NFKC),
//! case dropped, and letters that look like an ASCII letter replaced by it. The table holds the
//! look-alikes of `a-z 0-9` only, because a portable name holds nothing else (decision 11).

use unicode_normalization::UnicodeNormalization;

/// Letters that look like one of `a-z`, by the letter they look like.
const LOOK_ALIKES: [(char, &str); 26] = [
    ('a', "αаɑ⍺ա"),
    ('b', "ЬьƄƅ"),
    ('c', "ϲсᴄ"),
    ('d', "ԁɗժ"),
    ('e', "еҽℯ℮ɛε"),
    ('f', "ғꞙſϝ"),
    ('g', "ɡցǥɢ"),
    ('h', "һհᏂ"),
    ('i', "іıɩιɪӏ"),
    ('j', "јϳյ"),
    ('k', "κкҝᴋ"),
    ('l', "ӏⅼוןıا"),
    ('m', "мⅿʍ"),
    ('n', "ոռпη"),
    ('o', "оοσօ०০੦௦ഠ๐໐ᴏ〇"),
    ('p', "рρϱ⍴"),
    ('q', "ԛգզ"),
    ('r', "гᴦⲅɼ"),
    ('s', "ѕꜱƽ"),
    ('t', "тτᴛ"),
    ('u', "υսʋᴜц"),
    ('v', "νѵᴠט"),
    ('w', "ѡԝաɯᴡω"),
    ('x', "хχ×ᕁ"),
    ('y', "уүγʏ"),
    ('z', "ʐᴢζ"),
];

/// Two names of one name space are the same name when these are equal (I-128): NFC, case dropped.
/// Upper and then lower case comes close to full case folding (ß is ss, ſ is s).
#[must_use]
pub fn folded(name: &str) -> String {
    let once = name.nfc().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    once.collect::<String>().nfc().collect()
}

/// What a name looks like, in ASCII where its letters have an ASCII look.
#[must_use]
pub fn skeleton(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.nfkc().flat_map(char::to_lowercase) {
        let ascii = LOOK_ALIKES.iter().find(|(_, list)| list.contains(c)).map_or(c, |(a, _)| *a);
        match ascii {
            '0' => out.push('o'),
            '1' | 'i' => out.push('l'),
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '_' => out.push('-'),
            c => out.push(c),
        }
    }
    out.replace("rn", "m").replace("vv", "w")
}

/// The letters of `name` outside ASCII, each with its code point, at most eight.
#[must_use]
pub fn foreign(name: &str) -> Vec<(usize, char)> {
    name.chars().enumerate().filter(|(_, c)| !c.is_ascii()).take(8).collect()
}

/// The ASCII name that a name with other letters passes for.
#[must_use]
pub fn passes_for(name: &str) -> Option<String> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_ascii() {
        return None;
    }
    let shown: String = name
        .nfkc()
        .flat_map(char::to_lowercase)
        .map(|c| LOOK_ALIKES.iter().find(|(_, list)| list.contains(c)).map_or(c, |(a, _)| *a))
        .collect();
    shown.chars().all(plain).then_some(shown)
}

/// A name of `a-z 0-9 -` made from any text; empty when nothing of it can be kept.
#[must_use]
pub fn slug(text: &str) -> String {
    let mut out = String::new();
    for c in text.nfkd().flat_map(char::to_lowercase) {
        match c {
            'a'..='z' | '0'..='9' => out.push(c),
            '\u{300}'..='\u{36f}' => {}
            'ß' => out.push_str("ss"),
            _ if !out.is_empty() && !out.ends_with('-') => out.push('-'),
            _ => {}
        }
        if out.len() >= crate::packages::bounds::NAME_MAX {
            break;
        }
    }
    out.truncate(crate::packages::bounds::NAME_MAX);
    out.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_no_letter_that_is_ascii() {
        assert!(LOOK_ALIKES.iter().all(|(_, list)| list.chars().all(|c| !c.is_ascii())));
        assert!(LOOK_ALIKES.iter().map(|(a, _)| *a).eq('a'..='z'));
    }

    #[test]
    fn look_alikes_share_a_skeleton_and_are_named() {
        for twin in ["раураl", "pаypal", "ｐａｙｐａｌ", "PayPal", "paypa1"] {
            assert_eq!(skeleton(twin), skeleton("paypal"), "{twin}");
        }
        assert_eq!(skeleton("modern"), skeleton("modem"));
        assert_ne!(skeleton("release"), skeleton("release-audit"));
        assert_eq!(passes_for("раураl").as_deref(), Some("paypal"));
        assert_eq!(passes_for("paypa1"), None);
        assert_eq!(passes_for("技能"), None);
        assert_eq!(foreign("pаypal"), [(1, 'а')]);
    }

    #[test]
    fn t155_names_are_one_name_after_nfc_and_case() {
        for (a, b) in [("Straße", "STRASSE"), ("cafe\u{301}", "CAFÉ"), ("ſet", "Set"), ("ΣΑΣ", "σας")] {
            assert_eq!(folded(a), folded(b));
        }
        assert_ne!(folded("a-b"), folded("ab"));
    }

    #[test]
    fn slugs_are_portable_names_or_nothing() {
        for (text, want) in [
            ("Customer.io Automation", "customer-io-automation"),
            ("Café  Größe!", "cafe-grosse"),
            ("--a__b--", "a-b"),
            ("技能", ""),
            ("ﬁle", "file"),
        ] {
            assert_eq!(slug(text), want);
        }
        assert_eq!(slug(&"a".repeat(99)).len(), 64);
    }
}
