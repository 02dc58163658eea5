// An idle shell draws nothing and sets no timer above 1 Hz.
import { Shell } from "../e2e/lib/harness.mjs";
import { countInPage, figure } from "./lib/figure.mjs";

const SECONDS = 10;
const shell = await Shell.open({ init: countInPage });
const wait = (ms) => new Promise((done) => setTimeout(done, ms));
try {
  await wait(3000); // what start-up left to do is done
  const before = await shell.eval(() => ({ ...window.counted }));
  await wait(SECONDS * 1000);
  const after = await shell.eval(() => ({ ...window.counted }));
  figure(`idle frames in ${SECONDS} s`, after.submits - before.submits, "frames", { budget: 0 });
  figure(`idle animation frames in ${SECONDS} s`, after.frames - before.frames, "calls", { budget: 0 });
  figure("idle timers", (after.timers - before.timers) / SECONDS, "Hz", { budget: 1 });
} finally {
  await shell.close();
}
