// A real folder of this computer: dropped on the shell, kept across a restart of the browser, and never
// asked for without a click.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { shellTest } from "./lib/harness.mjs";
import { ask, control, draft, modelReady, press, shows, status, write } from "./lib/echo.mjs";

/** Run in the page before its scripts: notes what is asked of the browser, and inside which event. */
function noteAsked() {
  globalThis.asked = [];
  const real = FileSystemHandle.prototype.requestPermission;
  FileSystemHandle.prototype.requestPermission = function (...args) {
    const e = globalThis.event;
    globalThis.asked.push([this.name, e?.type ?? "", e?.isTrusted === true]);
    return real.apply(this, args);
  };
}
const asked = (shell) => shell.eval(() => globalThis.asked);

async function folder(t) {
  const at = await mkdtemp(join(tmpdir(), "harbour-"));
  t.after(() => rm(at, { recursive: true, force: true }));
  await mkdir(join(at, "logbook"));
  await writeFile(join(at, "logbook", "today.md"), "Low water at noon, wind from the west.\n");
  return [at, at.split("/").at(-1)];
}

shellTest("field_10h1_a_dropped_folder_is_worked_in_and_after_a_restart_asks_for_one_click", { init: noteAsked }, async (shell, t) => {
  const [at, name] = await folder(t);
  await control(shell, "Folder: Welcome");
  await shell.drop(640, 300, at);
  await control(shell, `Folder: ${name} (read only)`);
  await modelReady(shell);
  const answer = await ask(shell, "/tool:files.read what is in logbook/today.md");
  assert.match(answer, /Low water at noon, wind from the west\./);
  assert.deepEqual(await asked(shell), [], "a drop lets read; nothing else was asked for");

  await shell.restart();
  await control(shell, `Folder: ${name} (reconnect)`);
  await write(shell, "/tool:files.read what is in logbook/today.md");
  await shell.press("Enter");
  await shell.until(async () => /needs a connected folder/.test(await status(shell)), "a turn says what is missing");
  assert.equal(await draft(shell), "/tool:files.read what is in logbook/today.md", "and the draft stays");
  assert.deepEqual(await asked(shell), [], "neither the start nor a turn asks");

  await press(shell, `Folder: ${name} (reconnect)`);
  await press(shell, name);
  await shell.until(async () => (await asked(shell)).length > 0, "the click asks");
  assert.deepEqual(await asked(shell), [[name, "pointerup", true]]);
});

shellTest("field_10h1_a_folder_that_has_gone_is_missing_and_not_empty", {}, async (shell, t) => {
  const [at, name] = await folder(t);
  await control(shell, "Folder: Welcome");
  await shell.drop(640, 300, at);
  await control(shell, `Folder: ${name} (read only)`);
  await rm(at, { recursive: true });
  await press(shell, "Files");
  await press(shell, `[role=dialog][aria-label=Files] [aria-label="${name}"]`);
  await shell.until(() => shell.eval(() => /not there|no longer|missing|not found/i.test(document.querySelector("#mirror [aria-label=Files][role=dialog]")?.textContent ?? "")
    || [...document.querySelectorAll("#mirror [role=dialog][aria-label=Files] *")].some((e) => /not there|no longer|missing|not found/i.test(e.getAttribute("aria-label") ?? ""))),
  "Files says that it is gone");
  assert.equal(await shows(shell, "logbook"), false);
});
