// Committed expectations: text compared exactly, pictures with a tolerance.
import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OUT, SNAPSHOTS, UPDATE, tool } from "./env.mjs";

async function put(path, content) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
}

const missing = (name) =>
  `there is no snapshot ${name} yet: \`cargo xtask fixtures\` writes it, to be looked at before it is committed`;

/** Compares a text with tests/e2e/snapshots/NAME.txt. */
export async function snapshot(name, text) {
  const path = join(SNAPSHOTS, `${name}.txt`);
  const now = `${text.trimEnd()}\n`;
  if (UPDATE) return put(path, now);
  const then = await readFile(path, "utf8").catch(() => null);
  if (then === null) {
    await put(join(OUT, `${name}.txt`), now);
    assert.fail(missing(`${name}.txt`));
  }
  assert.equal(now, then, `${name}.txt differs from its snapshot`);
}

/**
 * Compares a PNG with tests/e2e/snapshots/NAME.png. `tolerance` is the share of pixels that may
 * differ visibly; anti-aliased edges do not count, since rasterisers differ there.
 */
export async function picture(name, png, { tolerance = 0.002, threshold = 0.15 } = {}) {
  const { PNG } = tool("pngjs");
  const pixelmatch = tool("pixelmatch");
  const path = join(SNAPSHOTS, `${name}.png`);
  const actual = join(OUT, `${name}.png`);
  await put(actual, png);
  if (UPDATE) return put(path, png);
  const expected = await readFile(path).catch(() => null);
  if (expected === null) {
    console.log(`picture: ${actual}`);
    assert.fail(missing(`${name}.png`));
  }
  const [a, b] = [PNG.sync.read(expected), PNG.sync.read(png)];
  if (a.width !== b.width || a.height !== b.height) {
    console.log(`picture: ${actual}`);
    assert.fail(`${name}.png is ${b.width}×${b.height}, its snapshot ${a.width}×${a.height}`);
  }
  const diff = new PNG({ width: a.width, height: a.height });
  const count = pixelmatch(a.data, b.data, diff.data, a.width, a.height, { threshold });
  const share = count / (a.width * a.height);
  if (share > tolerance) {
    const where = join(OUT, `${name}.diff.png`);
    await put(where, PNG.sync.write(diff));
    console.log(`picture: ${actual}`);
    console.log(`picture: ${where}`);
    assert.fail(`${name}.png: ${(share * 100).toFixed(2)} % of the pixels differ, at most ${tolerance * 100} % may`);
  }
}

/** Whether a picture shows more than one flat colour: the least a painted canvas must do. */
export function isPainted(png, { least = 0.001 } = {}) {
  const { PNG } = tool("pngjs");
  const { data } = PNG.sync.read(png);
  const seen = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const colour = data.readUInt32LE(i);
    seen.set(colour, (seen.get(colour) ?? 0) + 1);
  }
  const most = Math.max(...seen.values());
  return 1 - most / (data.length / 4) > least;
}
