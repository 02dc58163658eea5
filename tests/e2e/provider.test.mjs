// A remote model over the OpenAI protocol: set up by keys in Settings, streamed, with tools, and with
// every fault said in words and never answered by somebody else.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { shellTest } from "./lib/harness.mjs";
import { tool } from "./lib/env.mjs";
import { articles, ask, control, countOrders, draft, idle, last, modelCalls, press, status, write } from "./lib/echo.mjs";

const KEY = "sk-test-4f1c0d";
const event = (json) => `data: ${JSON.stringify(json)}\n\n`;
const delta = (fields, finish_reason = null) =>
  event({ id: "c1", object: "chat.completion.chunk", model: "m", choices: [{ index: 0, delta: fields, finish_reason }] });
const DONE = "data: [DONE]\n\n";

/** A server that answers each chat request by `answer(reply, body)` and keeps what it was asked. */
async function serve(answer, { cors = true } = {}) {
  const asked = [];
  const server = createServer((request, reply) => {
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", async () => {
      if (cors) {
        reply.setHeader("access-control-allow-origin", "*");
        reply.setHeader("access-control-allow-headers", "*, authorization, content-type");
      }
      if (request.method === "OPTIONS") return reply.writeHead(cors ? 204 : 405).end();
      const body = Buffer.concat(chunks).toString();
      asked.push({ url: request.url, headers: request.headers, body: body && JSON.parse(body) });
      if (request.url.endsWith("/models")) return reply.end(JSON.stringify({ object: "list", data: [{ id: "m", object: "model" }] }));
      if (!request.url.endsWith("/chat/completions")) return reply.writeHead(404).end();
      reply.writeHead(200, { "content-type": "text/event-stream" });
      await answer(reply, asked.at(-1).body, asked.length);
      return reply.end();
    });
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    asked,
    stop: () => new Promise((done) => { server.closeAllConnections(); server.close(done); }),
  };
}

/** Sets the provider up by keys and makes it answer in this conversation. */
async function connect(shell, url, { key = KEY, model = "m" } = {}) {
  await write(shell, "/go:settings:provider");
  await shell.press("Enter");
  for (const [name, text] of [["Address of the server", url], ["Name of the model there", model], ["Key", key]]) {
    await press(shell, name);
    await shell.press("Control+A");
    await shell.type(text);
  }
  await press(shell, "Save");
  await shell.until(async () => /saved|stored|kept/i.test(await status(shell)), "the provider is saved");
  await press(shell, "Close Settings");
  await press(shell, "Model: On-device");
  await press(shell, `${model} at ${new URL(url).origin}`);
  await press(shell, "Message to AI Echo");
}

/** A test with a server of its own. */
function served(name, answer, body, more) {
  shellTest(name, { init: countOrders }, async (shell) => {
    const server = await serve(answer, more);
    try {
      await body(shell, server);
    } finally {
      await server.stop();
    }
  });
}

shellTest("provider_a_mock_server_streams_an_answer_and_a_tool_call", { init: countOrders }, async (shell) => {
  const { LLMock } = tool("@copilotkit/aimock");
  const mock = new LLMock({ port: 0, host: "127.0.0.1", latency: 5, chunkSize: 4 });
  mock.onMessage("good morning", { content: "A good morning to you, too." });
  mock.on({ userMessage: "what must I do", hasToolResult: false }, { toolCalls: [{ name: "files_read", arguments: { path: "notes/todo.md" } }] });
  mock.on({ userMessage: "what must I do", hasToolResult: true }, { content: "You must call the plumber." });
  await mock.start();
  try {
    await connect(shell, `${mock.url}/v1`);
    assert.match(await ask(shell, "good morning"), /A good morning to you, too\./);
    const offered = mock.getRequests().at(-1).body.tools.map((t) => t.function.name);
    assert.ok(offered.includes("files_read") || offered.includes("files.read"), offered.join());
    assert.match(await ask(shell, "what must I do"), /You must call the plumber\./);
    assert.ok(await last(shell, "Tool files.read, done"));
    assert.ok(mock.getRequests().some((r) => JSON.stringify(r.body).includes("call the plumber about the kitchen tap")), "the result went to the server");
    assert.equal(await modelCalls(shell), 0, "the on-device model was not asked");
  } finally {
    await mock.stop();
  }
});

served("provider_the_key_goes_to_its_origin_alone_and_shows_nowhere", async (reply) => {
  reply.write(delta({ role: "assistant", content: "Hello." }) + delta({}, "stop") + DONE);
}, async (shell, server) => {
  await connect(shell, server.url);
  assert.match(await ask(shell, "hello"), /Hello\./);
  assert.equal(server.asked.at(-1).headers.authorization, `Bearer ${KEY}`);
  assert.ok(!JSON.stringify(server.asked.map((a) => [a.url, a.body])).includes(KEY));
  assert.ok(!shell.requests.some((url) => url.includes(KEY)), "in no address");
  await write(shell, "/go:settings:provider");
  await shell.press("Enter");
  await control(shell, "Key");
  assert.ok(!(await shell.axTree()).includes(KEY), "in no accessibility text");
  assert.ok(!(await shell.eval(() => document.documentElement.outerHTML)).includes(KEY), "in no element");
  // Another origin gets no key.
  const other = await serve(async (reply) => { reply.write(delta({ content: "Other." }, "stop") + DONE); });
  try {
    await press(shell, "Address of the server");
    await shell.press("Control+A");
    await shell.type(other.url);
    await press(shell, "Save and test");
    await shell.until(() => other.asked.length > 0, "the other server is asked");
    assert.ok(!JSON.stringify(other.asked).includes(KEY), "the key stays with its origin");
  } finally {
    await other.stop();
  }
});

served("field_8h1_an_answer_cut_at_every_byte_is_the_same_text", async (reply) => {
  const bytes = Buffer.from(delta({ role: "assistant", content: "naïve 🌊 日" }) + delta({}, "stop").replaceAll("\n", "\r\n") + DONE);
  for (const byte of bytes) {
    reply.write(Buffer.of(byte));
    await new Promise((done) => setImmediate(done));
  }
}, async (shell, server) => {
  await connect(shell, server.url);
  assert.equal(await ask(shell, "hello"), "naïve 🌊 日");
});

served("field_8h2_two_calls_at_one_index_are_two_calls", async (reply, body) => {
  if (body.messages.some((m) => m.role === "tool")) {
    reply.write(delta({ content: "Both read." }) + delta({}, "stop") + DONE);
    return;
  }
  const name = body.tools.find((t) => /files.read/.test(t.function.name)).function.name;
  for (const [id, path] of [["p", "notes/todo.md"], ["q", "notes/ideas.md"]]) {
    const text = JSON.stringify({ path });
    reply.write(delta({ tool_calls: [{ index: 0, id, type: "function", function: { name, arguments: text.slice(0, 7) } }] }));
    reply.write(delta({ tool_calls: [{ index: 0, id, function: { arguments: text.slice(7) } }] }));
  }
  reply.write(delta({}, "tool_calls") + DONE);
}, async (shell, server) => {
  await connect(shell, server.url);
  assert.match(await ask(shell, "read both"), /Both read\./);
  assert.equal((await articles(shell)).filter((a) => a.who === "Tool files.read, done").length, 2);
});

served("field_8h3_an_error_inside_the_stream_fails_the_turn_with_the_servers_words", async (reply) => {
  reply.write(delta({ role: "assistant", content: "Par" }) + event({ error: { message: "overloaded", type: "server_error" } }));
}, async (shell, server) => {
  await connect(shell, server.url);
  const answer = await ask(shell, "hello");
  assert.match(answer, /^Par\n/, "what came stays");
  assert.match(answer, /overloaded/);
  assert.equal(await modelCalls(shell), 0, "nobody else answers");
});

served("field_8h3_only_an_error_is_told_and_not_retried", async (reply) => {
  reply.write(event({ error: { message: "quota" } }));
}, async (shell, server) => {
  await connect(shell, server.url);
  assert.match(await ask(shell, "hello"), /quota/);
  assert.equal(server.asked.filter((a) => a.url.endsWith("/chat/completions")).length, 1);
  assert.equal(await modelCalls(shell), 0);
});

served("field_8h3_only_done_is_an_empty_response_and_no_success", async (reply) => {
  reply.write(DONE);
}, async (shell, server) => {
  await connect(shell, server.url);
  assert.match(await ask(shell, "hello"), /empty response/);
  assert.equal(await modelCalls(shell), 0);
});

served("provider_a_server_that_does_not_allow_this_page_is_said_in_words", async () => {}, async (shell, server) => {
  shell.allowErrors(/CORS|ERR_FAILED|405/);
  await connect(shell, server.url);
  const answer = await ask(shell, "hello");
  assert.match(answer, /could not be reached/);
  assert.match(answer, /allow/i);
  assert.match(answer, /origin|CORS/i);
  assert.equal(await modelCalls(shell), 0, "never a silent switch");
  assert.equal(await draft(shell), "");
  await idle(shell);
}, { cors: false });
