// What a real AI client must be able to do with Trunkline. Each check throws if the client cannot do it.

import { isDeepStrictEqual } from 'node:util';

import { addServerBetweenSessions, announceNothing, revealTool } from './client-changes.mjs';
import {
  addServer,
  callDirectly,
  followRules,
  loadAmongMany,
  nameServers,
  nameTools,
  NotSupported,
  prepare,
  splitServers,
  startFirst,
  tellServer,
} from './client-details.mjs';
import { importFrom, importSettings } from './client-imports.mjs';
import {
  loopScript,
  stopGateway,
  toEntry,
  verifyConversation,
  verifyFinished,
  verifyNothingRuns,
  withHttpGateway,
  writeGatewayConfig,
} from './gateway-loop.mjs';
import { lastLines, succeed, withoutColours } from './output.mjs';
import { waitFor } from './workspace.mjs';

/** Columns of the table, in order. */
export const clientChecks = {
  import: 'import',
  settings: 'settings',
  connect: 'connect',
  undo: 'undo',
  list: 'list',
  stdio: 'stdio',
  named: 'servers named',
  told: 'declared to servers',
  cancel: 'cancel',
  share: 'share',
  http: 'http',
  variables: 'variables',
  first: 'first start',
  visible: 'loaded',
  names: 'longest name',
  rules: 'rules',
  split: 'split',
  added: 'added server',
  quiet: 'quiet',
  reveal: 'reveal',
  end: 'end',
};

const SHARED_CALL_MS = 8000;

/** Scripts of the model; a prompt selects one of them by `script:NAME`. */
const clientScripts = {
  short: [{ call: 'search_tools', args: { query: 'wait' } }, { say: 'FINISHED' }],
  shared: [
    { call: 'call_read_tool', args: { name: 'notes__wait', arguments: { ms: SHARED_CALL_MS } } },
    { say: 'FINISHED' },
  ],
  variables: [
    { call: 'call_read_tool', args: { name: 'variables__show_variable', arguments: {} } },
    { say: 'FINISHED' },
  ],
  endless: [
    { call: 'call_read_tool', args: { name: 'notes__wait', arguments: { ms: 100_000 } } },
    { say: 'FINISHED' },
  ],
};

/** Runs a check and reports its outcome with the text that it returns, if any. Resolves with whether it passed. */
export async function runCheck(name, work, report) {
  try {
    report(name, 'yes', await work());
    return true;
  } catch (error) {
    report(name, error instanceof NotSupported ? 'n/a' : 'no', error.message);
    return false;
  }
}

/** Runs all checks of one client in one workspace. Calls `report(check, outcome, note)` after each. */
export async function checkClient(client, { command, model, workspace, report }) {
  const setting = {
    client,
    model,
    workspace,
    run: (args, options) => workspace.run([...command, ...args], options),
  };
  setting.start = (args) => workspace.start([...command, ...args]);
  // Set from the start, because Cline keeps a process that starts servers with the environment of its first start.
  Object.assign(workspace.environment, { COMPAT_TOKEN: 'handed over' }, client.environment?.(model));
  const check = (name, work) => runCheck(name, () => work(setting), report);
  await check('settings', importSettings);
  await prepare(setting);
  await addServer(setting, 'notes', workspace.notesCommand);
  if (client.needsAccount !== true) await callDirectly(setting);
  await check('import', importWritten);
  const isConnected = (await check('connect', connect)) && (await check('undo', undo));
  if (!isConnected) await connectByHand(setting);
  await check('list', list);
  if (client.needsAccount === true) return check('end', () => verifyNothingRuns(workspace));
  await check('stdio', () => loop(setting, 'stdio'));
  await check('named', nameServers);
  await check('told', tellServer);
  await check('cancel', cancel);
  await check('share', share);
  await check('http', loopOverHttp);
  const afterConnect = {
    variables: passVariables,
    first: startFirst,
    visible: loadAmongMany,
    names: nameTools,
    rules: followRules,
    split: splitServers,
    added: addServerBetweenSessions,
    quiet: announceNothing,
    reveal: revealTool,
  };
  if (isConnected) for (const [name, work] of Object.entries(afterConnect)) await check(name, work);
  await check('end', () => verifyNothingRuns(workspace));
}

/** Trunkline understands what the client's own command wrote. */
async function importWritten(setting) {
  const { notes } = await supported(importFrom(setting));
  const imported = [notes?.command, ...(notes?.args ?? [])];
  if (!isDeepStrictEqual(imported, setting.workspace.notesCommand))
    throw new Error(`imported ${JSON.stringify(imported)}`);
}

async function connect({ client, workspace }) {
  const { moved } = await supported(workspace.trunkline('connect', client.id, '--yes', '--trust'));
  if (!isDeepStrictEqual(moved, ['notes']))
    throw new Error(`moved the servers ${JSON.stringify(moved)} instead of ["notes"]`);
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
  const { workspace } = setting;
  await prepare(setting);
  writeGatewayConfig(workspace);
  await addServer(setting, 'trunkline', ['trunkline', 'serve']);
}

async function list({ client, run }) {
  if (client.list === undefined) throw new NotSupported('the client has no such command');
  const output = await succeed(run(client.list), client.list.join(' '));
  if (!client.listed.test(withoutColours(output))) throw new Error(`listed ${lastLines(output)}`);
  return client.listsWithoutConnecting === true ? 'entry' : undefined;
}

/** The model searches, describes, calls and reads the rest of a long result. */
async function loop({ client, model, run }, script) {
  model.scripts[script] = loopScript;
  const output = await succeed(run(client.prompt(`Please run script:${script}`, model)), 'the client');
  verifyConversation(model, script, output);
}

/** Interrupting the client cancels its call at the server, and leaves the gateway running. */
async function cancel({ client, model, workspace, start }) {
  model.scripts.cancel = clientScripts.endless;
  const before = workspace.notesEvents('cancelled').length;
  const calls = workspace.notesEvents('call').length;
  const running = start(client.prompt('Please run script:cancel', model));
  await Promise.race([
    waitFor('call at the server', () => workspace.notesEvents('call').length > calls),
    running.finished.then(({ output }) => {
      throw new Error(`the client ended before its call: ${lastLines(output)}`);
    }),
  ]);
  const gateway = await gatewayProcess(workspace);
  running.signal('SIGINT');
  await waitFor('cancellation', () => workspace.notesEvents('cancelled').length > before);
  await running.finished;
  if ((await gatewayProcess(workspace)) !== gateway) throw new Error('the gateway did not survive');
}

/** The client that started the gateway exits while two others wait for their calls. */
async function share({ client, model, workspace, start }) {
  await stopGateway(workspace);
  Object.assign(model.scripts, {
    first: clientScripts.short,
    second: clientScripts.shared,
    third: clientScripts.shared,
  });
  const started = workspace.notesEvents('started').length;
  const calls = workspace.notesEvents('call').length;
  // The first client answers to its model only when the others' calls are at the server.
  model.hold('first', () => workspace.notesEvents('call').length >= calls + 2);
  const first = start(client.prompt('Please run script:first', model));
  const gateway = await waitFor('gateway', () => gatewayProcess(workspace));
  const others = ['second', 'third'].map((script) =>
    start(client.prompt(`Please run script:${script}`, model)),
  );
  for (const each of [first, ...others]) {
    const { output } = await each.finished;
    verifyFinished(output);
  }
  for (const script of ['second', 'third']) {
    const result = model.turnsOf(script).at(-1)?.result ?? 'none';
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
  await prepare(setting);
  writeGatewayConfig(workspace);
  await withHttpGateway(workspace, async (address) => {
    if (client.addHttp === undefined) client.writeHttp(workspace, 'trunkline', address);
    else await succeed(run(client.addHttp('trunkline', address)), 'adding the address');
    await loop(setting, 'http');
  });
}

/** A variable of the client reaches a server whose configuration refers to it. Clients withhold names that look secret. */
async function passVariables(setting) {
  const { client, model, workspace, run } = setting;
  await prepare(setting);
  const env = { COMPAT_TOKEN: '${env:COMPAT_TOKEN}' };
  writeGatewayConfig(workspace, { variables: { ...toEntry(workspace.notesCommand), env } });
  await workspace.trunkline('connect', client.id, '--yes', '--trust');
  model.scripts.variables = clientScripts.variables;
  const output = await succeed(run(client.prompt('Please run script:variables', model)), 'the client');
  const result = model.turnsOf('variables').at(-1)?.result;
  if (result?.includes('The variable is handed over.') !== true)
    throw new Error(`the server did not get the variable: ${(result ?? lastLines(output)).slice(0, 300)}`);
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
