// From navigation to the first interactive frame, with a warm cache: design budget 1.0 s.
import { Shell } from "../e2e/lib/harness.mjs";
import { countInPage, figure, median, typed } from "./lib/figure.mjs";

const RUNS = 5;
const shell = await Shell.open({ init: countInPage });
try {
  const times = [];
  for (let n = 0; n < RUNS; n++) {
    await shell.goto("/");
    times.push(await shell.eval(() => window.counted.ready));
    // Interactive: the very next key leads to a frame. Throws where none does.
    await typed(shell, "a");
  }
  // What any page of this browser waits for before it can draw at all.
  const device = await shell.eval(async () => {
    const from = performance.now();
    const adapter = await navigator.gpu.requestAdapter();
    (await adapter.requestDevice()).destroy();
    return performance.now() - from;
  });
  figure("start to first interactive frame, warm cache", median(times), "ms", {
    budget: 1000, peer: ["adapter and device alone", device], note: `median of ${RUNS}`,
  });
} finally {
  await shell.close();
}
