// How the shell looks: pictures in both schemes and at two scales, the accessibility tree as text, and
// what is left on the screen after the graphics device was lost.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { UPDATE, isPainted, shellTest, snapshot } from "./lib/harness.mjs";
import { tool } from "./lib/env.mjs";
import { articles, ask, card, decide, draft, file, modelReady, review, rows, send, write } from "./lib/echo.mjs";

const BUY = '/tool:files.write put "buy milk" into notes/shopping.md';

for (const scheme of ["dark", "light"]) {
  for (const scale of [1, 2]) {
    shellTest(`looks_${scheme}_at_scale_${scale}`, { scheme, scale }, async (shell, t) => {
      const keep = (name) => shell.screenshot(`look-${name}-${scheme}-${scale}x`);
      await modelReady(shell);
      const { PNG } = tool("pngjs");
      const empty = PNG.sync.read(await keep("empty"));
      assert.deepEqual([empty.width, empty.height], [1280 * scale, 800 * scale], "the backing has the size of the device's pixels");
      if (scale === 1) await shell.looksLike(`empty-${scheme}`, { tolerance: 0.005 });
      await ask(shell, "/tool:files.read what is in notes/todo.md");
      assert.ok(isPainted(await keep("conversation")));
      await write(shell, "/");
      await shell.until(async () => (await rows(shell)).length > 0, "the palette opens");
      await keep("palette");
      await shell.press("Backspace");
      await send(shell, BUY);
      await review(shell);
      const png = await keep("review");
      // The README's picture is this very frame; it is written when snapshots are.
      if (UPDATE && scheme === "dark" && scale === 1) {
        await writeFile(fileURLToPath(new URL("../../docs/screenshot.png", import.meta.url)), png);
      }
      t.diagnostic(`pictures: look-*-${scheme}-${scale}x.png`);
    });
  }
}

shellTest("field_7h5_everything_is_in_the_accessibility_tree", async (shell) => {
  // What counts up on its own is no part of a snapshot.
  const tree = async () => (await shell.axTree()).replace(/, \d+ s"/g, ', N s"').replace(/status ".*"/, 'status "…"');
  await modelReady(shell);
  await snapshot("ax-empty", await tree());
  await ask(shell, "/tool:files.read what is in notes/todo.md");
  await snapshot("ax-conversation", await tree());
  await write(shell, "/app");
  await shell.until(async () => (await rows(shell)).length > 0, "the palette opens");
  await snapshot("ax-palette", await tree());
  await shell.press("Control+A", "Backspace");
  await send(shell, BUY);
  await review(shell);
  await snapshot("ax-review", await tree());
});

/** Run in the page before its scripts: keeps every device, so that a test can destroy it. */
function keepDevices() {
  globalThis.devices = [];
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...args) {
    const device = await request.apply(this, args);
    globalThis.devices.push(device);
    return device;
  };
}

shellTest("field_7h4_a_lost_device_costs_the_picture_and_nothing_else", { init: keepDevices }, async (shell) => {
  await modelReady(shell);
  await send(shell, BUY);
  const shown = await review(shell);
  await write(shell, "half a thought");
  const before = await articles(shell);
  const lose = async () => {
    const count = await shell.eval(() => {
      globalThis.devices.at(-1).destroy();
      return globalThis.devices.length;
    });
    await shell.until(() => shell.eval((n) => globalThis.devices.length > n, count), "another device is made");
  };
  const whole = async () => {
    await shell.until(async () => isPainted(await shell.screenshot(), { least: 0.05 }), "the picture is painted again");
    assert.equal(await draft(shell), "half a thought");
    assert.deepEqual(await card(shell), shown, "the card is the same and undecided");
    assert.deepEqual(await articles(shell), before);
    assert.equal(await file(shell, "notes/shopping.md"), null);
    assert.equal(await shell.eval(() => document.documentElement.dataset.shell), "ready");
  };
  await lose();
  await whole();
  for (let n = 0; n < 5; n += 1) await lose();
  await whole();
  await shell.screenshot("after-device-loss");
  await decide(shell, "Approve");
  await shell.until(async () => (await file(shell, "notes/shopping.md")) === "buy milk", "the card can be decided");
});
