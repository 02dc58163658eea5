// The harness itself, on a plain text field: what it sends must arrive as a person's input does.
// If one of these fails, so does every statement that the other tests make about trust.
import assert from "node:assert/strict";
import { test } from "node:test";
import { foldAxTree } from "./lib/ax.mjs";
import { isPainted, shellTest, snapshot } from "./lib/harness.mjs";

/** A page of our own origin with one focused field that logs its events. */
async function field(shell) {
  await shell.eval(() => {
    document.body.innerHTML = "<label>Note <textarea id=field rows=4 cols=40></textarea></label><button aria-pressed=false>Bold</button>";
    window.seen = [];
    for (const type of ["keydown", "beforeinput", "compositionstart", "compositionupdate", "compositionend", "paste", "touchstart", "click"]) {
      addEventListener(type, (e) => window.seen.push([type, e.isTrusted, e.inputType ?? e.key ?? e.data ?? ""]), true);
    }
    document.getElementById("field").focus();
  });
}
const plain = { ready: false, path: "/manifest.webmanifest" };
const seen = (shell, type) => shell.eval((t) => window.seen.filter(([name]) => name === t), type);
const value = (shell) => shell.eval(() => document.getElementById("field").value);

/** An HTML page without the shell: the site's own address, answered by the test. */
async function plainPage(shell) {
  await shell.page.route("**/plain", (route) => route.fulfill({ contentType: "text/html", body: "<!doctype html><title>plain</title>" }));
  await shell.goto("/plain");
  await field(shell);
}

shellTest("typed keys are trusted and go through key, beforeinput and text", plain, async (shell) => {
  await plainPage(shell);
  await shell.type("ab");
  await shell.press("Shift+Enter", "c", "Control+A", "Backspace", "d");
  assert.equal(await value(shell), "d");
  const keys = await seen(shell, "keydown");
  assert.ok(keys.length >= 6 && keys.every(([, trusted]) => trusted));
  assert.ok((await seen(shell, "beforeinput")).every(([, trusted]) => trusted));
});

shellTest("an input method composes before it commits", plain, async (shell) => {
  await plainPage(shell);
  await shell.compose("に");
  await shell.compose("にほん");
  assert.equal(await value(shell), "にほん");
  assert.equal((await seen(shell, "compositionend")).length, 0);
  await shell.insertText("日本");
  assert.equal(await value(shell), "日本");
  assert.equal((await seen(shell, "compositionend")).length, 1);
});

shellTest("paste and copy go through the clipboard as trusted events", plain, async (shell) => {
  await plainPage(shell);
  await shell.paste("from outside");
  assert.equal(await value(shell), "from outside");
  assert.deepEqual((await seen(shell, "paste")).map(([, trusted]) => trusted), [true]);
  await shell.type("!");
  await shell.edit("selectAll");
  await shell.edit("copy");
  assert.equal(await shell.clipboard(), "from outside!");
});

shellTest("a finger is a trusted touch and a click", { ...plain, touch: true }, async (shell) => {
  await plainPage(shell);
  const box = await shell.page.locator("button").boundingBox();
  await shell.tap(box.x + box.width / 2, box.y + box.height / 2);
  await shell.until(async () => (await seen(shell, "click")).length === 1, "the tap clicks");
  assert.deepEqual((await seen(shell, "touchstart")).map(([, trusted]) => trusted), [true]);
});

shellTest("the accessibility tree is read as assistive technology sees it", plain, async (shell) => {
  await plainPage(shell);
  await shell.type("one");
  await snapshot("harness-field", await shell.axTree());
  assert.equal(await shell.axTree("button"), 'button "Bold" [not pressed]');
  assert.equal(await shell.axTree("#none"), "(no element #none)");
});

shellTest("a canvas configured for WebGPU shows real pixels, and storage outlives the browser", plain, async (shell) => {
  await plainPage(shell);
  const lost = await shell.eval(async () => {
    document.body.innerHTML = "<canvas width=320 height=200></canvas>";
    const context = document.querySelector("canvas").getContext("webgpu");
    const device = await (await navigator.gpu.requestAdapter()).requestDevice();
    let lost = null;
    device.lost.then((info) => { lost = info.message; });
    context.configure({ device, format: navigator.gpu.getPreferredCanvasFormat() });
    const encoder = device.createCommandEncoder();
    encoder.beginRenderPass({ colorAttachments: [{
      view: context.getCurrentTexture().createView(), clearValue: [0, 0, 1, 1], loadOp: "clear", storeOp: "store",
    }] }).end();
    device.queue.submit([encoder.finish()]);
    await new Promise((done) => setTimeout(done, 300));
    localStorage.setItem("kept", "yes");
    return lost;
  });
  assert.equal(lost, null);
  assert.ok(isPainted(await shell.screenshot()), "the canvas is blank");
  await shell.restart();
  assert.equal(await shell.eval(() => localStorage.getItem("kept")), "yes");
});

test("a node that is ignored passes its children up", () => {
  const node = (nodeId, role, name, childIds = [], more = {}) => ({ nodeId, role: { value: role }, name: { value: name }, childIds, ...more });
  assert.equal(foldAxTree([
    node("1", "main", "", ["2"]), node("2", "none", "", ["3"], { ignored: true }),
    node("3", "button", "Go", ["4"]), node("4", "StaticText", "Go"),
  ]), 'main\n  button "Go"');
});
