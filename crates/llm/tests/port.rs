//! The byte protocol as the worker speaks it, natively and on the small model.

mod common;

use common::Builder;
use llm::port::{Did, Port};

/// A request as `web/llm-worker.js` writes it.
#[derive(Default)]
struct Request(Vec<u8>);

impl Request {
    fn u32(mut self, n: u32) -> Self {
        self.0.extend(n.to_le_bytes());
        self
    }
    fn f32(mut self, n: f32) -> Self {
        self.0.extend(n.to_le_bytes());
        self
    }
    fn text(mut self, s: &str) -> Self {
        self = self.u32(s.len() as u32);
        self.0.extend(s.as_bytes());
        self
    }
    fn chat(max: u32, question: &str) -> Self {
        Self::default()
            .f32(0.0)
            .u32(40)
            .f32(0.95)
            .f32(1.1)
            .u32(7)
            .u32(0)
            .u32(max)
            .u32(1)
            .text("user")
            .text(question)
            .text("")
            .u32(0)
    }
    fn send(&self, p: &mut Port) {
        assert!(p.reserve(self.0.len()));
        p.input.copy_from_slice(&self.0);
    }
}

fn loaded() -> Port {
    let file = Builder::small().file();
    let mut p = Port::default();
    assert_eq!(p.check(), Did::Ok);
    assert!(p.reserve_file(file.len()));
    p.file.copy_from_slice(&file);
    assert_eq!(p.load(256), Did::Ok);
    p
}

fn numbers(p: &Port) -> Vec<u32> {
    p.out.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
}

fn finish(p: &mut Port) -> (Did, usize) {
    for texts in 0.. {
        match p.step() {
            Did::Prefill | Did::Text => {}
            did => return (did, texts),
        }
    }
    unreachable!()
}

#[test]
fn a_file_is_hashed_in_pieces_and_loaded() {
    let file = Builder::small().file();
    let mut p = Port::default();
    assert!(p.reserve_file(file.len()));
    p.file.copy_from_slice(&file);
    for from in (0..file.len()).step_by(1000) {
        assert!(p.hash_file(from, 1000.min(file.len() - from)));
    }
    assert!(!p.hash_file(file.len(), 1) && !p.hash_file(usize::MAX, 2));
    p.digest();
    let mut want = llm::sha256::Sha256::default();
    want.update(&file);
    assert_eq!(p.out, llm::sha256::hex(&want.finish()).into_bytes());
    assert_eq!(p.load(256), Did::Ok);
    let info = String::from_utf8(p.out.clone()).expect("text");
    assert!(info.contains("\nctx=256\n") && info.contains(&format!("bytes={}", file.len())), "{info}");
}

#[test]
fn an_answer_and_its_usage() {
    let mut p = loaded();
    Request::chat(6, "in the end").u32(0).send(&mut p);
    assert_eq!(p.chat(), Did::Ok);
    let started = numbers(&p);
    assert_eq!(started[1..], [0, 0], "nothing cached, nothing dropped");
    assert_eq!(p.step(), Did::Prefill);
    assert_eq!(finish(&mut p).0, Did::End);
    let end = numbers(&p);
    assert!(end[0] <= 3 && end[1] == started[0] && end[3] <= 6, "{end:?}");
    assert_eq!(p.step(), Did::Idle);
}

#[test]
fn field_6h4_a_cancelled_run_ends_so_and_the_next_is_whole() {
    let mut p = loaded();
    p.cancel();
    Request::chat(6, "in the end").u32(0).send(&mut p);
    assert_eq!(p.chat(), Did::Ok);
    p.cancel();
    assert_eq!(p.step(), Did::End);
    assert_eq!(numbers(&p)[0], 2);
    Request::chat(6, "in the end").u32(0).send(&mut p);
    assert_eq!(p.chat(), Did::Ok);
    assert_eq!(finish(&mut p).0, Did::End);
    assert_ne!(numbers(&p)[0], 2);
}

#[test]
fn scores_come_in_the_order_given() {
    let mut p = loaded();
    let request = Request::default().u32(0).text("the tin").text(" is").u32(3).text(" in").text(" the").text(" in");
    request.send(&mut p);
    assert_eq!(p.score(), Did::Ok);
    assert_eq!(finish(&mut p).0, Did::Scores);
    let n = numbers(&p);
    assert_eq!(n.len(), 6);
    assert_eq!(n[..2], n[4..], "the same candidate has the same score");
    assert!(n.chunks(2).all(|s| f32::from_bits(s[0]) < 0.0 && s[1] > 0));
}

#[test]
fn a_constraint_travels() {
    let mut p = loaded();
    let form =
        Request::chat(40, "read it").u32(3).u32(0).text("<").u32(2).u32(2).text("in").text("the").u32(0).text(">");
    form.send(&mut p);
    assert_eq!(p.chat(), Did::Ok);
    let mut said = vec![];
    loop {
        match p.step() {
            Did::Text => said.extend(p.out.clone()),
            Did::Prefill => {}
            did => break assert_eq!(did, Did::End),
        }
    }
    said.extend(&p.out[16..]);
    assert!(said == b"<in>" || said == b"<the>", "{said:?}");
}

#[test]
fn requests_that_lie_are_refused_and_never_panic() {
    let mut p = loaded();
    let good = Request::chat(4, "in the end").u32(1).u32(3).u32(9).text("a span of it").0;
    for end in 0..good.len() {
        Request(good[..end].to_vec()).send(&mut p);
        assert_eq!(p.chat(), Did::Refused, "{end}");
        assert!(p.out.starts_with(b"request-short\n"));
    }
    let mut random = Builder::small();
    for _ in 0..3000 {
        let mut bad = good.clone();
        for _ in 0..3 {
            let at = random.random() as usize % bad.len();
            bad[at] = random.random() as u8;
        }
        Request(bad.clone()).send(&mut p);
        if p.chat() == Did::Ok {
            for _ in 0..4 {
                p.step();
            }
        }
        Request(bad).send(&mut p);
        p.score();
    }
    assert!(!p.reserve(usize::MAX) && !p.reserve_file(usize::MAX));
    assert_eq!(Port::default().chat(), Did::Refused);
    assert_eq!(Port::default().step(), Did::Idle);
    assert_eq!(Port::default().count(), None);
}
