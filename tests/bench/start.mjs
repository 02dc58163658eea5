// From navigation to the first interactive frame, with a warm cache: design budget 1.0 s.
import { Shell } from "../e2e/lib/harness.mjs";
import { countInPage, figure, median } from "./lib/figure.mjs";

const RUNS = 5;
const shell = await Shell.open({ init: countInPage });
try {
  const times = [];
  for (let n = 0; n < RUNS; n++) {
    await shell.reload();
    times.push(await shell.eval(() => window.counted.ready));
  }
  // What any page on this machine pays before it can draw at all.
  const bound = await shell.eval(async () => {
    const from = performance.now();
    const adapter = await navigator.gpu.requestAdapter();
    (await adapter.requestDevice()).destroy();
    return performance.now() - from;
  });
  figure("start to first frame, warm", median(times), "ms", {
    budget: 1000, note: `adapter and device alone ${bound.toFixed(0)} ms; median of ${RUNS}`,
  });
} finally {
  await shell.close();
}
