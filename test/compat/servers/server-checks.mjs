// Whether a real MCP server offers the same and answers the same through Trunkline as directly.

import { isDeepStrictEqual } from 'node:util';

import { httpClient } from '../../../bench/client/http-client.mjs';
import { stdioClient } from '../../../bench/client/stdio-client.mjs';
import { withinMs } from '../../../bench/lib/timeout.mjs';
import { runCheck } from '../client-checks.mjs';
import { NotSupported } from '../client-details.mjs';
import { verifyNothingRuns, withHttpGateway } from '../gateway-loop.mjs';
import { lastLines } from '../output.mjs';
import { waitFor } from '../workspace.mjs';

/** Columns of the table, in order. */
export const serverChecks = {
  coldDirectly: 'cold, directly',
  coldGateway: 'cold, through Trunkline',
  ready: 'warm, directly',
  gateway: 'warm, through Trunkline',
  single: 'alone',
  merged: 'merged',
  call: 'call',
  end: 'end',
};

const READY_MS = 180_000;
const REQUEST_MS = 120_000;
/** The name of the server in the configuration of the gateway. */
const NAME = 'real';
/** Lists by the capability that announces them, with the member of the result that holds the entries. */
const lists = [
  { capability: 'tools', method: 'tools/list', member: 'tools' },
  { capability: 'prompts', method: 'prompts/list', member: 'prompts' },
  { capability: 'resources', method: 'resources/list', member: 'resources' },
  { capability: 'resources', method: 'resources/templates/list', member: 'resourceTemplates' },
];

/** Runs all checks of one server in one workspace. Calls `report(check, outcome, note)` after each. */
export async function checkServer(server, { command, workspace, report }) {
  const { env, args, call } = inHome(workspace, { env: server.env, args: server.args, call: server.call });
  const launch = { command: [...command, ...args], env, call };
  let direct;
  const isReady = await runCheck(
    'ready',
    async () => {
      direct = await askDirectly(workspace, launch);
      return formatSeconds(direct.readyMs);
    },
    report,
  );
  if (!isReady) return;
  const [executable, ...rest] = launch.command;
  workspace.write('.config/trunkline/config.jsonc', {
    expose: { kind: 'direct' },
    mcpServers: { [NAME]: { command: executable, args: rest, env } },
  });
  const start = performance.now();
  await withHttpGateway(workspace, (address) => compare(direct, { address, start, call, report }));
  await runCheck('end', () => verifyNothingRuns(workspace, [command.at(-1)]), report);
}

/** Replaces the placeholder of the home folder in arguments and variables. */
export function inHome({ home }, value) {
  return JSON.parse(JSON.stringify(value).replaceAll('${HOME}', home));
}

async function compare(direct, { address, start, call, report }) {
  const answers = [];
  const isReady = await runCheck(
    'gateway',
    async () => {
      await withClient(address, READY_MS, async (client) => {
        await client.open();
        await waitFor(
          'list of its tools',
          async () => (await client.request('tools/list')).tools.length > 0,
          READY_MS,
        );
      });
      return formatSeconds(performance.now() - start);
    },
    report,
  );
  if (!isReady) return;
  const single = async (client) => {
    const through = await ask(client, { call });
    answers.push(through.answer);
    for (const part of ['serverInfo', 'instructions'])
      verifyEqual(part, direct.about[part], through.about[part]);
    for (const { member } of lists) verifyEqual(member, direct.lists[member], through.lists[member]);
  };
  const merged = async (client) => {
    const through = await ask(client, { call: call && [`${NAME}__${call[0]}`, call[1]] });
    answers.push(through.answer);
    verifyEqual('tools', withoutNames(direct.lists.tools), withoutNames(through.lists.tools));
  };
  await runCheck('single', () => withClient(`${address}/s/${NAME}`, READY_MS, single), report);
  await runCheck('merged', () => withClient(address, READY_MS, merged), report);
  const compareAnswers = () => {
    if (call === undefined)
      throw new NotSupported('no call of this server is harmless and always answered alike');
    for (const answer of answers) verifyEqual('answers', direct.answer, answer);
    if (answers.length < 2) throw new Error('a call was not answered');
  };
  await runCheck('call', compareAnswers, report);
}

/** Asks a server without Trunkline. */
export async function askDirectly(workspace, { command, env, call }, limitMs = READY_MS) {
  const start = performance.now();
  const running = workspace.start(command, { hasInput: true, env, timeoutMs: limitMs + REQUEST_MS });
  const ended = running.finished.then(({ code, output }) => {
    throw new Error(`exited with code ${code}: ${lastLines(output)}`);
  });
  ended.catch(() => {}); // Only the race below looks at it.
  running.child.stdin.on('error', () => {}); // `ended` reports the end of the process.
  try {
    let readyMs;
    const onListed = () => (readyMs = performance.now() - start);
    const client = stdioClient(running.child, {
      onNotification: (text) => refuse(text, running.child.stdin),
    });
    const asked = ask(client, { call, onListed });
    const found = await withinMs(
      Promise.race([asked, ended]),
      limitMs,
      `not ready within ${limitMs / 1000} s`,
    );
    return { ...found, readyMs };
  } finally {
    running.signal('SIGTERM');
    await Promise.race([
      running.finished.catch(() => {}),
      new Promise((resolve) => setTimeout(resolve, 2000)),
    ]);
    running.signal('SIGKILL');
  }
}

/** Refuses a request of a server: some ask for roots although the client has none, and wait for the answer. */
function refuse(text, stdin) {
  if (!text.startsWith('{')) return; // Some servers write their log to standard output.
  const { id, method } = JSON.parse(text);
  if (id === undefined) return;
  const error = { code: -32601, message: `${method} is not supported` };
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, error })}\n`);
}

/** Connects, reads all lists and makes the call. */
async function ask(client, { call, onListed }) {
  const about = await client.open();
  const entries = {};
  for (const { capability, method, member } of lists)
    entries[member] =
      about.capabilities[capability] === undefined ? [] : await readPages(client, method, member);
  onListed?.();
  const answer = call && (await answerTo(client, call));
  return { about, lists: entries, answer };
}

async function readPages(client, method, member) {
  const entries = [];
  let cursor;
  do {
    let page;
    try {
      page = await client.request(method, cursor === undefined ? {} : { cursor });
    } catch {
      return entries; // Many servers announce resources but have no templates.
    }
    entries.push(...(page[member] ?? []));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return member === 'tools' ? entries.map(withSchemaType) : entries;
}

/** Trunkline adds the type that the protocol requires, because clients reject tools without it. */
function withSchemaType(tool) {
  return { ...tool, inputSchema: { type: 'object', ...tool.inputSchema } };
}

/** Returns the result of a call or the message of its error. */
async function answerTo(client, [name, args]) {
  try {
    return await client.request('tools/call', { name, arguments: args });
  } catch (error) {
    return { error: error.message };
  }
}

async function withClient(address, limitMs, work) {
  let fail;
  const broken = new Promise((_, reject) => (fail = reject));
  const client = httpClient(address, fail);
  try {
    await withinMs(Promise.race([work(client), broken]), limitMs);
  } finally {
    client.close();
  }
}

/** Merged tools are sorted, and their names begin with the name of the server; everything else of a tool is the same. */
function withoutNames(tools) {
  return tools
    .map(({ name: _, ...tool }) => ({ text: JSON.stringify(tool), tool }))
    .toSorted((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ tool }) => tool);
}

function verifyEqual(what, expected, found) {
  if (isDeepStrictEqual(expected, found)) return;
  throw new Error(`${what} differ: ${firstDifference(expected, found)}`);
}

function firstDifference(expected, found) {
  if (!Array.isArray(expected) || !Array.isArray(found)) return describe(expected, found);
  if (expected.length !== found.length) return `${expected.length} became ${found.length}`;
  const at = expected.findIndex((each, index) => !isDeepStrictEqual(each, found[index]));
  return describe(expected[at], found[at]);
}

function describe(expected, found) {
  const [before, after] = [JSON.stringify(expected) ?? 'none', JSON.stringify(found) ?? 'none'];
  let at = 0;
  while (before[at] === after[at] && at < before.length) at += 1;
  const around = (text) => text.slice(Math.max(0, at - 40), at + 80);
  return `${around(before)} became ${around(after)}`;
}

export function formatSeconds(ms) {
  return `${(ms / 1000).toFixed(1)} s`;
}
