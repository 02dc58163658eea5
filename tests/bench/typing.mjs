// From a key's event to the frame that shows it: one frame of work at most.
import { Shell } from "../e2e/lib/harness.mjs";
import { countInPage, figure, median, percentile } from "./lib/figure.mjs";

const TEXT = "the quick brown fox jumps over the lazy dog, twice. ".repeat(2);
const shell = await Shell.open({ init: countInPage });
try {
  await shell.type("warm up");
  await shell.eval(() => { window.counted.keys.length = 0; });
  // A frame here and now, in software, is the bound: nothing is shown sooner.
  const bound = await shell.eval(async () => {
    const times = [];
    for (let n = 0; n < 60; n++) times.push(await new Promise((done) => requestAnimationFrame(done)));
    const gaps = times.slice(1).map((time, n) => time - times[n]).sort((a, b) => a - b);
    return gaps[gaps.length >> 1];
  });
  for (const key of TEXT) {
    await shell.type(key);
    await shell.eval(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  }
  const keys = await shell.eval(() => window.counted.keys);
  if (keys.length === 0) throw new Error("no key led to a frame");
  figure("key to submitted frame, median", median(keys), "ms", { bound });
  figure("key to submitted frame, 95 %", percentile(keys, 0.95), "ms", { bound });
} finally {
  await shell.close();
}
