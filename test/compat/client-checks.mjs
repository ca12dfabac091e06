// What a real AI client must be able to do with Trunkline. Each check returns a note or undefined, and throws if the client cannot do it.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { parse } from 'jsonc-parser';

import { findTool, stepTurns } from './scripted-model.mjs';
import { waitFor } from './workspace.mjs';

/** Columns of the table, in order. */
export const clientChecks = {
  import: 'import',
  connect: 'connect',
  undo: 'undo',
  list: 'list',
  stdio: 'stdio',
  visible: 'loaded',
  cancel: 'cancel',
  share: 'share',
  http: 'http',
  end: 'end',
};

/** The check does not apply, because Trunkline or the client has no such command. */
class NotSupported extends Error {}

const LINES = 5000;
const LAST_LINE = `This is line ${LINES - 1}.`;
const SHARED_CALL_MS = 8000;

/** Scripts of the model; a prompt selects one of them by `script:NAME`. */
const clientScripts = {
  loop: [
    { call: 'search_tools', args: { query: 'print numbered lines of text' } },
    { call: 'describe_tools', args: { names: ['notes__print_lines'] } },
    { call: 'call_read_tool', args: { name: 'notes__print_lines', arguments: { count: LINES } } },
    {
      call: 'read_result',
      args: (results) => ({ id: /\br_[A-Za-z0-9_-]{16}/.exec(results[2])?.[0] ?? '', find: LAST_LINE }),
    },
    { say: 'FINISHED' },
  ],
  short: [{ call: 'search_tools', args: { query: 'wait' } }, { say: 'FINISHED' }],
  shared: [
    { call: 'call_read_tool', args: { name: 'notes__wait', arguments: { ms: SHARED_CALL_MS } } },
    { say: 'FINISHED' },
  ],
  endless: [
    { call: 'call_read_tool', args: { name: 'notes__wait', arguments: { ms: 100_000 } } },
    { say: 'FINISHED' },
  ],
};

/** Runs all checks of one client in one workspace. Calls `report(check, outcome, note)` after each. */
export async function checkClient(client, { command, model, workspace, report }) {
  const setting = {
    client,
    model,
    workspace,
    run: (args, options) => workspace.run([...command, ...args], options),
  };
  setting.start = (args) => workspace.start([...command, ...args]);
  Object.assign(workspace.environment, client.environment?.(model));
  const check = async (name, work) => {
    try {
      report(name, 'yes', await work(setting));
      return true;
    } catch (error) {
      report(name, error instanceof NotSupported ? 'n/a' : 'no', error.message);
      return false;
    }
  };
  await prepare(setting);
  await succeed(setting.run(client.addStdio('notes', workspace.notesCommand)), 'adding a server');
  await check('import', importWritten);
  const isConnected = (await check('connect', connect)) && (await check('undo', undo));
  if (!isConnected) await connectByHand(setting);
  await check('list', list);
  await check('stdio', () => loop(setting, 'stdio'));
  await check('visible', () => seeTools(setting));
  await check('cancel', cancel);
  await check('share', share);
  await check('http', loopOverHttp);
  await check('end', end);
}

async function prepare({ client, model, workspace }) {
  rmSync(join(workspace.home, client.file), { force: true });
  // Below the limit of tools from which on `auto` chooses it.
  workspace.write('.config/trunkline/config.jsonc', { expose: { kind: 'search' }, mcpServers: {} });
  await client.prepare?.(workspace, model);
}

/** Trunkline understands what the client's own command wrote. */
async function importWritten({ client, workspace }) {
  workspace.environment.TRUNKLINE_HOME = join(workspace.home, 'imported');
  try {
    await supported(workspace.trunkline('import', '--from', client.id, '--yes', '--trust'));
    const { command, args } = parse(workspace.read('imported/config.jsonc')).mcpServers.notes ?? {};
    const imported = [command, ...(args ?? [])];
    if (!isDeepStrictEqual(imported, workspace.notesCommand))
      throw new Error(`imported ${JSON.stringify(imported)}`);
  } finally {
    delete workspace.environment.TRUNKLINE_HOME;
  }
}

async function connect({ client, workspace }) {
  const { moved } = await supported(workspace.trunkline('connect', client.id, '--yes', '--trust'));
  if (!isDeepStrictEqual(moved, ['notes'])) throw new Error(`moved ${JSON.stringify(moved)}`);
}

/** The file of the client is the same, byte for byte, after `--undo`; ends connected. */
async function undo({ client, workspace }) {
  await workspace.trunkline('connect', client.id, '--undo', '--yes');
  const before = workspace.read(client.file);
  await workspace.trunkline('connect', client.id, '--yes', '--trust');
  if (workspace.read(client.file) === before)
    throw new Error(`connect changed another file than ${client.file}`);
  await workspace.trunkline('connect', client.id, '--undo', '--yes');
  if (workspace.read(client.file) !== before) throw new Error('the file differs after --undo');
  await workspace.trunkline('connect', client.id, '--yes', '--trust');
}

/** For clients that `trunkline connect` does not know: their own command adds Trunkline. */
async function connectByHand(setting) {
  const { client, workspace } = setting;
  await prepare(setting);
  writeNotesEntry(workspace);
  await succeed(setting.run(client.addStdio('trunkline', ['trunkline', 'serve'])), 'adding Trunkline');
}

function writeNotesEntry(workspace) {
  const [command, ...args] = workspace.notesCommand;
  workspace.write('.config/trunkline/config.jsonc', {
    expose: { kind: 'search' },
    mcpServers: { notes: { command, args } },
  });
}

async function list({ client, run }) {
  if (client.list === undefined) throw new NotSupported('the client has no such command');
  const output = await succeed(run(client.list), client.list.join(' '));
  if (!client.listed.test(withoutColours(output))) throw new Error(`listed ${lastLines(output)}`);
}

/** The model searches, describes, calls and reads the rest of a long result. */
async function loop({ client, model, run }, script) {
  model.scripts[script] = clientScripts.loop;
  const output = await succeed(run(client.prompt(`Please run script:${script}`)), 'the client');
  const requests = model.requestsOf(script);
  const results = stepTurns(requests.at(-1)?.turns ?? []).map(({ result }) => result);
  const expected = ['notes__print_lines', '"count"', /\br_[A-Za-z0-9_-]{16}/, LAST_LINE];
  const missing = expected.findIndex((part, at) => {
    const text = (results[at] ?? '').replaceAll('\\"', '"');
    return typeof part === 'string' ? !text.includes(part) : !part.test(text);
  });
  if (missing !== -1) {
    const said = results[missing] ?? lastLines(output);
    throw new Error(`step ${missing + 1} of 4 failed: ${said.slice(0, 300)}`);
  }
  if (!output.includes('FINISHED')) throw new Error(`the client did not finish: ${lastLines(output)}`);
}

/** The first request to the model that has tools already has ours, without a search of the client. */
function seeTools({ model }) {
  const first = model.requestsOf('stdio').find(({ tools }) => tools.length > 0);
  if (first === undefined) throw new Error('the model got no request');
  if (findTool(first.tools, 'search_tools') === undefined)
    throw new Error(`the first request to the model has ${first.tools.length} tools, but not search_tools`);
}

/** Interrupting the client cancels its call at the server, and leaves the gateway running. */
async function cancel({ client, model, workspace, start }) {
  model.scripts.cancel = clientScripts.endless;
  const before = workspace.notesEvents('cancelled').length;
  const calls = workspace.notesEvents('call').length;
  const running = start(client.prompt('Please run script:cancel'));
  await Promise.race([
    waitFor('call at the server', () => workspace.notesEvents('call').length > calls),
    running.finished.then(({ output }) => {
      throw new Error(`the client ended before its call: ${lastLines(output)}`);
    }),
  ]);
  const gateway = await gatewayProcess(workspace);
  running.signal('SIGINT');
  await waitFor('cancellation', () => workspace.notesEvents('cancelled').length > before, 15_000);
  await running.finished;
  if ((await gatewayProcess(workspace)) !== gateway) throw new Error('the gateway did not survive');
}

/** The client that started the gateway exits while two others wait for their calls. */
async function share({ client, model, workspace, start }) {
  await workspace.trunkline('stop').catch(() => {}); // None may run.
  Object.assign(model.scripts, {
    first: clientScripts.short,
    second: clientScripts.shared,
    third: clientScripts.shared,
  });
  const started = workspace.notesEvents('started').length;
  const calls = workspace.notesEvents('call').length;
  // The first client answers to its model only when the others' calls are at the server.
  model.hold('first', () => workspace.notesEvents('call').length >= calls + 2);
  const first = start(client.prompt('Please run script:first'));
  const gateway = await waitFor('gateway', () => gatewayProcess(workspace));
  const others = ['second', 'third'].map((script) => start(client.prompt(`Please run script:${script}`)));
  for (const each of [first, ...others]) {
    const { output } = await each.finished;
    if (!output.includes('FINISHED')) throw new Error(`a client did not finish: ${lastLines(output)}`);
  }
  for (const script of ['second', 'third']) {
    const result = model.requestsOf(script).at(-1)?.turns.at(-1)?.result ?? 'none';
    if (!result.includes(`Waited for ${SHARED_CALL_MS} ms`))
      throw new Error(`a call in flight got lost when another client exited: ${result.slice(0, 200)}`);
  }
  if ((await gatewayProcess(workspace)) !== gateway)
    throw new Error('the gateway ended with the client that had started it');
  const servers = workspace.notesEvents('started').length - started;
  if (servers !== 1) throw new Error(`three clients started ${servers} copies of the server`);
}

async function gatewayProcess(workspace) {
  const { pid } = (await workspace.trunkline('status')) ?? {};
  return pid;
}

async function loopOverHttp(setting) {
  const { client, workspace, run } = setting;
  if (client.addHttp === undefined) throw new NotSupported('the client has no such command');
  await workspace.trunkline('stop').catch(() => {}); // None may run.
  await prepare(setting);
  writeNotesEntry(workspace);
  const gateway = workspace.start(['trunkline', 'serve', '--http', '127.0.0.1:0'], { timeoutMs: 300_000 });
  try {
    const url = await waitFor(
      'address of the gateway',
      () => /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(gateway.output())?.[0],
    );
    await succeed(run(client.addHttp('trunkline', url)), 'adding the address');
    await loop(setting, 'http');
  } finally {
    gateway.signal('SIGTERM');
    await gateway.finished.catch(() => {});
  }
}

/** Nothing runs once the gateway has been stopped. */
async function end({ workspace }) {
  await workspace.trunkline('stop').catch(() => {}); // None may run.
  const left = await workspace.processesLeft();
  if (left.length > 0) throw new Error(`still running: ${left.join(' · ').slice(0, 300)}`);
}

async function succeed(running, what) {
  const { code, output } = await running;
  if (code !== 0) throw new Error(`${what} failed with exit code ${code}: ${lastLines(output)}`);
  return output;
}

/** Turns the refusal of an unknown client into `NotSupported`. */
async function supported(work) {
  try {
    return await work;
  } catch (error) {
    if (/is not a supported client|neither a known client/.test(error.message))
      throw new NotSupported('Trunkline does not know this client');
    throw error;
  }
}

function withoutColours(text) {
  return text.replaceAll(/\u001b\[[\d;]*m/g, '');
}

function lastLines(text) {
  return withoutColours(text).trim().split('\n').slice(-3).join(' / ').slice(0, 300);
}
