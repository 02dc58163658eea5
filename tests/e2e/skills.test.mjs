// A skill of the folder, as a person meets it: it is there as soon as its folder is, guides nothing
// before it was read and approved, and one changed byte takes that back.
import assert from "node:assert/strict";
import { isPainted, shellTest } from "./lib/harness.mjs";
import {
  articles, control, countOrders, draft, focused, idle, last, modelCalls, modelReady, opened, overwrite, press, rows, send,
  status, write,
} from "./lib/echo.mjs";

const NAME = "tide-table";
const PATH = `.agents/skills/${NAME}/SKILL.md`;
const SKILL = `---
name: ${NAME}
description: Lists high and low water for a harbour. Use it when the person asks for tides.
allowed-tools: Read
---
Give the times in a table, highest first.
`;

/** Makes the folder of a skill and writes it, as another program would. */
async function drop(shell, path, text) {
  await shell.eval(async (parts) => {
    let dir = await navigator.storage.getDirectory();
    for (const name of ["mnt", "welcome", ...parts.slice(0, -1)]) dir = await dir.getDirectoryHandle(name, { create: true });
  }, path.split("/"));
  await overwrite(shell, path, text);
}

async function remove(shell, path) {
  await shell.eval(async (parts) => {
    let dir = await navigator.storage.getDirectory();
    for (const name of ["mnt", "welcome", ...parts.slice(0, -1)]) dir = await dir.getDirectoryHandle(name);
    await dir.removeEntry(parts.at(-1), { recursive: true });
  }, path.split("/"));
}

/** The row of a skill in the open palette: "" while it can be used, else why not; null without one. */
async function row(shell, name) {
  const found = (await rows(shell)).find((r) => r.name.startsWith(`/skill:${name} `));
  return found ? (found.disabled ? `${found.name} ${found.description}` : "") : null;
}

/** What the app says of a skill in its list. */
async function listed(shell, name) {
  return shell.eval((wanted) => [...document.querySelectorAll("#mirror [role=dialog][aria-label=Skills] button")]
    .find((e) => e.getAttribute("aria-label") === wanted)?.getAttribute("aria-description") ?? null, `${name}, in .agents/skills`);
}

async function launch(shell) {
  await write(shell, "/app:skills");
  await shell.press("Enter");
  await shell.until(() => opened(shell, "Skills"), "Skills opens");
}

shellTest("issue_3_6_5_a_package_appears_is_reviewed_guides_a_turn_and_is_refused_after_one_byte", { init: countOrders, viewport: { width: 1600, height: 900 } }, async (shell) => {
  await modelReady(shell);
  // It appears in an open list, with no key pressed and no reload.
  await write(shell, `/skill:`);
  await shell.until(async () => (await row(shell, "weekly-review")) !== null, "the sample's own skills are rows");
  assert.equal(await row(shell, NAME), null);
  await drop(shell, PATH, SKILL);
  await shell.until(async () => /not reviewed yet/.test((await row(shell, NAME)) ?? ""), "the new skill is a row, and says why it cannot be used");
  await shell.press("Control+A", "Backspace");

  // Nothing it says has any effect before it was reviewed.
  await write(shell, `/skill:${NAME} When is high water?`);
  await shell.press("Enter");
  await shell.until(async () => /not reviewed yet/.test(await status(shell)), "the refusal names the reason");
  assert.equal(await modelCalls(shell), 0);
  await shell.press("Control+A", "Backspace");

  // The review, by mouse: the whole text, its digest, what it asks for.
  await launch(shell);
  await shell.until(async () => /portable; not reviewed yet/.test((await listed(shell, NAME)) ?? ""), "the catalogue lists it");
  await press(shell, `${NAME}, in .agents/skills`);
  const text = await shell.until(() => shell.eval(() =>
    document.querySelector("#mirror [role=dialog][aria-label=Skills] [role=code]")?.textContent || null), "its text is shown");
  assert.match(text, /Give the times in a table, highest first\./);
  assert.ok(isPainted(await shell.screenshot("skills-review")));
  await press(shell, "Approve");
  await shell.until(async () => /portable; reviewed/.test((await listed(shell, NAME)) ?? ""), "it is reviewed");

  // It outlives a reload, and guides the turn in which it is named.
  await press(shell, "Close Skills");
  await shell.reload();
  await modelReady(shell);
  await write(shell, "/skill:");
  await shell.until(async () => (await row(shell, NAME)) === "", "the review outlives the page");
  await shell.press("Control+A", "Backspace");
  await send(shell, `/skill:${NAME} When is high water?`);
  await idle(shell);
  assert.equal(await modelCalls(shell), 1);
  const used = (await articles(shell)).find((a) => a.who.startsWith("Skill used: "));
  assert.equal(used?.who, `Skill used: ${PATH}`, "the transcript says which");
  await press(shell, PATH);
  await shell.until(() => opened(shell, "Files"), "the line opens the source");
  await press(shell, "Close Files");

  // One byte.
  await overwrite(shell, PATH, SKILL.replace("highest", "Highest"));
  await press(shell, "Message to AI Echo");
  await write(shell, `/skill:${NAME} And low water?`);
  await shell.press("Enter");
  await shell.until(async () => /changed since/.test(`${await status(shell)} ${await last(shell)}`), "the reason is said");
  await idle(shell);
  assert.equal(await modelCalls(shell), 1, "the model never hears of it");
  assert.match(await draft(shell), /And low water\?$/, "what was typed is still there");
  await shell.press("Control+A", "Backspace");
  await launch(shell);
  await shell.until(async () => /changed since it was reviewed/.test((await listed(shell, NAME)) ?? ""), "and the catalogue says so");
  await shell.screenshot("skills-changed");

  // Gone is gone, at the next look that nobody asked for.
  await remove(shell, `.agents/skills/${NAME}`);
  await shell.until(async () => (await listed(shell, NAME)) === null, "it vanishes");
});

shellTest("a_skill_is_reviewed_and_revoked_by_keys_alone", async (shell) => {
  await launch(shell);
  await control(shell, "weekly-review, in .agents/skills");
  const go = async (name) => {
    for (let n = 0; n < 24 && (await focused(shell)) !== name; n += 1) {
      const before = await focused(shell);
      await shell.press("Tab");
      await shell.until(async () => (await focused(shell)) !== before, "Tab leads on");
    }
    assert.equal(await focused(shell), name);
    await shell.press("Enter");
  };
  await go("weekly-review, in .agents/skills");
  await control(shell, "Approve");
  await go("Approve");
  await shell.until(async () => /portable; reviewed/.test((await listed(shell, "weekly-review")) ?? ""), "it is reviewed");
  await go("Revoke");
  await shell.until(async () => /not reviewed yet/.test((await listed(shell, "weekly-review")) ?? ""), "it is not any more");
});

for (const scheme of ["dark", "light"]) {
  shellTest(`skills_look_${scheme}`, { scheme, viewport: { width: 1440, height: 860 } }, async (shell) => {
    await drop(shell, ".claude/skills/lenient/SKILL.md", "---\nname: lenient\ndescription: Reads a log: for errors.\nmodel: big\n---\nRead it.\u200b\n");
    await drop(shell, ".claude/skills/weekly-review/SKILL.md", SKILL.replace(NAME, "weekly-review"));
    await launch(shell);
    await control(shell, "lenient, in .claude/skills");
    await press(shell, "Objective");
    await shell.type("Please run /weekly-review now, but do not run /tidy-notes.");
    await shell.press("Enter");
    await shell.until(() => shell.eval(() => document.querySelector("#mirror [role=list][aria-label=Verdicts]") !== null), "verdicts");
    assert.ok(isPainted(await shell.screenshot(`skills-objective-${scheme}`)));
    await press(shell, "lenient, in .claude/skills");
    await control(shell, "Propose a portable copy");
    assert.ok(isPainted(await shell.screenshot(`skills-wrong-${scheme}`)));
    await press(shell, "weekly-review, in .agents/skills");
    await control(shell, "Approve");
    assert.ok(isPainted(await shell.screenshot(`skills-sheet-${scheme}`)));
  });
}

for (const observer of [true, false]) {
  const how = observer ? "watched" : "polled";
  const init = observer ? () => {} : () => { delete globalThis.FileSystemObserver; };
  shellTest(`a_folder_that_is_${how}_shows_what_is_new_and_draws_no_frame_for_what_is_not`, { init }, async (shell) => {
    await launch(shell);
    await control(shell, "weekly-review, in .agents/skills");
    await drop(shell, PATH, SKILL);
    await control(shell, `${NAME}, in .agents/skills`);
    const frames = await shell.eval(async () => {
      await new Promise((resolve) => setTimeout(resolve, 7000));
      let frames = 0;
      const request = globalThis.requestAnimationFrame;
      globalThis.requestAnimationFrame = (call) => { frames += 1; return request(call); };
      await new Promise((resolve) => setTimeout(resolve, 6000));
      globalThis.requestAnimationFrame = request;
      return frames;
    });
    assert.equal(frames, 0);
    assert.equal(await shell.eval(() => "FileSystemObserver" in globalThis), observer);
  });
}
