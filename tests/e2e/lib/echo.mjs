// What a test of AI Echo needs to act and to look: the transcript as the mirror tells it, controls by
// their names, files of the sample folder, and a count of what reaches the model.

/** Run in the page before its scripts: keeps the name of each order that goes to a worker. */
export function countOrders() {
  globalThis.orders = [];
  const post = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    globalThis.orders.push(message?.op ?? "unknown");
    return post.call(this, message, ...rest);
  };
}

/** How often the model was asked since the page was loaded, with `countOrders` as `init`. */
export async function modelCalls(shell) {
  return shell.eval(() => globalThis.orders.filter((op) => op === "chat" || op === "score").length);
}

/** Waits until the model that ships with the shell can answer. */
export async function modelReady(shell) {
  await control(shell, "Model: On-device model ready", { timeout: 150_000 });
}

/** The words of the shell's status line. */
export async function status(shell) {
  return shell.eval(() => document.querySelector("#mirror [role=status]")?.getAttribute("aria-label") ?? "");
}

/** Messages and tool cards of the conversation in front: `who` and the whole text of each. */
export async function articles(shell) {
  return shell.eval(() => {
    const words = (e) => (e.children.length
      ? [...e.children].map(words).join("\n")
      : e.textContent || (e.tagName === "BUTTON" ? "" : e.getAttribute("aria-label") || ""));
    return [...document.querySelectorAll("#mirror [role=log] article")]
      .map((e) => ({ who: e.getAttribute("aria-label"), text: [...e.children].map(words).join("\n").trim() }));
  });
}

/** The last message by `who`, or "". */
export async function last(shell, who = "AI Echo") {
  return (await articles(shell)).findLast((a) => a.who.startsWith(who))?.text ?? "";
}

/** The composer's text. */
export async function draft(shell) {
  return shell.eval(() => {
    const e = document.querySelector("#mirror [aria-label='Message to AI Echo']");
    return e?.value ?? e?.textContent ?? "";
  });
}

/** Whether a control of that name is shown. */
export async function shows(shell, name) {
  return (await find(shell, name)) !== null;
}

/** By its name, or by a selector where `name` begins with "[" and a name alone would be ambiguous. */
async function find(shell, name) {
  return shell.eval((wanted) => {
    const css = wanted.startsWith("[") ? wanted : "[aria-label]";
    const all = [...document.querySelectorAll(`#mirror ${css}`)];
    const named = (c) => css === wanted || c.getAttribute("aria-label") === wanted;
    const e = all.find((c) => named(c) && c.getAttribute("aria-disabled") !== "true");
    if (!e) return null;
    const r = e.getBoundingClientRect();
    return { x: r.x + r.width / 2, y: r.y + r.height / 2, description: e.getAttribute("aria-description") ?? "" };
  }, name);
}

/** Waits for a control that can be used and says where its middle is. */
export async function control(shell, name, { timeout = 60_000 } = {}) {
  return shell.until(() => find(shell, name), `${name} is shown and can be used`, { timeout });
}

/** Presses a control with the mouse, on the canvas, where it is drawn. */
export async function press(shell, name) {
  const { x, y } = await control(shell, name);
  await shell.click(x, y);
}

/** Types text and waits until the composer shows it. */
export async function write(shell, text) {
  await shell.type(text);
  await shell.until(async () => (await draft(shell)) === text, `the composer holds ${text}`);
}

/** Types a message, sends it with Enter and waits until it stands in the transcript. */
export async function send(shell, text) {
  // Messages far out of sight have no element; each that has one says how many there are.
  const sent = () => shell.eval(() =>
    Number(document.querySelector("#mirror [role=log] article")?.getAttribute("aria-setsize") ?? 0));
  const before = await sent();
  await write(shell, text);
  await shell.press("Enter");
  await shell.until(async () => (await sent()) > before, `${text} is in the transcript`);
}

/** Waits until nothing runs; a turn has begun before. */
export async function idle(shell, { timeout = 150_000 } = {}) {
  await shell.until(async () => !(await shows(shell, "Stop")), "the turn ends", { timeout });
}

/** Sends a message and waits for the end of its turn; gives the last answer. */
export async function ask(shell, text) {
  await send(shell, text);
  await idle(shell);
  return last(shell);
}

/** A file of the sample folder as it lies in storage, or null. */
export async function file(shell, path) {
  return shell.eval(async (parts) => {
    try {
      let dir = await navigator.storage.getDirectory();
      for (const name of ["mnt", "welcome", ...parts.slice(0, -1)]) dir = await dir.getDirectoryHandle(name);
      return await (await (await dir.getFileHandle(parts.at(-1))).getFile()).text();
    } catch (error) {
      if (error.name === "NotFoundError") return null;
      throw error;
    }
  }, path.split("/"));
}

/** Changes a file of the sample folder behind the shell's back, as another program would. */
export async function overwrite(shell, path, text) {
  await shell.eval(async ([parts, content]) => {
    let dir = await navigator.storage.getDirectory();
    for (const name of ["mnt", "welcome", ...parts.slice(0, -1)]) dir = await dir.getDirectoryHandle(name);
    const out = await (await dir.getFileHandle(parts.at(-1), { create: true })).createWritable();
    await out.write(content);
    await out.close();
  }, [path.split("/"), text]);
}

/** The rows of the open palette: name and whether it is the one that Enter takes. */
export async function rows(shell) {
  return shell.eval(() => [...document.querySelectorAll("#mirror [role=listbox] [role=option]")].map((e) => ({
    name: e.getAttribute("aria-label"),
    selected: e.getAttribute("aria-selected") === "true",
    disabled: e.getAttribute("aria-disabled") === "true",
    description: e.getAttribute("aria-description") ?? "",
  })));
}

/** Whether a window is open. */
export async function opened(shell, title) {
  return shows(shell, `Close ${title}`);
}

/** The review card in front: its sentence, who asks, the whole change, or null. */
export async function card(shell) {
  return shell.eval(() => {
    const e = document.querySelector("#mirror [role=alertdialog]");
    if (!e) return null;
    const approve = e.querySelector("[aria-label=Approve]");
    return {
      id: e.id,
      name: e.getAttribute("aria-label"),
      description: e.getAttribute("aria-description"),
      change: e.querySelector("[role=code]")?.textContent ?? "",
      ready: approve !== null && approve.getAttribute("aria-disabled") !== "true",
    };
  });
}

/** Waits for a review card whose buttons work. */
export async function review(shell) {
  return shell.until(async () => {
    const c = await card(shell);
    return c?.ready ? c : null;
  }, "a review card that can be decided", { timeout: 150_000 });
}

/** The name of what has the browser's focus. */
export async function focused(shell) {
  return shell.eval(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.tagName ?? "");
}

/** Decides the card in front by keys alone: F8 to the card, Tab to the button, Enter. */
export async function decide(shell, button) {
  await shell.press("F8");
  await shell.until(async () => (await focused(shell)).startsWith("Review: "), "F8 leads to the card");
  for (let n = 0; n < 4 && (await focused(shell)) !== button; n += 1) {
    const before = await focused(shell);
    await shell.press("Tab");
    await shell.until(async () => (await focused(shell)) !== before, "Tab leads on");
  }
  await shell.press("Enter");
  await shell.until(async () => !(await card(shell))?.ready, `${button} decides the card`);
}
