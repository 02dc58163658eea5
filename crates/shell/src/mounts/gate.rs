//! One writer at a time: two writes into one mount must not compare before either has written.

use futures_channel::oneshot;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

#[derive(Debug, Default)]
struct Line {
    busy: bool,
    waiting: VecDeque<oneshot::Sender<Pass>>,
}

/// The gate.
#[derive(Clone, Debug, Default)]
pub struct Gate(Rc<RefCell<Line>>);

/// The right to be inside; dropping it lets the next one in.
#[derive(Debug)]
pub struct Pass(Rc<RefCell<Line>>);

impl Gate {
    /// Waits for its turn, in the order of the calls.
    pub async fn enter(&self) -> Pass {
        let turn = {
            let mut line = self.0.borrow_mut();
            if line.busy {
                let (sender, turn) = oneshot::channel();
                line.waiting.push_back(sender);
                Some(turn)
            } else {
                line.busy = true;
                None
            }
        };
        if let Some(turn) = turn
            && let Ok(pass) = turn.await
        {
            return pass;
        }
        Pass(self.0.clone())
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let next = self.0.borrow_mut().waiting.pop_front();
        match next {
            // If that one has gone, its pass comes back here, is dropped, and lets the next in.
            Some(sender) => drop(sender.send(Pass(self.0.clone()))),
            None => self.0.borrow_mut().busy = false,
        }
    }
}
