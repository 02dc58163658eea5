// A conversation of many messages, written into the browser's own database as the shell keeps it.

/** Writes one into the shell's database, with the conversation in front. Runs in the page. */
async function write(messages) {
  const db = await new Promise((done, failed) => {
    const request = indexedDB.open("webgpu-os");
    request.onsuccess = () => done(request.result);
    request.onerror = () => failed(request.error);
  });
  const at = { wall_ms: Date.now(), mono_ms: 0 };
  const tails = [
    "\n\n- the first *high* water\n- the **low** one behind it\n- see [the table](https://example.com/t)\n",
    "\n\n```rust\nfn tide(hour: u32) -> f32 {\n    (hour as f32).sin()\n}\n```\n",
    "\n\n| time | height |\n|---|---:|\n| 06:10 | 4.2 m |\n| 12:24 | 0.9 m |\n",
  ];
  const kind = (n) => n % 2
    ? { User: { text: `Question ${n}: when does the tide turn in the harbour, and what did the notes say of it?`, attachments: [], via: "Plain" } }
    : { Assistant: { text: `## Answer ${n}\nThe tide turns at six in the morning, as \`notes/tides.md\` says. It falls until noon and is back in the evening.${tails[(n / 2) % 3]}`, state: "Complete", model: "SmolLM2-135M-Instruct" } };
  const change = db.transaction(["settings", "conversations", "transcript"], "readwrite");
  const put = (store, key, record) => change.objectStore(store).put(JSON.stringify(record), key);
  put("settings", ["product"], { provider: "OnDevice", current: "c1", last_conversation: 1, mount: null });
  put("conversations", ["c1"], {
    id: "c1", title: "A long one", named: true, created: at, touched: at, provider: "OnDevice", mount: null,
    last_turn: messages / 2, last_item: messages,
  });
  for (let n = 1; n <= messages; n++) {
    const turn = Math.ceil(n / 2);
    put("transcript", ["c1", turn, n], { id: n, turn, at, kind: kind(n) });
  }
  await new Promise((done, failed) => {
    change.oncomplete = done;
    change.onabort = () => failed(change.error);
  });
  db.close();
}

/** Gives the open shell a conversation of so many messages and reloads it; ends when it is shown. */
export async function long(shell, messages) {
  await shell.eval(write, messages);
  await shell.reload();
  await shell.until(async () => (await shell.eval(() => document.body.innerText)).includes(`Answer ${messages}`)
    || (await shell.axTree()).includes(`Answer ${messages}`), `the transcript of ${messages} messages is shown`);
}
