// The composer as a text field: input methods (field 7H1), clipboard (7H2), fingers (7H3), caret,
// selection, undo, growth, drafts, and where the browser is told that the caret stands.
import assert from "node:assert/strict";
import { shellTest, tool } from "./lib/harness.mjs";

const DRIVERS = [["EditContext", undefined], ["text area", () => { delete window.EditContext; }]];
const HOST = "#mirror [aria-label='Message to AI Echo']";

/** Text and selection as the browser's own input element holds them, and where it stands. */
const field = (shell) => shell.eval((selector) => {
  const host = document.querySelector(selector);
  const from = host.editContext ?? host;
  const { x, y, width, height } = host.getBoundingClientRect();
  return {
    text: host.value ?? host.textContent,
    held: from.text ?? from.value,
    start: Math.min(from.selectionStart, from.selectionEnd),
    end: Math.max(from.selectionStart, from.selectionEnd),
    focused: document.activeElement === host,
    x, y, width, height,
  };
}, HOST);
const text = async (shell) => (await field(shell)).text;
const becomes = (shell, expected, what = "the draft") =>
  shell.until(async () => (await text(shell)) === expected, `${what} is ${JSON.stringify(expected).slice(0, 60)}`)
    .catch(async (error) => { error.message += `; it is ${JSON.stringify((await text(shell)).slice(0, 200))}`; throw error; });
const settled = (shell) => shell.eval(() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)));
}));
/** The composer has the keyboard, and the stored conversations are read. */
async function ready(shell) {
  await shell.until(() => shell.eval(() => document.querySelector("#mirror nav [role=list] [aria-pressed=true]") !== null), "a conversation is in front");
  await shell.until(async () => (await field(shell)).focused, "the composer has the focus");
}
const messages = (shell) => shell.eval(() => document.querySelectorAll("#mirror [role=log] article[aria-label=You]").length);
const options = (shell) => shell.eval(() => [...document.querySelectorAll("#mirror [role=option]")]
  .map((o) => [o.getAttribute("aria-label"), o.getAttribute("aria-selected")]));
const windows = (shell) => shell.eval(() => [...document.querySelectorAll("#mirror [role=dialog]")].map((w) => w.getAttribute("aria-label")));
const clear = async (shell) => { await shell.press("Control+a", "Backspace"); await becomes(shell, ""); };
const middle = (shell, selector) => shell.eval((s) => {
  const r = document.querySelector(s).getBoundingClientRect();
  return [r.x + r.width / 2, r.y + r.height / 2];
}, selector);

/** A key stroke as an input method lets it through: code 229, whatever the key. */
async function process229(shell, key, code = key) {
  await shell.key({ type: "rawKeyDown", key, code, windowsVirtualKeyCode: 229, nativeVirtualKeyCode: 229 });
  await shell.key({ type: "keyUp", key, code, windowsVirtualKeyCode: 229 });
}

// — 7H1 —
for (const [driver, init] of DRIVERS) {
  shellTest(`field_7h1_a the Enter of an input method inserts once and sends nothing, ${driver}`, { init }, async (shell) => {
    await ready(shell);
    await shell.compose("み");
    await shell.compose("みなと");
    await becomes(shell, "みなと", "the preedit text");
    await process229(shell, "Enter");
    await settled(shell);
    assert.equal(await messages(shell), 0, "Enter while composing sends nothing");
    assert.equal(await text(shell), "みなと", "and inserts nothing");
    await shell.insertText("港");
    await becomes(shell, "港");
    await process229(shell, "Enter");
    await settled(shell);
    assert.equal(await text(shell), "港", "the late key does nothing");
    assert.equal(await messages(shell), 0);
    await shell.press("Enter");
    await shell.until(async () => (await messages(shell)) === 1, "the next plain Enter sends it");
    await becomes(shell, "");
  });

  shellTest(`field_7h1_b a dead acute and e give one é, ${driver}`, { init }, async (shell) => {
    await ready(shell);
    await shell.type("caf");
    await shell.key({ type: "rawKeyDown", key: "Dead", code: "BracketLeft", windowsVirtualKeyCode: 219 });
    await shell.compose("´");
    await shell.key({ type: "keyUp", key: "Dead", code: "BracketLeft", windowsVirtualKeyCode: 219 });
    await shell.insertText("é");
    await becomes(shell, "café");
    assert.deepEqual([...(await text(shell))].length, 4);
    await shell.press("Backspace");
    await becomes(shell, "caf");
  });

  shellTest(`field_7h1_a a composition that ends without a commit leaves what stood there, ${driver}`, { init }, async (shell) => {
    await ready(shell);
    await shell.type("ab");
    await shell.press("ArrowLeft");
    await shell.compose("かん");
    await becomes(shell, "aかんb");
    await shell.compose("");
    await becomes(shell, "ab");
    await shell.type("c");
    await becomes(shell, "acb", "the draft, typed on at the caret,");
  });

  shellTest(`field_7h1_a a composing flag dies when the field loses the focus, ${driver}`, { init }, async (shell) => {
    await ready(shell);
    await shell.compose("か");
    await becomes(shell, "か");
    await shell.eval(() => document.activeElement.blur());
    await settled(shell);
    const { x, y, width, height } = await field(shell);
    await shell.click(x + width / 2, y + height / 2);
    await ready(shell);
    await shell.press("End");
    await shell.type("!");
    await becomes(shell, "か!");
    await shell.press("Enter");
    await shell.until(async () => (await messages(shell)) === 1, "Enter sends: nothing is being composed any more");
  });
}

shellTest("field_7h1_c composing over an open palette moves and picks nothing", {}, async (shell) => {
  await ready(shell);
  await shell.type("/app:");
  await shell.until(async () => (await options(shell)).length > 2, "the palette is open");
  await settled(shell);
  const before = await windows(shell);
  await shell.compose("f");
  await shell.until(async () => (await text(shell)) === "/app:f", "the preedit text is in the draft");
  await settled(shell);
  const shown = await options(shell);
  for (const key of ["ArrowDown", "Enter", "Tab", "Escape"]) await process229(shell, key);
  await settled(shell);
  assert.deepEqual(await options(shell), shown, "the rows stay, and the chosen one stays");
  assert.equal(await text(shell), "/app:f");
  await shell.insertText("files");
  await process229(shell, "Enter");
  await settled(shell);
  assert.deepEqual(await windows(shell), before, "the late Enter picks nothing");
  await becomes(shell, "/app:files");
  await shell.press("Enter");
  await shell.until(async () => (await windows(shell)).includes("Files"), "a plain Enter picks the row");
});

shellTest("field_7h1_c composing while a review card is open decides nothing", {}, async (shell) => {
  await shell.until(async () => (await shell.axTree()).includes("On-device model ready"), "the model is ready", { timeout: 120_000 });
  await ready(shell);
  await shell.type('/tool:files.write put "buy milk" into notes/shopping.md');
  await shell.press("Enter");
  await shell.until(() => shell.eval(() => document.querySelector("#mirror [role=alertdialog]") !== null), "the card is open", { timeout: 90_000 });
  await shell.compose("はい");
  await becomes(shell, "はい");
  for (const key of ["Enter", "Tab", "Space", "F8"]) await process229(shell, key);
  await shell.insertText("はい");
  await process229(shell, "Enter");
  await settled(shell);
  assert.equal(await shell.eval(() => document.querySelectorAll("#mirror [role=alertdialog]").length), 1);
  assert.match(await shell.axTree("[role=log]"), /waits for your review/);
  await becomes(shell, "はい", "the draft, composed once,");
});

// — 7H2 —
for (const [driver, init] of DRIVERS) {
  shellTest(`field_7h2_paste, copy and cut, ${driver}`, { init }, async (shell, t) => {
    await ready(shell);
    await t.test("field_7h2_a paste inserts exactly once, at the caret and over the selection", async () => {
      await shell.type("[]");
      await shell.press("ArrowLeft");
      await shell.paste("abc");
      await becomes(shell, "[abc]");
      await shell.press("Shift+ArrowLeft", "Shift+ArrowLeft");
      await shell.paste("X");
      await becomes(shell, "[aX]");
      await clear(shell);
    });
    await t.test("field_7h2_line ends of other systems become ours", async () => {
      await shell.paste("one\r\ntwo\rthree\nfour");
      await becomes(shell, "one\ntwo\nthree\nfour");
      await clear(shell);
    });
    await t.test("field_7h2_copy and cut give the selection and nothing else", async () => {
      await shell.setClipboard("before");
      await shell.type("alpha beta");
      await shell.press("Control+Shift+ArrowLeft");
      await shell.edit("copy");
      assert.equal(await shell.clipboard(), "beta");
      assert.equal(await text(shell), "alpha beta", "a copy changes nothing");
      await shell.edit("cut");
      await becomes(shell, "alpha ");
      assert.equal(await shell.clipboard(), "beta");
      await shell.edit("paste");
      await becomes(shell, "alpha beta");
      await clear(shell);
    });
    await t.test("field_7h2_a copy without a selection leaves the clipboard alone", async () => {
      await shell.setClipboard("kept");
      await shell.type("word");
      await shell.edit("copy");
      assert.equal(await shell.clipboard(), "kept");
      await clear(shell);
    });
    await t.test("field_7h2_200 KB arrive whole, and typing goes on", async () => {
      const line = "The tide table of the harbour, line after line. ";
      const big = line.repeat(Math.ceil(200_000 / line.length)).slice(0, 200_000);
      await shell.paste(big);
      await shell.until(async () => (await text(shell)).length >= 200_000, "all of it arrives", { timeout: 60_000 });
      await shell.type("!");
      await shell.until(async () => (await text(shell)) === `${big}!`, "and a key behind it", { timeout: 60_000 });
      await clear(shell);
    });
  });
}

shellTest("field_7h2_a message is selected in the transcript and copied in logical order", async (shell) => {
  await ready(shell);
  await shell.setClipboard("before");
  const said = "copy this: שלום and then café";
  await shell.insertText(said);
  await shell.press("Enter");
  await shell.until(async () => (await messages(shell)) === 1, "the message is sent");
  await shell.until(() => shell.eval(() => document.querySelector("#mirror article[aria-label='AI Echo'] p") &&
    document.querySelector("#mirror [role=log]:not([aria-busy=true])") !== null), "it is answered", { timeout: 120_000 });
  await settled(shell);
  const at = await shell.until(() => shell.eval(() => {
    const p = document.querySelector("#mirror article[aria-label=You] p");
    const r = p?.getBoundingClientRect();
    return r && [r.x + 12, r.y + r.height / 2];
  }), "it is in the transcript");
  await shell.click(...at, { clickCount: 3 });
  await shell.edit("copy");
  assert.equal((await shell.clipboard()).trim(), said);
});

shellTest("field_7h2_the clipboard is not read without an act", {
  init: () => {
    window.reads = 0;
    for (const name of ["read", "readText"]) {
      const real = Clipboard.prototype[name];
      Clipboard.prototype[name] = function (...args) { window.reads += 1; return real.apply(this, args); };
    }
  },
}, async (shell) => {
  await ready(shell);
  await shell.type("a few words");
  await shell.press("Control+a", "Control+z", "End");
  await shell.edit("paste");
  await settled(shell);
  assert.equal(await shell.eval(() => window.reads), 0);
});

// — 7H3 —
/** Notes every call of focus() on a text host with the event inside which it was made. */
const NOTE_FOCUS = () => {
  window.focused = [];
  const real = HTMLElement.prototype.focus;
  HTMLElement.prototype.focus = function (...args) {
    const e = window.event;
    if (this.getAttribute("role") === "combobox") window.focused.push([e?.type, e?.isTrusted === true]);
    return real.apply(this, args);
  };
};
shellTest("field_7h3_a tap opens the keyboard, every time, and its Backspace deletes", {
  viewport: { width: 390, height: 844 }, touch: true, init: NOTE_FOCUS,
}, async (shell) => {
  await shell.until(async () => (await field(shell)).width > 0, "the composer is on screen");
  // Each at a place of its own: two quick taps at one place select a word.
  const tapped = async (part) => {
    await shell.eval(() => { window.focused = []; });
    const { x, y, width, height } = await field(shell);
    await shell.tap(x + width * part, y + height / 2);
    await shell.until(async () => (await field(shell)).focused, "the text host has the focus");
    const calls = await shell.eval(() => window.focused);
    assert.ok(calls.some(([type, trusted]) => trusted && /^(pointer|touch|click)/.test(type)),
      `the host is focused inside the tap's own handler: ${JSON.stringify(calls)}`);
  };
  await shell.eval(() => document.activeElement.blur());
  await tapped(0.3);
  await shell.insertText("hello");
  await becomes(shell, "hello");
  // "Done" on one system takes the focus, on the other only the keyboard.
  await shell.eval(() => document.activeElement.blur());
  await tapped(0.5);
  await tapped(0.7);
  await shell.insertText(" you");
  await becomes(shell, "hello you");
  // Such keyboards send no usable key code: only the editing command reaches the page.
  const ghost = { key: "Unidentified", code: "", windowsVirtualKeyCode: 229 };
  await shell.key({ type: "rawKeyDown", commands: ["deleteBackward"], ...ghost });
  await shell.key({ type: "keyUp", ...ghost });
  await becomes(shell, "hello yo");
  await shell.key({ type: "rawKeyDown", commands: ["deleteWordBackward"], ...ghost });
  await shell.key({ type: "keyUp", ...ghost });
  await becomes(shell, "hello ");
});

shellTest("field_7h3_the composer stays above the keyboard", { viewport: { width: 390, height: 844 }, touch: true }, async (shell) => {
  await shell.until(async () => (await shell.axTree()).includes("On-device model"), "the shell is up");
  await shell.until(async () => (await field(shell)).focused, "the composer has the focus");
  await shell.page.setViewportSize({ width: 390, height: 480 });
  await shell.until(async () => { const f = await field(shell); return f.y + f.height <= 480; }, "the composer moves up");
  await shell.type("still here");
  await becomes(shell, "still here");
});

// — editing —
for (const [driver, init] of DRIVERS) {
  shellTest(`the composer edits as a text field does, ${driver}`, { init }, async (shell, t) => {
    await ready(shell);
    const at = async (start, end = start) => {
      await shell.until(async () => {
        const f = await field(shell);
        return f.start === start && f.end === end;
      }, `the selection is ${start}..${end}`).catch(async (e) => {
        const f = await field(shell);
        e.message += `; it is ${f.start}..${f.end}`;
        throw e;
      });
    };
    await t.test("word and line movement", async () => {
      await shell.type("alpha beta gamma");
      await at(16);
      await shell.press("Control+ArrowLeft");
      await at(11);
      await shell.press("Control+ArrowLeft");
      await at(6);
      await shell.press("Home");
      await at(0);
      await shell.press("Control+ArrowRight");
      const { start } = await field(shell);
      assert.ok(start === 5 || start === 6, `one word on: ${start}`);
      await shell.press("End");
      await at(16);
      await shell.press("Shift+Enter");
      await shell.type("second");
      await becomes(shell, "alpha beta gamma\nsecond");
      await shell.press("ArrowUp");
      const up = await field(shell);
      assert.ok(up.start > 3 && up.start < 12, `up keeps the column: ${up.start}`);
      await shell.press("Home");
      await at(0);
      await shell.press("Control+End");
      await at(23);
      await shell.press("Control+Home");
      await at(0);
      await clear(shell);
    });
    await t.test("selection by keys, and typing over it", async () => {
      await shell.type("alpha beta gamma");
      await shell.press("Control+Shift+ArrowLeft");
      await at(11, 16);
      await shell.press("Shift+Home");
      await at(0, 16);
      await shell.press("ArrowRight");
      await at(16);
      await shell.press("Shift+ArrowLeft", "Shift+ArrowLeft");
      await at(14, 16);
      await shell.type("X");
      await becomes(shell, "alpha beta gamX");
      await shell.press("Control+a");
      await at(0, 15);
      await shell.type("new");
      await becomes(shell, "new");
      await clear(shell);
    });
    await t.test("word deletion", async () => {
      await shell.type("alpha beta gamma");
      await shell.press("Control+Backspace");
      await becomes(shell, "alpha beta ");
      await shell.press("Home", "Control+Delete");
      const left = await text(shell);
      assert.ok(left === " beta " || left === "beta ", JSON.stringify(left));
      await clear(shell);
    });
    await t.test("undo and redo", async () => {
      await shell.type("one");
      await shell.paste(" two");
      await becomes(shell, "one two");
      await shell.press("Control+z");
      await becomes(shell, "one");
      await shell.press("Control+Shift+Z");
      await becomes(shell, "one two");
      await shell.press("Control+z", "Control+z");
      await becomes(shell, "");
      await shell.press("Control+y", "Control+y");
      await becomes(shell, "one two");
      await shell.press("Control+Backspace");
      await becomes(shell, "one ");
      await shell.press("Control+z");
      await becomes(shell, "one two");
      await clear(shell);
    });
    await t.test("an emoji is one unit", async () => {
      for (const emoji of ["😀", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "é"]) {
        await shell.insertText(`a${emoji}b`);
        await becomes(shell, `a${emoji}b`);
        await shell.press("ArrowLeft");
        await at(1 + emoji.length);
        await shell.press("ArrowLeft");
        await at(1);
        await shell.press("ArrowRight", "Backspace");
        await becomes(shell, "ab", `after Backspace on ${emoji} the draft`);
        await clear(shell);
      }
    });
    await t.test("a double click selects a word, a triple click the line, a drag what lies between", async () => {
      await shell.type("alpha beta gamma");
      const { x, y, height } = await field(shell);
      const row = y + height / 2;
      await shell.click(x + 20, row, { clickCount: 2 });
      await at(0, 5);
      await shell.type("omega");
      await becomes(shell, "omega beta gamma");
      // Elsewhere first: clicks in the same place go on counting.
      await shell.click(x + 400, row);
      await at(16);
      await shell.click(x + 20, row, { clickCount: 3 });
      await at(0, 16);
      await shell.page.mouse.move(x + 2, row);
      await shell.page.mouse.down();
      await shell.page.mouse.move(x + 60, row, { steps: 4 });
      await shell.page.mouse.up();
      const drag = await field(shell);
      assert.ok(drag.start === 0 && drag.end > 2 && drag.end < 16, `${drag.start}..${drag.end}`);
      await shell.click(x + 400, row);
      await at(16);
      await clear(shell);
    });
    await t.test("Shift+Enter grows the field up to a third of the window, then it scrolls", async () => {
      const empty = await field(shell);
      await shell.type("line 0");
      const heights = [];
      for (let i = 1; i < 24; i++) {
        await shell.press("Shift+Enter");
        await shell.type(`line ${i}`);
        heights.push((await field(shell)).height);
      }
      await shell.until(async () => (await text(shell)).endsWith("line 23"), "24 lines are typed");
      await settled(shell);
      const full = await field(shell);
      assert.equal((await text(shell)).split("\n").length, 24);
      assert.ok(heights[0] > empty.height, `it grows: ${empty.height} to ${heights[0]}`);
      const window = await shell.eval(() => document.querySelector("#mirror [role=dialog][aria-label='AI Echo']").getBoundingClientRect().height);
      assert.ok(full.height <= window / 3 + 1, `at most a third of ${window}: ${full.height}`);
      assert.ok(full.height > window / 5, `and not much less: ${full.height}`);
      assert.equal(heights.at(-1), heights.at(-4), "then it stays");
      assert.equal(await messages(shell), 0, "none of these sent anything");
      await clear(shell);
      await settled(shell);
      assert.equal((await field(shell)).height, empty.height);
    });
  });
}

// — drafts —
shellTest("field_6h3_what is typed before the conversations are read is kept, and sent when they are", {
  init: () => {
    // The sample folder is looked up before the conversations are told: a slow disk.
    const real = StorageManager.prototype.getDirectory;
    StorageManager.prototype.getDirectory = async function () {
      await new Promise((done) => { window.goOn = done; });
      return real.call(this);
    };
  },
}, async (shell) => {
  await shell.until(async () => (await field(shell)).focused, "the composer has the focus");
  await shell.type("early words");
  await shell.press("Enter");
  await settled(shell);
  assert.equal(await text(shell), "early words", "nothing to send it to yet, so it stays");
  await shell.until(() => shell.eval(() => {
    window.goOn?.();
    return document.querySelector("#mirror nav [role=list] [aria-pressed=true]") !== null;
  }), "the conversations are read");
  await shell.until(async () => (await messages(shell)) === 1, "and then it is sent, once");
  await becomes(shell, "");
});

shellTest("field_6h3_a draft comes back after a reload, caret and all", {}, async (shell) => {
  await ready(shell);
  await shell.type("next: check totals");
  await shell.press("Shift+Enter");
  await shell.type("and 👩‍👩‍👧‍👦");
  await becomes(shell, "next: check totals\nand 👩‍👩‍👧‍👦");
  await settled(shell);
  await new Promise((done) => setTimeout(done, 800));
  await shell.reload();
  await becomes(shell, "next: check totals\nand 👩‍👩‍👧‍👦", "the restored draft");
  await shell.type("!");
  await becomes(shell, "next: check totals\nand 👩‍👩‍👧‍👦!", "the caret stands where it stood; the draft");
});

shellTest("field_6h3_a restored command needs an edit of the person before it runs", {}, async (shell) => {
  await ready(shell);
  await shell.type("/app:files");
  await becomes(shell, "/app:files");
  await new Promise((done) => setTimeout(done, 800));
  await shell.reload();
  await becomes(shell, "/app:files", "the restored draft");
  await ready(shell);
  // A row on screen that is picked is an act of its own; here the draft itself is submitted.
  await shell.press("Escape", "Enter");
  await settled(shell);
  assert.equal((await windows(shell)).includes("Files"), false, "Enter alone does not run it");
  await becomes(shell, "/app:files");
  await shell.type("x");
  await shell.press("Backspace");
  await becomes(shell, "/app:files");
  await settled(shell);
  await shell.press("Enter");
  await shell.until(async () => (await windows(shell)).includes("Files"), "after an edit it runs");
});

shellTest("field_6h3_each conversation keeps its own draft", {}, async (shell) => {
  await ready(shell);
  await shell.type("for the first");
  await becomes(shell, "for the first");
  await shell.click(...(await middle(shell, "#mirror [role=navigation] [aria-label='New conversation'], #mirror nav > [aria-label='New conversation']")));
  await becomes(shell, "", "the new conversation's draft");
  await ready(shell);
  await shell.type("for the second");
  await becomes(shell, "for the second");
  const OTHER = "#mirror nav [role=list] [aria-pressed=false]";
  await shell.until(() => shell.eval((s) => document.querySelector(s) !== null, OTHER), "the other one is listed");
  await shell.click(...(await middle(shell, OTHER)));
  await becomes(shell, "for the first");
  await shell.click(...(await middle(shell, OTHER)));
  await becomes(shell, "for the second");
  await new Promise((done) => setTimeout(done, 800));
  await shell.reload();
  await shell.until(async () => (await text(shell)).startsWith("for the"), "a draft comes back");
  const now = await text(shell);
  await shell.until(() => shell.eval((s) => document.querySelector(s) !== null, OTHER), "the other one is listed");
  await shell.click(...(await middle(shell, OTHER)));
  await becomes(shell, now === "for the first" ? "for the second" : "for the first", "after a reload the other draft");
});

shellTest("field_6h3_what is typed while an answer streams survives a reload", {}, async (shell) => {
  await shell.until(async () => (await shell.axTree()).includes("On-device model ready"), "the model is ready", { timeout: 120_000 });
  await ready(shell);
  await shell.type("Tell me about the tides of the sea");
  await shell.press("Enter");
  await shell.until(async () => (await messages(shell)) === 1, "the message is sent");
  await shell.type("next: check totals");
  await becomes(shell, "next: check totals");
  await new Promise((done) => setTimeout(done, 800));
  await shell.reload();
  await becomes(shell, "next: check totals", "the draft after a reload");
  await shell.until(async () => (await messages(shell)) === 1, "and the message is still there, once");
});

// — the caret, as the browser knows it and as it is drawn —
const NOTE_BOUNDS = () => {
  window.bounds = {};
  for (const name of ["updateSelectionBounds", "updateControlBounds"]) {
    const real = EditContext.prototype[name];
    EditContext.prototype[name] = function (rect) {
      window.bounds[name] = [rect.x, rect.y, rect.width, rect.height];
      return real.call(this, rect);
    };
  }
};
/** Whether the picture shows an upright bar of one colour, unlike what stands left of it. */
async function barAt(shell, [x, y, , h], scale) {
  const { PNG } = tool("pngjs");
  const png = PNG.sync.read(await shell.screenshot());
  const pixel = (px, py) => png.data.readUInt32BE((Math.round(py * scale) * png.width + Math.round(px * scale)) * 4);
  const left = Math.round(x);
  const rows = [0.3, 0.4, 0.5, 0.6, 0.7].map((f) => y + h * f);
  for (let px = left - 1; px <= left + 2; px++) {
    const bar = pixel(px + 0.5, rows[2]);
    const beside = pixel(left - 5, rows[2]);
    if (bar !== beside && rows.every((py) => pixel(px + 0.5, py) === bar)) return true;
  }
  return false;
}
for (const scale of [1, 2]) {
  shellTest(`field_7h1_the candidate window is told where the caret is drawn, scale ${scale}`, { init: NOTE_BOUNDS, reducedMotion: true, scale }, async (shell) => {
    await ready(shell);
    const bounds = () => shell.eval(() => window.bounds);
    const check = async (what) => {
      await settled(shell);
      const { updateSelectionBounds: caret, updateControlBounds: control } = await bounds();
      const host = await field(shell);
      assert.ok(caret && control, "the browser was told");
      assert.deepEqual(control.map(Math.round), [host.x, host.y, host.width, host.height].map(Math.round), `${what}: the field`);
      assert.ok(caret[0] >= host.x && caret[0] <= host.x + host.width, `${what}: ${caret} inside the field across`);
      assert.ok(caret[1] >= host.y - 1 && caret[1] + caret[3] <= host.y + host.height + 1, `${what}: ${caret} inside the field down`);
      assert.ok(await barAt(shell, caret, scale), `${what}: a caret is drawn at ${caret}`);
      return caret;
    };
    const empty = await check("empty");
    await shell.type("some words   ");
    const typed = await check("after typing");
    assert.ok(typed[0] > empty[0] + 40, `it moved right: ${empty[0]} to ${typed[0]}`);
    const host = await field(shell);
    await shell.compose("みなと  ");
    const composing = await check("while composing");
    assert.ok(composing[0] > typed[0] + 20, `it follows the preedit: ${typed[0]} to ${composing[0]}`);
    const then = await field(shell);
    assert.deepEqual([then.x, then.y, then.width, then.height], [host.x, host.y, host.width, host.height], "the host stays in place while composing");
    await shell.insertText("港  ");
    await shell.press("Shift+Enter");
    const second = await check("on the second line");
    assert.ok(Math.abs(second[0] - empty[0]) < 2, "it is back at the left");
  });
}

// — crispness —
for (const scale of [1, 1.25, 1.5, 2, 3]) {
  shellTest(`the canvas has one pixel a device pixel at scale ${scale}`, { scale, viewport: { width: 803, height: 601 } }, async (shell) => {
    const size = () => shell.eval(() => {
      const canvas = document.querySelector("canvas");
      const r = canvas.getBoundingClientRect();
      return { got: [canvas.width, canvas.height], css: [r.width, r.height], dpr: devicePixelRatio };
    });
    const right = async () => {
      const { got, css, dpr } = await size();
      assert.equal(dpr, scale);
      return got.every((n, i) => Math.abs(n - css[i] * scale) < 1);
    };
    await shell.until(right, "backing size is CSS size × scale");
    await shell.page.setViewportSize({ width: 641, height: 487 });
    await shell.until(async () => (await size()).css[0] === 641 && (await right()), "and stays so when the window changes");
  });
}
