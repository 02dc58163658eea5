// Fetches one file of a Python package from a package index (the "simple" JSON form), continuing
// where an earlier try stopped. Arguments: index, package, file name, destination.
import { createWriteStream } from "node:fs";
import { rename, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";

const [index, name, file, to] = process.argv.slice(-4);
const page = `${index.replace(/\/+$/, "")}/${name}/`;
const listing = await fetch(page, { headers: { accept: "application/vnd.pypi.simple.v1+json" } });
if (!listing.ok) throw new Error(`the package index answered ${listing.status}`);
const entry = (await listing.json()).files.find((f) => f.filename === file);
if (!entry) throw new Error(`the package index has no ${file}`);
const url = new URL(entry.url, listing.url);

const part = `${to}.part`;
const tries = 5;
for (let n = 1; ; n++) {
  try {
    const have = (await stat(part).catch(() => ({ size: 0 }))).size;
    const reply = await fetch(url, have ? { headers: { range: `bytes=${have}-` } } : {});
    const complete = reply.status === 416; // the whole file was there already
    if (!reply.ok && !complete) throw new Error(`the server answered ${reply.status}`);
    if (!complete) {
      const start = reply.status === 206 ? have : 0;
      const total = start + Number(reply.headers.get("content-length") ?? 0);
      let seen = start;
      let shown = -1;
      const counted = async function* (source) {
        for await (const chunk of source) {
          seen += chunk.length;
          const tenth = total ? Math.floor((seen / total) * 10) : 0;
          if (tenth > shown) console.log(`    ${(shown = tenth) * 10} % of ${(total / 1e6).toFixed(1)} MB`);
          yield chunk;
        }
      };
      await pipeline(Readable.fromWeb(reply.body), counted, createWriteStream(part, { flags: start ? "a" : "w" }));
      if (total && seen < total) throw new Error("the connection ended early");
    }
    await rename(part, to);
    break;
  } catch (error) {
    if (n === tries) throw error;
    console.log(`    ${error.message}; try ${n + 1} of ${tries}`);
    await new Promise((done) => setTimeout(done, 1000 * n));
  }
}
