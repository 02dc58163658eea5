// What a script of the page can forge, and what only a person can do (spec I-157, T-164, field 4H1).
// Every forged act is made in a shell that the same real key or press would make act; each case says
// whether the shell hears of the forgery, and then it must stand among the refusals.
import assert from "node:assert/strict";
import { shellTest } from "./lib/harness.mjs";

const WITHOUT_EDIT_CONTEXT = () => { delete window.EditContext; };
const DRIVERS = [["EditContext", undefined], ["text area", WITHOUT_EDIT_CONTEXT]];

/** What a person can see of the shell, and how many refusals it knows of. */
const look = (shell) => shell.eval(() => {
  const mirror = document.getElementById("mirror");
  const names = (selector) => [...mirror.querySelectorAll(selector)].map((e) => e.getAttribute("aria-label"));
  const host = mirror.querySelector("[aria-label='Message to AI Echo']");
  const counted = names("*").map((n) => /^The last \d+ of (\d+),/.exec(n ?? "")).find(Boolean);
  return {
    draft: host?.value ?? host?.textContent,
    windows: names("[role=dialog]").sort(),
    messages: names("[role=log] article"),
    cards: names("[role=alertdialog]"),
    options: names("[role=option][aria-selected=true]"),
    refusals: counted ? Number(counted[1]) : 0,
  };
});
const without = (state) => ({ ...state, refusals: undefined });

/** Two frames and a moment: whatever an event led to has happened. */
const settled = (shell) => shell.eval(() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 60)));
}));

/** The middle of a mirrored element, where the canvas shows it. */
async function middle(shell, selector) {
  const at = await shell.eval((s) => {
    const r = document.querySelector(`#mirror ${s}`)?.getBoundingClientRect();
    return r && [r.x + r.width / 2, r.y + r.height / 2];
  }, selector);
  assert.ok(at, `${selector} is on screen`);
  return at;
}
/** A real click of the mouse where the canvas shows a control. */
const clickOn = async (shell, selector) => shell.click(...(await middle(shell, selector)));

const DRAFT = "[aria-label='Message to AI Echo']";
const focused = (shell) => shell.eval(() => document.activeElement.getAttribute("aria-label"));

/** AI Echo on the left, the list of refusals on the right: both stay readable all the time. */
async function sideBySide(shell) {
  await shell.until(async () => (await look(shell)).windows.includes("AI Echo"), "AI Echo is open");
  await clickOn(shell, "[aria-label='AI Echo'] [aria-label='Left half']");
  await shell.press("Control+k");
  await shell.type("/go:settings:refusals");
  await shell.press("Enter");
  await shell.until(async () => (await look(shell)).windows.includes("Settings"), "Settings opens by real keys");
  await settled(shell);
  await clickOn(shell, "[role=dialog][aria-label=Settings] [aria-label='Right half']");
  await settled(shell);
}

/** The composer has the keyboard and nothing in it. */
async function cleared(shell) {
  await shell.press("Escape");
  await clickOn(shell, DRAFT);
  await shell.until(async () => (await focused(shell)) === "Message to AI Echo", "the composer has the focus");
  await shell.press("Control+a", "Backspace");
  await shell.until(async () => (await look(shell)).draft === "", "the draft is empty");
}
/** A slash draft, typed by real keys, that one Enter would run; its row is on screen. */
async function armed(shell) {
  await cleared(shell);
  await shell.type("/app:files");
  await shell.until(async () => (await look(shell)).options.some((o) => o?.startsWith("/app:files")), "the row is shown");
  await settled(shell);
}

const opened = async (shell) => (await look(shell)).windows.includes("Files");
/** The same, by a person: it acts. */
async function runsByEnter(shell) {
  await shell.press("Enter");
  await shell.until(() => opened(shell), "Enter of a person opens Files");
  await clickOn(shell, "[aria-label='Close Files']");
  await shell.until(async () => !(await opened(shell)), "Files is closed again");
}

// — what scripts try —
// `told`: the shell has a listener for it, so that the refusals grow. `where`: a real click of the
// mouse at this control would act.
const OPTION = "[role=option][aria-selected=true]";
const FORGED = [
  ["keydown Enter at the composer", { told: true }, () => {
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: "Enter", code: "Enter", keyCode: 13, bubbles: true, cancelable: true, composed: true }));
  }],
  ["a whole key stroke Enter at the window", { told: true }, () => {
    for (const type of ["keydown", "keypress", "keyup"]) {
      window.dispatchEvent(new KeyboardEvent(type, { key: "Enter", code: "Enter", keyCode: 13, which: 13, bubbles: true }));
    }
  }],
  ["keydown Tab, Escape and arrows at the composer", { told: true }, () => {
    for (const k of ["Tab", "Escape", "ArrowDown", "ArrowUp"]) {
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
    }
  }],
  ["the shortcuts Ctrl+K, Ctrl+A and F8", { told: true }, () => {
    for (const init of [{ key: "k", ctrlKey: true }, { key: "a", ctrlKey: true }, { key: "F8" }, { key: "F6" }]) {
      document.dispatchEvent(new KeyboardEvent("keydown", { ...init, bubbles: true }));
    }
  }],
  ["keypress and keyup alone", { told: false }, () => {
    for (const type of ["keypress", "keyup"]) {
      document.activeElement.dispatchEvent(new KeyboardEvent(type, { key: "Enter", keyCode: 13, bubbles: true }));
    }
  }],
  ["beforeinput insertParagraph", { told: true }, () => {
    document.activeElement.dispatchEvent(new InputEvent("beforeinput", { inputType: "insertParagraph", bubbles: true, cancelable: true }));
  }],
  ["beforeinput that deletes", { told: true }, () => {
    for (const inputType of ["deleteContentBackward", "deleteWordBackward", "deleteByCut"]) {
      document.activeElement.dispatchEvent(new InputEvent("beforeinput", { inputType, bubbles: true, cancelable: true }));
    }
  }],
  ["beforeinput insertText", { told: "text area" }, () => {
    document.activeElement.dispatchEvent(new InputEvent("beforeinput", { inputType: "insertText", data: "x", bubbles: true, cancelable: true }));
  }],
  ["input insertText, insertFromPaste and historyUndo", { told: false }, () => {
    for (const inputType of ["insertText", "insertFromPaste", "historyUndo"]) {
      document.activeElement.dispatchEvent(new InputEvent("input", { inputType, data: "x", bubbles: true }));
    }
  }],
  ["textupdate at the EditContext", { told: true, only: "EditContext" }, () => {
    document.querySelector("[role=combobox]").editContext.dispatchEvent(
      new TextUpdateEvent("textupdate", { text: "x", updateRangeStart: 0, updateRangeEnd: 10, selectionStart: 1, selectionEnd: 1 }),
    );
  }],
  ["a composition", { told: false }, () => {
    const host = document.activeElement;
    for (const target of [host, host.editContext].filter(Boolean)) {
      for (const type of ["compositionstart", "compositionupdate", "compositionend"]) {
        target.dispatchEvent(new CompositionEvent(type, { data: "x", bubbles: true }));
      }
    }
  }],
  ["click() on the palette's row", { told: true, where: OPTION }, () => document.querySelector("[role=option][aria-selected=true]").click()],
  ["a click event on the palette's row", { told: true, where: OPTION }, () => {
    document.querySelector("[role=option][aria-selected=true]").dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 1, view: window }));
  }],
  ["click() on Send", { told: true, where: "[aria-label=Send]" }, () => document.querySelector("#mirror [aria-label=Send]").click()],
  ["click() on an app of the bar", { told: true, where: "[role=toolbar] [aria-label=Files]" }, () => {
    document.querySelector("#mirror [role=toolbar] [aria-label=Files]").click();
  }],
  ["a press of the pointer on the canvas over the row", { told: true, where: OPTION }, ([x, y]) => {
    const canvas = document.querySelector("canvas");
    for (const type of ["pointerdown", "pointerup"]) {
      canvas.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, pointerType: "mouse", isPrimary: true, bubbles: true }));
    }
  }],
  ["a press of the pointer on the canvas over Send", { told: true, where: "[aria-label=Send]" }, ([x, y]) => {
    const canvas = document.querySelector("canvas");
    for (const type of ["pointerdown", "pointerup"]) {
      canvas.dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, pointerType: "pen", isPrimary: true, bubbles: true }));
    }
  }],
  ["mouse events on the canvas over the row", { told: "click", where: OPTION }, ([x, y]) => {
    const canvas = document.querySelector("canvas");
    for (const type of ["mousedown", "mouseup", "click", "dblclick"]) {
      canvas.dispatchEvent(new MouseEvent(type, { clientX: x, clientY: y, bubbles: true, cancelable: true, view: window }));
    }
  }],
  ["touch events on the canvas over the row", { told: false, where: OPTION }, ([x, y]) => {
    const canvas = document.querySelector("canvas");
    const touch = new Touch({ identifier: 1, target: canvas, clientX: x, clientY: y });
    canvas.dispatchEvent(new TouchEvent("touchstart", { touches: [touch], changedTouches: [touch], bubbles: true, cancelable: true }));
    canvas.dispatchEvent(new TouchEvent("touchend", { touches: [], changedTouches: [touch], bubbles: true, cancelable: true }));
  }],
  ["a real press that a script lets go", { told: true, where: OPTION, before: async (shell, at) => {
    await shell.page.mouse.move(at[0], at[1]);
    await shell.page.mouse.down();
  }, after: async (shell) => {
    // Away from the row before the person lets go: that is no press.
    await shell.page.mouse.move(4, 400);
    await shell.page.mouse.up();
  } }, ([x, y]) => {
    document.querySelector("canvas").dispatchEvent(new PointerEvent("pointerup", { clientX: x, clientY: y, pointerId: 1, pointerType: "mouse", bubbles: true }));
  }],
  ["a paste", { told: true }, () => {
    const data = new DataTransfer();
    data.setData("text/plain", "/app:settings");
    document.activeElement.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  }],
  ["a drop", { told: true }, () => {
    const data = new DataTransfer();
    data.setData("text/plain", "/app:settings");
    for (const type of ["dragenter", "dragover", "drop"]) {
      document.querySelector("canvas").dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
  }],
  ["cut and copy events", { told: false }, () => {
    for (const type of ["copy", "cut"]) {
      document.activeElement.dispatchEvent(new ClipboardEvent(type, { clipboardData: new DataTransfer(), bubbles: true, cancelable: true }));
    }
  }],
  ["execCommand copy, cut and paste", { told: "text area", before: (shell) => shell.press("Control+a") }, () => {
    for (const command of ["copy", "cut", "paste"]) document.execCommand(command);
  }],
  ["execCommand insertText and delete", { told: "text area" }, () => {
    document.execCommand("insertText", false, "x");
    document.execCommand("delete");
  }],
  ["execCommand undo and redo", { told: false }, () => {
    for (const command of ["undo", "redo"]) document.execCommand(command);
  }],
  ["requestSubmit of a form around the composer", { told: false }, () => {
    const form = document.createElement("form");
    form.addEventListener("submit", (e) => { window.submitTrusted = e.isTrusted; e.preventDefault(); });
    form.innerHTML = "<button></button>";
    document.body.append(form);
    form.requestSubmit();
    form.querySelector("button").click();
    form.remove();
  }],
  ["a captured real key, sent again", { told: true, before: async (shell) => {
    await shell.eval(() => addEventListener("keydown", (e) => { window.kept = e; }, { once: true }));
    await shell.press("Shift");
  } }, () => {
    document.activeElement.dispatchEvent(window.kept);
    document.activeElement.dispatchEvent(new window.kept.constructor("keydown", { ...window.kept, key: "Enter", bubbles: true }));
  }],
  ["an event dressed up as trusted", { told: true }, () => {
    const e = new KeyboardEvent("keydown", { key: "Enter", bubbles: true });
    try { Object.defineProperty(e, "isTrusted", { value: true }); } catch { /* it cannot be forged */ }
    class Trusted extends KeyboardEvent { get isTrusted() { return true; } }
    document.activeElement.dispatchEvent(e);
    document.activeElement.dispatchEvent(new Trusted("keydown", { key: "Enter", bubbles: true }));
  }],
  ["an observer that clicks whatever changes", { told: true, after: async (shell) => {
    await shell.type("x");
    await shell.press("Backspace");
    await settled(shell);
    await shell.eval(() => window.watcher.disconnect());
  } }, () => {
    let left = 8;
    window.watcher = new MutationObserver(() => {
      if (left-- > 0) document.querySelector("#mirror [role=option][aria-selected=true]")?.click();
    });
    window.watcher.observe(document.getElementById("mirror"), { subtree: true, childList: true, attributes: true, characterData: true });
  }],
  ["a click in a trusted key's own handler", { told: true, before: async (shell) => {
    await shell.eval(() => addEventListener("keydown", () => {
      document.querySelector("#mirror [role=option][aria-selected=true]").click();
      document.querySelector("#mirror [aria-label=Send]").click();
    }, { once: true }));
    await shell.press("Shift");
  } }, () => {}],
];

for (const [driver, init] of DRIVERS) {
  shellTest(`t164_forged_events_act_on_nothing, ${driver}`, { init }, async (shell, t) => {
    await sideBySide(shell);
    await cleared(shell);
    const tag = await shell.eval(() => document.querySelector("#mirror [role=combobox]").tagName);
    await t.test("the driver under test is in use", () => assert.equal(tag, driver === "EditContext" ? "DIV" : "TEXTAREA"));
    for (const [name, how, forge] of FORGED) {
      if (how.only && how.only !== driver) continue;
      await t.test(`t164_${name} does nothing`, async () => {
        await armed(shell);
        const at = how.where ? await middle(shell, how.where) : [0, 0];
        const before = await look(shell);
        await how.before?.(shell, at);
        await shell.eval(forge, at);
        await how.after?.(shell, at);
        await settled(shell);
        const after = await look(shell);
        assert.deepEqual(without(after), without(before));
        const told = how.told === true || how.told === driver || how.told === "click";
        if (told) assert.ok(after.refusals > before.refusals, "it stands among the refusals");
        else assert.equal(after.refusals, before.refusals, "nothing heard of it");
      });
    }
    await t.test("t164_after all of that a real Enter runs the draft", async () => {
      await armed(shell);
      await runsByEnter(shell);
    });
    await t.test("t164_a real click picks the row", async () => {
      await armed(shell);
      await clickOn(shell, OPTION);
      await shell.until(() => opened(shell), "the click opens Files");
      await clickOn(shell, "[aria-label='Close Files']");
    });
    await t.test("t164_a real click on Send runs the draft", async () => {
      await armed(shell);
      await clickOn(shell, "[aria-label=Send]");
      await shell.until(() => opened(shell), "the click opens Files");
      await clickOn(shell, "[aria-label='Close Files']");
    });
  });
}

// — the element changed behind our back —
const TAMPER = [
  ["updateText of the EditContext", "EditContext", () => {
    const c = document.querySelector("[role=combobox]").editContext;
    c.updateText(0, c.text.length, "/app:settings");
    c.updateSelection(13, 13);
  }],
  ["textContent of the host", "EditContext", () => { // what assistive technology reads
    document.querySelector("[role=combobox]").textContent = "/app:settings";
  }],
  ["value of the text area", "text area", () => { document.querySelector("textarea[role=combobox]").value = "/app:settings"; }],
  ["execCommand insertText", "text area", () => document.execCommand("insertText", false, "/app:settings")],
  ["execCommand delete and undo", "text area", () => {
    document.execCommand("selectAll");
    document.execCommand("delete");
    document.execCommand("undo");
  }],
  ["setRangeText of the text area", "text area", () => document.querySelector("textarea[role=combobox]").setRangeText("settings", 5, 10)],
];
for (const [driver, init] of DRIVERS) {
  shellTest(`t164_a changed element is found out and put right, ${driver}`, { init }, async (shell, t) => {
    await sideBySide(shell);
    for (const [name, only, tamper] of TAMPER) {
      if (only !== driver) continue;
      await t.test(`t164_${name}: no submission, and the next key writes into the person's own draft`, async () => {
        await cleared(shell);
        await shell.type("ab");
        await settled(shell);
        const before = await look(shell);
        await shell.eval(tamper);
        await settled(shell);
        assert.deepEqual((await look(shell)).windows, before.windows);
        await shell.type("c");
        await shell.until(async () => {
          const { draft } = await look(shell);
          return draft.length === 3 && [..."abc"].every((c) => draft.includes(c));
        }, "the draft is what the person typed");
        const held = await shell.eval(() => {
          const host = document.querySelector("#mirror [role=combobox]");
          return host.editContext ? host.editContext.text : host.value;
        });
        assert.equal(held, (await look(shell)).draft, "the element follows the draft");
        const after = await look(shell);
        assert.deepEqual(after.messages, before.messages);
        assert.ok(after.refusals > before.refusals, "the change is among the refusals");
      });
    }
    await t.test("t164_Enter refuses a command draft that was tampered with, until the person edits it again", async () => {
      await cleared(shell);
      await shell.type("/app:file");
      const before = await look(shell);
      await shell.eval(() => {
        const host = document.querySelector("#mirror [role=combobox]");
        if (host.editContext) host.editContext.updateText(0, host.editContext.text.length, "/app:settings!");
        else host.value = "/app:settings!";
      });
      await shell.press("End");
      await shell.type("s");
      await shell.until(async () => (await look(shell)).draft === "/app:files", "the draft is put right");
      assert.match(await shell.axTree("[role=dialog][aria-label=Settings]"), /not the text on screen/);
      await shell.press("Escape");
      await shell.press("Enter");
      await settled(shell);
      assert.equal(await opened(shell), false, "Enter does not run it");
      const after = await look(shell);
      assert.equal(after.draft, "/app:files", "nothing is lost");
      assert.ok(after.refusals > before.refusals + 1, "and the refusal is listed");
      await shell.type(" ");
      await shell.press("Backspace");
      await runsByEnter(shell);
    });
    await t.test("t164_an untouched draft runs", async () => {
      await armed(shell);
      await runsByEnter(shell);
    });
  });
}

// — trust of the draft itself —
shellTest("t164_paste and Enter does not run a command; one more key does", { }, async (shell) => {
  await sideBySide(shell);
  await cleared(shell);
  await shell.paste("/app:files");
  await shell.until(async () => (await look(shell)).draft === "/app:files", "the paste arrives");
  await shell.press("Escape");
  const before = await look(shell);
  await shell.press("Enter");
  await settled(shell);
  assert.equal(await opened(shell), false, "a pasted command does not run");
  const after = await look(shell);
  assert.equal(after.draft, "/app:files", "the draft is still there");
  assert.deepEqual(after.messages, before.messages, "and did not go to the agent as text");
  assert.ok(after.refusals > before.refusals, "the refusal is listed");
  await shell.type(" ");
  await shell.press("Backspace");
  await runsByEnter(shell);
});

shellTest("t164_an input method's text is a trusted edit", {}, async (shell) => {
  await sideBySide(shell);
  await cleared(shell);
  await shell.compose("/app:fi");
  await shell.insertText("/app:files");
  await shell.until(async () => (await look(shell)).draft === "/app:files", "the text is committed");
  await runsByEnter(shell);
});

shellTest("t164_a forged edit between the trusted ones leaves the trusted draft", {}, async (shell) => {
  await sideBySide(shell);
  await cleared(shell);
  await shell.type("/app:fil");
  await shell.eval(() => {
    document.querySelector("[role=combobox]").editContext.dispatchEvent(
      new TextUpdateEvent("textupdate", { text: "settings", updateRangeStart: 5, updateRangeEnd: 8, selectionStart: 13, selectionEnd: 13 }),
    );
  });
  await shell.type("es");
  await shell.until(async () => (await look(shell)).draft === "/app:files", "only the person's letters are in it");
  await runsByEnter(shell);
});

// — the keyboard's focus —
const STEALS = [
  ["an app of the bar", "[role=toolbar] [aria-label=Files]"],
  ["the row of the palette", "[role=option][aria-selected=true]"],
];
for (const [what, selector] of STEALS) {
  for (const press of ["Enter", "Space"]) {
    shellTest(`t164_focus that a script moved to ${what} gives ${press} nothing to press`, {}, async (shell) => {
      await sideBySide(shell);
      await armed(shell);
      const before = await look(shell);
      await shell.eval((s) => document.querySelector(`#mirror ${s}`).focus(), selector);
      await shell.press(press);
      await settled(shell);
      const after = await look(shell);
      assert.deepEqual(after.windows, before.windows, "no app opens");
      assert.ok(after.refusals > before.refusals, "the moved focus is among the refusals");
    });
  }
}

shellTest("t164_focus that the person moved by Tab presses the control", {}, async (shell) => {
  await shell.until(async () => (await focused(shell)) === "Message to AI Echo", "the composer has the focus");
  await shell.until(async () => {
    await shell.press("Shift+Tab");
    await settled(shell);
    return (await shell.eval(() => document.activeElement.closest("[role=toolbar]") && document.activeElement.getAttribute("aria-label"))) === "Files";
  }, "Shift+Tab reaches Files on the bar", { timeout: 60_000 });
  await shell.press("Enter");
  await shell.until(() => opened(shell), "Enter on it opens Files");
});

shellTest("t164_a control that a script lays under the mouse is not pressed by it", {}, async (shell) => {
  await sideBySide(shell);
  await cleared(shell);
  const before = await look(shell);
  await shell.eval(() => {
    const files = document.querySelector("#mirror [role=toolbar] [aria-label=Files]");
    files.style.cssText = "position:fixed;left:0;top:0;width:100vw;height:100vh;pointer-events:auto;z-index:9";
  });
  assert.equal(await shell.eval(() => document.elementFromPoint(300, 400).getAttribute("aria-label")), "Files");
  await shell.click(300, 400);
  await settled(shell);
  // The press focuses it, the mirror puts it back into its place, and often no click is left to refuse.
  assert.deepEqual((await look(shell)).windows, before.windows, "the click opens nothing");
});

shellTest("t164_a control that takes another's id does not act as that other", {}, async (shell) => {
  await sideBySide(shell);
  await cleared(shell);
  await shell.type("kept");
  await shell.until(async () => {
    await shell.press("Tab");
    return (await focused(shell)) === "Send";
  }, "Tab reaches Send");
  await shell.eval(() => {
    document.activeElement.id = document.querySelector("#mirror [role=toolbar] [aria-label=Files]").id;
  });
  await shell.press("Enter");
  await shell.until(async () => (await look(shell)).messages.includes("You"), "Send sends, whatever its element says");
  assert.equal(await opened(shell), false);
});

// — review cards —
const WRITE = '/tool:files.write put "buy milk" into notes/shopping.md';
const cardOf = (shell) => look(shell).then((s) => s.cards.length === 1);
async function withCard(shell) {
  await shell.until(async () => (await shell.axTree()).includes("On-device model ready"), "the model is ready", { timeout: 120_000 });
  await cleared(shell);
  await shell.type(WRITE);
  await shell.press("Enter");
  await shell.until(() => cardOf(shell), "the card is shown", { timeout: 90_000 });
}
// The message may be scrolled away behind the card; the card itself goes when it is decided.
const decided = (state) => !state.cards.length && !state.messages.some((m) => /waits for your review/.test(m ?? ""));
const FORGED_CARD = [
  ["click() on Approve", true, () => document.querySelector("#mirror [aria-label=Approve]").click()],
  ["click() on Reject", true, () => document.querySelector("#mirror [aria-label=Reject]").click()],
  ["a click event on Approve", true, () => {
    document.querySelector("#mirror [aria-label=Approve]").dispatchEvent(new PointerEvent("click", { bubbles: true, cancelable: true }));
  }],
  ["a press of the pointer over Approve", true, ([x, y]) => {
    for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) {
      document.querySelector("canvas").dispatchEvent(new PointerEvent(type, { clientX: x, clientY: y, pointerId: 1, pointerType: "mouse", bubbles: true }));
    }
  }],
  ["focus and a forged Enter on Approve", true, () => {
    const b = document.querySelector("#mirror [aria-label=Approve]");
    b.focus();
    for (const type of ["keydown", "keypress", "keyup"]) b.dispatchEvent(new KeyboardEvent(type, { key: "Enter", keyCode: 13, bubbles: true }));
  }],
  ["forged F8 and Enter", true, () => {
    for (const k of ["F8", "Tab", "Tab", "Enter", " "]) window.dispatchEvent(new KeyboardEvent("keydown", { key: k, bubbles: true }));
  }],
  ["requestSubmit of a form around Approve", true, () => {
    const form = document.createElement("form");
    form.addEventListener("submit", (e) => e.preventDefault());
    document.body.append(form);
    const b = document.querySelector("#mirror [aria-label=Approve]");
    b.setAttribute("form", (form.id = "made-by-script"));
    form.requestSubmit();
    b.click();
    b.removeAttribute("form");
    form.remove();
  }],
  ["Approve made enabled and clicked in a loop", true, () => {
    const b = document.querySelector("#mirror [aria-label=Approve]");
    b.removeAttribute("aria-disabled");
    for (let i = 0; i < 40; i++) b.click();
  }],
];
shellTest("field_4h1_no script decides a review card", {}, async (shell, t) => {
  await sideBySide(shell);
  await withCard(shell);
  for (const [name, told, forge] of FORGED_CARD) {
    await t.test(`field_4h1_${name} decides nothing`, async () => {
      const at = await middle(shell, "[aria-label=Approve]");
      const before = await look(shell);
      await shell.eval(forge, at);
      await settled(shell);
      const after = await look(shell);
      assert.deepEqual(after.cards, before.cards);
      assert.deepEqual(after.messages, before.messages);
      if (told) assert.ok(after.refusals > before.refusals, "it stands among the refusals");
    });
  }
  for (const press of ["Enter", "Space"]) {
    await t.test(`field_4h1_focus moved to Approve by a script gives a real ${press} nothing`, async () => {
      await clickOn(shell, DRAFT);
      const before = await look(shell);
      await shell.eval(() => document.querySelector("#mirror [aria-label=Approve]").focus());
      await shell.press(press);
      await settled(shell);
      const after = await look(shell);
      assert.deepEqual(after.cards, before.cards);
      assert.equal(decided(after), false);
      assert.ok(after.refusals > before.refusals, "the moved focus is among the refusals");
    });
  }
  await t.test("field_4h1_F8, Tab and a real Enter on Approve do decide it", async () => {
    await clickOn(shell, DRAFT);
    await shell.press("F8");
    await shell.until(async () => {
      if ((await focused(shell)) === "Approve") return true;
      await shell.press("Tab");
      return false;
    }, "Tab reaches Approve");
    await shell.press("Enter");
    await shell.until(async () => (await shell.axTree("[role=log]")).includes('button "Undo"'), "the file is written");
  });
});

shellTest("field_4h1_a real click approves, and what a script clicks before it does not", {}, async (shell) => {
  await sideBySide(shell);
  await shell.eval(() => {
    // From the first moment that the card exists.
    new MutationObserver(() => {
      for (const b of document.querySelectorAll("#mirror [aria-label=Approve], #mirror [aria-label=Reject]")) {
        if (!b.seen) { b.seen = true; b.click(); b.focus(); }
      }
    }).observe(document.getElementById("mirror"), { subtree: true, childList: true, attributes: true });
  });
  await withCard(shell);
  await settled(shell);
  assert.equal(decided(await look(shell)), false);
  await shell.until(async () => (await shell.axTree("[role=alertdialog]")).includes('button "Approve"\n') ||
    !/button "Approve" \[.*disabled/.test(await shell.axTree("[role=alertdialog]")), "Approve can be pressed");
  await clickOn(shell, "[aria-label=Approve]");
  await shell.until(async () => (await shell.axTree("[role=log]")).includes('button "Undo"'), "the file is written");
});

shellTest("field_4h1_typing on with Enter while a card opens decides nothing, and the card takes no focus", {}, async (shell) => {
  await shell.until(async () => (await shell.axTree()).includes("On-device model ready"), "the model is ready", { timeout: 120_000 });
  await shell.until(async () => (await focused(shell)) === "Message to AI Echo", "the composer has the focus");
  await shell.type(WRITE);
  await shell.press("Enter");
  // The card opens somewhere in the midst of this.
  let typed = 0;
  await shell.until(async () => {
    await shell.type("y1 ");
    typed += 1;
    return typed > 4 && (await cardOf(shell));
  }, "the card opens while the person types", { timeout: 90_000 });
  await shell.type("yes 1 please");
  await shell.press("Enter", "Space", "Enter");
  await settled(shell);
  const state = await look(shell);
  assert.equal(state.cards.length, 1, "the card is still there");
  assert.equal(decided(state), false);
  assert.equal(await focused(shell), "Message to AI Echo");
});

// — one act, one message —
const own = (state) => state.messages.filter((m) => m === "You").length;
for (const [name, act] of [
  ["two quick Enters", async (shell) => {
    const enter = { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" };
    await Promise.all(["keyDown", "keyUp", "keyDown", "keyUp"].map((type) => shell.key({ type, ...enter })));
  }],
  ["Enter and a click on Send", async (shell) => {
    const [x, y] = await middle(shell, "[aria-label=Send]");
    await Promise.all([shell.press("Enter"), shell.click(x, y)]);
  }],
  ["a double click on Send", async (shell) => shell.click(...(await middle(shell, "[aria-label=Send]")), { clickCount: 2 })],
]) {
  shellTest(`field_6h2_${name} send one message`, {}, async (shell) => {
    await shell.until(() => shell.eval(() => document.querySelector("#mirror nav [role=list] [aria-pressed=true]") !== null), "a conversation is in front");
    await shell.until(async () => (await focused(shell)) === "Message to AI Echo", "the composer has the focus");
    await shell.type("one two three");
    await shell.until(async () => (await look(shell)).draft === "one two three", "the draft is there");
    await act(shell);
    await shell.until(async () => own(await look(shell)) > 0, "the message is sent");
    await settled(shell);
    assert.equal(own(await look(shell)), 1);
    assert.equal((await look(shell)).draft, "");
  });
}
