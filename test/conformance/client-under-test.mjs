// Us as the client of a server of the suite: a gateway in front of the address that comes last, and a client of an era
// (`--driver legacy|modern`) that uses everything it finds.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

import { startGateway } from './stage.mjs';

const url = process.argv.at(-1);
const driver = process.argv[process.argv.indexOf('--driver') + 1];
const { toolCalls } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? '{}');
const home = mkdtempSync(join(tmpdir(), 'trunkline-conformance-'));
const config = { mcpServers: { it: { url } }, startup: { listWait: '10s' } };
const gateway = await startGateway(home, config);
try {
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
  const { tools } = await client.listTools();
  const calls =
    toolCalls ?? tools.map(({ name, inputSchema }) => ({ name, arguments: argumentsFor(inputSchema) }));
  for (const call of calls) await tried(client.callTool(call));
  if (offers.prompts !== undefined) {
    for (const { name } of (await client.listPrompts()).prompts) await tried(client.getPrompt({ name }));
  }
  if (offers.resources !== undefined) {
    for (const { uri } of (await client.listResources()).resources) await tried(client.readResource({ uri }));
  }
}

/** The suite looks at what is asked; some of its answers are errors on purpose. */
async function tried(request) {
  try {
    await request;
  } catch (error) {
    process.stderr.write(`${error.message}\n`);
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
