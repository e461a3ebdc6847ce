// Runs one client against one server and prints what it saw, as JSON.
//
// Standard input holds the description:
//   client   "sdk1": @modelcontextprotocol/sdk 1.x; "client2": @modelcontextprotocol/client 2.x
//   mode     client2 only: "legacy" (the default: a handshake), or "auto" (2026-07-28 where the server has it)
//   server   {command, args, env} for stdio, or {url} for Streamable HTTP
//   answer   {action, content}: what its user answers to every question; left out: a client that cannot ask
//   steps    in order, on one connection:
//              {do: "tools"}
//              {do: "call", tool, arguments}
//              {do: "read", uri}
//              {do: "watch", uri, file, text}: subscribe, write the file, wait for the notification
//              {do: "cancel", tool, arguments}: `{address}` in an argument becomes a page that never comes; the call is
//                cancelled when the server has asked for it, and the server must then hang up
//
// Standard output holds {version, server, steps: [...], asked: [...]}. Any failure ends with status 1 and a text.

import { once } from 'node:events';
import { appendFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const BOUND = 60_000; // milliseconds after which what is waited for is taken never to come
const IDENTITY = { name: 'mcp-curated-interop', version: '1' };

/** The parts of either package that differ, under one set of names. */
const PACKAGES = {
  async sdk1() {
    const root = '@modelcontextprotocol/sdk';
    const [client, stdio, http, types] = await Promise.all([
      import(`${root}/client/index.js`),
      import(`${root}/client/stdio.js`),
      import(`${root}/client/streamableHttp.js`),
      import(`${root}/types.js`),
    ]);
    return {
      ...client,
      ...stdio,
      ...http,
      question: types.ElicitRequestSchema,
      updated: types.ResourceUpdatedNotificationSchema,
      schemaFirst: true,
    };
  },
  async client2() {
    const root = '@modelcontextprotocol/client';
    const [client, stdio] = await Promise.all([import(root), import(`${root}/stdio`)]);
    return { ...client, ...stdio, question: 'elicitation/create', updated: 'notifications/resources/updated' };
  },
};

/** Waits for a promise, but not for ever. */
async function within(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`never happened: ${what}`)), BOUND);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A web page that never comes: `asked` when somebody wants it, `left` when they have hung up. */
async function hangingPage() {
  const waiting = {};
  const asked = new Promise((resolve) => (waiting.asked = resolve));
  const left = new Promise((resolve) => (waiting.left = resolve));
  const server = createServer((request, response) => {
    response.on('close', () => waiting.left(true));
    waiting.asked(true);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { address: `http://127.0.0.1:${server.address().port}/`, asked, left, close };
}

async function cancel(client, step, packages) {
  const page = await hangingPage();
  try {
    const filled = JSON.parse(JSON.stringify(step).replaceAll('{address}', page.address));
    const controller = new AbortController();
    const ended = callTool(client, filled, packages, controller.signal).then(
      (result) => ({ answered: result }),
      (error) => ({ error: String(error) }),
    );
    const early = await within(Promise.race([page.asked, ended]), 'the server asks for the page');
    if (early !== true) throw new Error(`the call ended before it was cancelled: ${JSON.stringify(early)}`);
    controller.abort('changed my mind');
    await within(page.left, 'the server hangs up');
    return within(ended, 'the cancelled call ends');
  } finally {
    page.close();
  }
}

/** Tells of changes of a resource: a stream of its own since 2026-07-28, a request before. */
async function subscribe(client, uri) {
  if (client.getProtocolEra?.() === 'modern') {
    const stream = await client.listen({ resourceSubscriptions: [uri] });
    return () => stream.close();
  }
  await client.subscribeResource({ uri });
  return () => client.unsubscribeResource({ uri });
}

async function watch(client, step, { updated }) {
  const told = new Promise((resolve) => {
    client.setNotificationHandler(updated, (notification) => resolve(notification.params.uri));
  });
  const leave = await subscribe(client, step.uri);
  await appendFile(step.file, step.text);
  const uri = await within(told, 'a notification of the change');
  await leave();
  return { uri };
}

function callTool(client, { tool: name, arguments: given }, { schemaFirst }, signal) {
  const options = { timeout: BOUND, signal };
  return client.callTool({ name, arguments: given }, ...(schemaFirst ? [undefined, options] : [options]));
}

const STEPS = {
  tools: (client) => client.listTools(),
  call: callTool,
  read: (client, { uri }) => client.readResource({ uri }, { timeout: BOUND }),
  watch,
  cancel,
};

/** Tells the version that was agreed on, once it was; 1.x tells it to the transport only. */
function agreement(client, transport) {
  if (client.getNegotiatedProtocolVersion) return () => client.getNegotiatedProtocolVersion();
  let version = null;
  const pass = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (chosen) => {
    version = chosen;
    pass?.(chosen);
  };
  return () => version;
}

async function run({ client: name, mode, server, answer, steps }) {
  const packages = await PACKAGES[name]();
  const asked = [];
  const client = new packages.Client(IDENTITY, {
    capabilities: answer ? { elicitation: { form: {} } } : {},
    ...(mode && { versionNegotiation: { mode } }),
  });
  if (answer) {
    client.setRequestHandler(packages.question, (request) => {
      asked.push(request.params.message);
      return answer;
    });
  }
  const transport = server.url
    ? new packages.StreamableHTTPClientTransport(new URL(server.url))
    : new packages.StdioClientTransport({ ...server, stderr: 'inherit' });
  const agreed = agreement(client, transport);
  await client.connect(transport, { timeout: BOUND });
  try {
    const done = [];
    for (const step of steps) done.push(await STEPS[step.do](client, step, packages));
    return { version: agreed(), server: client.getServerVersion(), steps: done, asked };
  } finally {
    await client.close();
  }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(await text(process.stdin))))}\n`);
