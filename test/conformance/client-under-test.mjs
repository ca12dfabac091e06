// Trunkline as the client of a server of the suite: starts a gateway in front of the URL in the last argument, and a client of one
// era (`--driver legacy|modern`) that uses everything the server offers.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { entryFor, signIn, wantsSignIn } from './signing-in.mjs';
import { startGateway } from './stage.mjs';

const url = process.argv.at(-1);
const driver = process.argv[process.argv.indexOf('--driver') + 1];
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const { toolCalls } = context;
const wantsPerson = (process.env.MCP_CONFORMANCE_SCENARIO ?? '').startsWith('auth/');
const home = mkdtempSync(join(tmpdir(), 'trunkline-conformance-'));
const entry = wantsPerson ? entryFor(url, context) : { url };
const config = { mcpServers: { it: entry }, startup: { listWait: wantsPerson ? '1s' : '10s' } };
const gateway = await startGateway(home, config);
/** The text in the log. The startup message repeats it with other quotes at another time. */
const WANTS_PERSON = '\\" needs you to sign in';
/** Number of sign-in requests before the first sign-in. A server may require another one before the first has returned. */
let askedBefore = 0;
try {
  if (wantsPerson && entry.auth.flow === undefined) {
    await gateway.says(WANTS_PERSON);
    askedBefore = gateway.timesSaid(WANTS_PERSON);
    await signIn(home, gateway.config);
  }
  const client = new Client(
    { name: 'conformance', version: '1.0.0' },
    {
      capabilities: { elicitation: { form: {} }, sampling: {}, roots: {} },
      versionNegotiation: { mode: driver === 'modern' ? { pin: '2026-07-28' } : 'legacy' },
    },
  );
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: withDefaults(params.requestedSchema),
  }));
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/s/it`)));
  await useEverything(client);
  await client.close();
} finally {
  await gateway.stop();
  rmSync(home, { recursive: true, force: true });
}

async function useEverything(client) {
  const offers = client.getServerCapabilities() ?? {};
  const tools = await listed(client);
  const calls =
    toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsFor(inputSchema) }));
  for (const call of calls) await called(client, call);
  // The capabilities were unknown before the sign-in, and sign-in scenarios have only tools.
  if (wantsPerson) return;
  if (offers.prompts !== undefined) {
    for (const { name } of (await client.listPrompts()).prompts) await tried(client.getPrompt({ name }));
  }
  if (offers.resources !== undefined) {
    for (const { uri } of (await client.listResources()).resources) await tried(client.readResource({ uri }));
  }
}

/** Lists the tools once the gateway has noticed the sign-in, which takes up to a second. A server may require a second sign-in. */
async function listed(client) {
  let hasSignedInAgain = false;
  for (let isLast = !wantsPerson, tries = 0; ; tries += 1, isLast ||= tries === 50) {
    if (wantsPerson && !hasSignedInAgain && gateway.timesSaid(WANTS_PERSON) > askedBefore) {
      hasSignedInAgain = true;
      await signIn(home, gateway.config);
    }
    const { tools } = await client.listTools().catch((error) => {
      if (isLast) throw error;
      return { tools: [] };
    });
    if (tools.length > 0 || isLast) return tools;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Calls a tool. If it needs more scopes than were granted, signs in again once. */
async function called(client, call) {
  const result = await tried(client.callTool(call));
  if (!wantsPerson || !wantsSignIn(result)) return;
  await signIn(home, gateway.config);
  // Polling would send more requests than the scenario expects, so wait three times as long as the gateway needs to notice.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await tried(client.callTool(call));
}

/** Reports an error instead of throwing it: the suite checks the requests, and some of its answers are errors on purpose. */
async function tried(request) {
  try {
    return await request;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
    return error.message;
  }
}

function argumentsFor(schema) {
  const values = { string: 'text', number: 3, integer: 3, boolean: true, array: [], object: {} };
  return Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([name, { type }]) => [name, values[type] ?? null]),
  );
}

function withDefaults(schema) {
  return Object.fromEntries(
    Object.entries(schema?.properties ?? {}).flatMap(([name, property]) =>
      property.default === undefined ? [] : [[name, property.default]],
    ),
  );
}
