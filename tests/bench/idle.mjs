// An idle shell draws nothing and sets no timer above 1 Hz.
import { Shell } from "../e2e/lib/harness.mjs";
import { countInPage, figure } from "./lib/figure.mjs";

const SECONDS = 10;
const shell = await Shell.open({ init: countInPage });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
try {
  // The caret rests in a draft that is not empty, and what start-up left to do is done: the model
  // is there when nothing was drawn for a while.
  await shell.type("at rest");
  let last = -1;
  await shell.until(async () => {
    const now = await shell.eval(() => window.counted.submits);
    const same = now === last;
    last = now;
    return same;
  }, "the shell comes to rest", { timeout: 120_000, every: 5000 });
  const before = await shell.eval(() => {
    window.counted.who = {};
    const { submits, frames, timers } = window.counted;
    return { submits, frames, timers };
  });
  await wait(SECONDS * 1000);
  const after = await shell.eval(() => window.counted);
  figure(`idle: frames drawn in ${SECONDS} s`, after.submits - before.submits, "frames", { budget: 0 });
  figure(`idle: animation frames asked for in ${SECONDS} s`, after.frames - before.frames, "calls", { budget: 0 });
  figure("idle: timers that go off", (after.timers - before.timers) / SECONDS, "Hz", { budget: 1 });
  for (const [line, times] of Object.entries(after.who)) console.log(`  ${times} × ${line}`);
} finally {
  await shell.close();
}
