// What a model sees of Trunkline in a real AI client, and what a server sees of the client. Each check throws if the client cannot do it.

import { readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { stopGateway, toEntry, withHttpGateway, writeGatewayConfig } from './gateway-loop.mjs';
import { lastLines, succeed } from './output.mjs';
import { findTool } from './scripted-model.mjs';

/** The check does not apply, because Trunkline or the client has no such command. */
export class NotSupported extends Error {}

/** Longer than any client waits for a list, so a list that waited for the server would come too late. */
const SLOW_START_MS = 15_000;
/** More tools than any client lists without deferring some. */
const MANY_TOOLS = 120;
/** The length that model APIs accept, with the prefix of the client. */
const MAX_NAME = 64;
/** Fields of `_meta` that the protocol defines for requests. */
const PROTOCOL_META = /^(?:progressToken|traceparent|tracestate|baggage|io\.modelcontextprotocol\/.*)$/;
const CAPABILITIES = ['elicitation', 'sampling', 'roots'];
/** A sentence of the instructions in the exposure `search`, without which no client seems to pass the instructions on. */
const INSTRUCTIONS = 'Their tools are not listed.';
if (
  !readFileSync(new URL('../../src/exposure/search-exposure.ts', import.meta.url), 'utf8').includes(
    INSTRUCTIONS,
  )
)
  throw new Error(`The instructions no longer contain "${INSTRUCTIONS}": correct client-details.mjs.`);

/** Leaves the client without servers, and the gateway with its configuration only. */
export async function prepare({ client, model, workspace }) {
  await stopGateway(workspace);
  rmSync(join(workspace.home, client.file), { force: true });
  writeGatewayConfig(workspace, {});
  await client.prepare?.(workspace, model);
}

/** Adds a server with the client's own command, or for a client without one, as its documentation says. */
export async function addServer({ client, run, workspace }, name, command) {
  if (client.addStdio === undefined) client.writeStdio(workspace, name, command);
  else await succeed(run(client.addStdio(name, command)), `adding ${name}`);
}

/** Runs a script in the client and returns its requests to the model, and the finished calls. */
export async function runScript({ client, model, run }, script, steps) {
  model.scripts[script] = [...steps, { say: 'FINISHED' }];
  const output = await succeed(run(client.prompt(`Please run script:${script}`, model)), 'the client');
  return { output, requests: model.requestsOf(script), turns: model.turnsOf(script) };
}

export async function connectWith(setting, servers, options) {
  const { client, workspace } = setting;
  await prepare(setting);
  writeGatewayConfig(workspace, servers, options);
  await workspace.trunkline('connect', client.id, '--yes', '--trust');
}

/** On the first start, when nothing is known of a slow server, the first request to the model has our tools nevertheless. */
export async function startFirst(setting) {
  const { workspace } = setting;
  await connectWith(setting, { notes: toEntry([...workspace.notesCommand, '--delay', `${SLOW_START_MS}`]) });
  rmSync(join(workspace.home, '.local/state/trunkline'), { recursive: true, force: true });
  const { requests } = await runScript(setting, 'first-start', []);
  verifyLoaded(requests);
}

/** The first request to the model has our tools although the client has many others, and the description names the server. */
export async function loadAmongMany(setting) {
  const { workspace } = setting;
  await connectWith(setting);
  await addServer(setting, 'crowd', [...workspace.notesCommand, `--many=${MANY_TOOLS}`]);
  const { requests } = await runScript(setting, 'crowd', []);
  verifyLoaded(requests);
}

function verifyLoaded(requests) {
  const first = requests.find(({ tools }) => tools.length > 0);
  if (first === undefined) throw new Error('the model got no request');
  if (findTool(first.tools, 'search_tools') === undefined)
    throw new Error(`the first request to the model has ${first.tools.length} tools, but not search_tools`);
}

/** The model learns the names of the servers. Returns where it finds them. */
export function nameServers({ model }) {
  const first = model.requestsOf('stdio').find(({ tools }) => findTool(tools, 'search_tools') !== undefined);
  if (first === undefined) throw new Error('no request to the model has search_tools');
  if (!/\bnotes\b/.test(findTool(first.tools, 'search_tools').description))
    throw new Error('the description of search_tools does not name the server');
  return JSON.stringify(first.body).includes(INSTRUCTIONS) ? 'instructions, tool' : 'tool';
}

/** The model sees every long name in a form that its API accepts, and calls reach the right tool. Returns the longest length. */
export async function nameTools(setting) {
  const { client, workspace } = setting;
  await connectWith(setting, { notes: toEntry([...workspace.notesCommand, '--long']) }, { kind: 'direct' });
  // A list that the gateway has seen is there at once, however slow the machine is.
  await workspace.trunkline('tools');
  const longTools = (tools) => tools.filter(({ name }) => name.includes('long_name'));
  const steps = [0, 1].map((at) => ({ call: (tools) => longTools(tools)[at], args: {} }));
  const { turns, output } = await runScript(setting, 'names', steps);
  const answers = turns.map(({ result }) => /I am long_[a-z_]*_([ab])\./.exec(result)?.[1]);
  if (answers.toSorted().join('') !== 'ab')
    throw new Error(
      `the calls of two tools with long names reached ${answers.join(' and ') || 'none'}: ${(turns.at(-1)?.result ?? lastLines(output)).slice(0, 200)}`,
    );
  const longest = Math.max(...turns.map(({ name }) => name.length));
  if (longest > (client.maxName ?? MAX_NAME))
    throw new Error(`the model gets names of ${longest} characters`);
  return String(longest);
}

/** With the rules of docs/clients.md, the client calls harmless tools without asking, and no others. */
export async function followRules(setting) {
  const { client, workspace } = setting;
  if (client.ask === undefined) throw new NotSupported('the client never asks in this mode');
  await connectWith(setting);
  client.ask.rules?.(workspace);
  const before = workspace.notesEvents('written').length;
  const tool = 'notes__show_variable';
  const steps = [
    { call: 'search_tools', args: { query: 'variable' } },
    { call: 'describe_tools', args: { names: [tool] } },
    { call: 'call_read_tool', args: { name: tool, arguments: {} } },
    { call: 'call_write_tool', args: { name: 'notes__write_note', arguments: {} } },
  ];
  // A client may fail because a tool was refused.
  setting.model.scripts.rules = [...steps, { say: 'FINISHED' }];
  const { output } = await setting.run(client.ask.prompt('Please run script:rules', setting.model));
  const turns = setting.model.turnsOf('rules');
  const read = turns.find(({ name }) => name.includes('call_read_tool'))?.result;
  if (read?.includes('The variable is') !== true)
    throw new Error(`a harmless tool was refused: ${(read ?? lastLines(output)).slice(0, 200)}`);
  // A client that hides refused tools from its model makes the model report that the tool is missing.
  const isTried = setting.model
    .requestsOf('rules')
    .some(({ answer: { tool, text } }) => /call_write_tool/.test(tool?.name ?? text ?? ''));
  if (!isTried) throw new Error(`the model never tried to write: ${lastLines(output)}`);
  if (workspace.notesEvents('written').length > before) throw new Error('a writing tool was called');
}

/** After `connect --split`, the client calls a tool under its own name at a running gateway. */
export async function splitServers(setting) {
  const { client, workspace } = setting;
  const address = `127.0.0.1:${await findFreePort()}`;
  await prepare(setting);
  writeGatewayConfig(workspace, undefined, { http: { address } });
  await withHttpGateway(
    workspace,
    async () => {
      await workspace.trunkline('connect', client.id, '--split', '--yes', '--trust');
      const { turns, output } = await runScript(setting, 'split', [
        { call: 'print_lines', args: { count: 3 } },
      ]);
      const result = turns.at(-1)?.result ?? lastLines(output);
      if (!result.includes('This is line 2.')) throw new Error(`the call failed: ${result.slice(0, 300)}`);
    },
    address,
  );
}

async function findFreePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Calls the server without Trunkline, and remembers what the server is told of the client. */
export async function callDirectly(setting) {
  const { output } = await runScript(setting, 'directly', [{ call: 'wait', args: { ms: 1 } }]);
  setting.told = lastTold(setting.workspace);
  if (setting.told === undefined)
    throw new Error(`the client cannot call a server directly: ${lastLines(output)}`);
}

/** Through Trunkline, the server is told of no ability that the client lacks, and gets none of the client's private `_meta`. */
export function tellServer({ workspace, told }) {
  const { capabilities, meta, calls } = lastTold(workspace);
  if (calls === told.calls) throw new Error('no call reached the server through Trunkline');
  const extra = CAPABILITIES.filter(
    (name) => capabilities[name] !== undefined && told.capabilities[name] === undefined,
  );
  if (extra.length > 0) throw new Error(`the server is told that the client supports ${extra.join(', ')}`);
  const isPrivate = (key) => !PROTOCOL_META.test(key);
  const passed = meta.filter((key) => isPrivate(key) && told.meta.includes(key));
  if (passed.length > 0) throw new Error(`the server gets the private _meta ${passed.join(', ')}`);
  const declared = CAPABILITIES.filter((name) => capabilities[name] !== undefined);
  return declared.length === 0 ? 'none' : declared.join(', ');
}

function lastTold(workspace) {
  const started = workspace.notesEvents('initialize').at(-1);
  const called = workspace.notesEvents('called-with');
  if (started === undefined || called.length === 0) return undefined;
  return { capabilities: started.capabilities ?? {}, meta: called.at(-1).meta, calls: called.length };
}
