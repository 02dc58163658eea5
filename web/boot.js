// Brings the shell up, or says in words why it cannot come up. The shell marks its first presented
// frame with `data-shell="ready"` on the root element; until then this page is what people see.
const ADAPTER_TRIES = 4;
const ADAPTER_PAUSE_MS = 250;

const $ = (id) => document.getElementById(id);
const root = document.documentElement;

/** Shows a page of words in place of the shell. Text only: nothing here is parsed as HTML. */
function explain(title, text, steps = []) {
  root.dataset.shell = "stopped";
  $("splash-title").textContent = title;
  $("splash-text").textContent = text;
  $("splash-progress").hidden = true;
  const help = $("splash-help");
  help.replaceChildren();
  if (steps.length) {
    const list = document.createElement("ul");
    for (const step of steps) {
      const item = document.createElement("li");
      // Addresses that a page may not link to are offered for copying.
      for (const [n, part] of step.split("`").entries()) {
        const piece = document.createElement(n % 2 ? "code" : "span");
        piece.textContent = part;
        item.append(piece);
      }
      list.append(item);
    }
    help.append(list);
  }
  const again = document.createElement("button");
  again.textContent = "Try again";
  again.addEventListener("click", () => location.reload());
  help.append(again);
  help.hidden = false;
}

const KEPT = "Nothing was lost: your conversations, drafts and settings stay in this browser.";

/** How to get WebGPU, for the browser at hand first. */
function ways() {
  const all = {
    chrome: "Chrome and Edge 113 or newer have it on Windows, macOS and ChromeOS, Chrome 121 on Android. Update the browser, and switch on “Use graphics acceleration when available” at `chrome://settings/system`.",
    linux: "On Linux, Chrome may need `chrome://flags/#enable-unsafe-webgpu` and `chrome://flags/#enable-vulkan` set to Enabled, then a restart of the browser.",
    safari: "Safari has it from version 26 on macOS, iOS, iPadOS and visionOS.",
    firefox: "Firefox has it from version 141 on Windows and 145 on macOS with Apple silicon; elsewhere set `dom.webgpu.enabled` to true at `about:config`.",
    report: "`chrome://gpu` says under “WebGPU” why Chrome does not offer it.",
  };
  const agent = navigator.userAgent;
  if (/Firefox\//.test(agent)) return [all.firefox, all.chrome, all.safari];
  if (/Chrom(e|ium)\//.test(agent)) return /Linux/.test(agent) && !/Android/.test(agent) ? [all.linux, all.report, all.firefox] : [all.chrome, all.report, all.firefox];
  if (/Safari\//.test(agent)) return [all.safari, all.chrome, all.firefox];
  return [all.chrome, all.linux, all.safari, all.firefox];
}

/** Whether a picture can be drawn; if not, the page is explained. */
async function webgpu() {
  if (!window.isSecureContext) {
    explain("This address is not secure enough for WebGPU",
      `Browsers offer WebGPU only to pages from https or from this computer itself. ${KEPT}`,
      ["Open the page by https, or as `http://127.0.0.1` on the computer that serves it."]);
    return false;
  }
  if (!navigator.gpu) {
    explain("This browser does not offer WebGPU",
      `The shell draws everything with WebGPU, and here it is missing or switched off. ${KEPT}`, ways());
    return false;
  }
  // A GPU process that has just ended is started again by the browser: ask more than once.
  let adapter = null;
  for (let n = 0; !adapter && n < ADAPTER_TRIES; n++) {
    if (n) await new Promise((done) => setTimeout(done, ADAPTER_PAUSE_MS));
    adapter = await navigator.gpu.requestAdapter().catch(() => null);
  }
  if (!adapter) {
    explain("WebGPU found no graphics adapter",
      `The browser knows WebGPU but has no adapter for it: the graphics driver is blocked, too old, or switched off. ${KEPT}`, ways());
    return false;
  }
  return true;
}

/** Fetches the module and reports how much of it is there. */
async function fetched(url, progress) {
  const reply = await fetch(url);
  if (!reply.ok) throw new Error(`${url} answered ${reply.status}`);
  const total = Number(reply.headers.get("content-length")) || 0;
  if (!total || !reply.body) return reply;
  let seen = 0;
  const count = new TransformStream({
    transform(chunk, out) {
      seen += chunk.byteLength;
      progress(Math.min(1, seen / total));
      out.enqueue(chunk);
    },
  });
  return new Response(reply.body.pipeThrough(count), { headers: { "content-type": "application/wasm" } });
}

async function boot() {
  const module = import("./shell.js");
  module.catch(() => {}); // awaited below; without WebGPU its failure is not the news
  if (!(await webgpu())) return;
  root.dataset.shell = "loading";
  const bar = $("splash-progress");
  const bytes = fetched(new URL("./shell_bg.wasm", import.meta.url), (part) => { bar.value = part; });
  const { default: init } = await module;
  await init({ module_or_path: bytes });
  if (root.dataset.shell === "loading") root.dataset.shell = "started";
}

boot().catch((error) => {
  console.error(error);
  explain("The shell could not be started", `${error?.message ?? error}. ${KEPT}`,
    ["If the server was stopped or is being rebuilt, wait a moment and try again."]);
});
