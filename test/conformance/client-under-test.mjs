// Us as the client of a server of the suite: a gateway in front of the address that comes last, and a client of an era
// (`--driver legacy|modern`) that uses everything it finds.

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
/** As the log says it; the greeting repeats it in other quotes, at a moment of its own. */
const WANTS_PERSON = '\\" needs you to sign in';
/** How often a person was wanted before anybody signed in: a server may want one again before the first sign-in has returned. */
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
  // Before anybody signed in nobody knew what there is, and scenarios about signing in have tools only.
  if (wantsPerson) return;
  if (offers.prompts !== undefined) {
    for (const { name } of (await client.listPrompts()).prompts) await tried(client.getPrompt({ name }));
  }
  if (offers.resources !== undefined) {
    for (const { uri } of (await client.listResources()).resources) await tried(client.readResource({ uri }));
  }
}

/** A gateway notices within a second that somebody signed in; a server may want that once more. */
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

/** What needs more than was granted is granted it, once. */
async function called(client, call) {
  const result = await tried(client.callTool(call));
  if (!wantsPerson || !wantsSignIn(result)) return;
  await signIn(home, gateway.config);
  // Asking meanwhile would be a request more than the scenario expects, so that the gateway gets thrice the time it needs to notice.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  await tried(client.callTool(call));
}

/** The suite looks at what is asked; some of its answers are errors on purpose. */
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
