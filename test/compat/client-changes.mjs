// What a real AI client notices of servers and tools that change. Each check throws if the client or Trunkline gets it wrong.

import { rmSync } from 'node:fs';
import { join } from 'node:path';

import { connectWith, NotSupported, runScript } from './client-details.mjs';
import { toEntry } from './gateway-loop.mjs';
import { lastLines } from './output.mjs';
import { findTool } from './scripted-model.mjs';

/** Long enough for a client to list the tools of Trunkline before the server is ready. */
const SLOW_START_MS = 2000;
const print = (server) => ({
  call: 'call_read_tool',
  args: { name: `${server}__print_lines`, arguments: { count: 3 } },
});
const PRINTED = 'This is line 2.';

/**
 * A session that begins after a server was added to Trunkline has the server. Clients may remember the tools of their last session. Records
 * what Trunkline sends in both sessions.
 */
export async function addServerBetweenSessions(setting) {
  const { client, workspace } = setting;
  await connectWith(setting, { notes: toEntry([...workspace.notesCommand, '--delay', `${SLOW_START_MS}`]) });
  rmSync(join(workspace.home, '.local/state/trunkline'), { recursive: true, force: true });
  const tap = workspace.tap(client.file);
  try {
    verifyPrinted(await runScript(setting, 'before-change', [print('notes')]));
    await workspace.trunkline('add', 'more', '--trust', '--', ...workspace.notesCommand);
    const after = await runScript(setting, 'after-change', [print('more')]);
    verifyPrinted(after);
    const first = after.requests.find(({ tools }) => findTool(tools, 'search_tools') !== undefined);
    if (!/\bmore\b/.test(findTool(first.tools, 'search_tools').description))
      throw new Error('the description of search_tools does not name the server that was added');
  } finally {
    tap.end();
    setting.sent = tap.sessions();
  }
}

function verifyPrinted({ turns, output }) {
  const result = turns.at(-1)?.result ?? lastLines(output);
  if (!result.includes(PRINTED)) throw new Error(`the call failed: ${result.slice(0, 300)}`);
}

/** In the sessions of `addServerBetweenSessions`, a server became ready, which changes no list of the exposure `search`. */
export function announceNothing({ sent }) {
  const listed = sent.filter((messages) => messages.some(({ result }) => Array.isArray(result?.tools)));
  if (listed.length < 2) throw new Error(`only ${listed.length} sessions listed tools`);
  const announced = sent.flat().flatMap(({ method }) => (method?.endsWith('list_changed') ? method : []));
  if (announced.length > 0) throw new Error(`Trunkline sent ${[...new Set(announced)].join(' and ')}`);
}

/** With `reveal`, the model calls a tool that it has described under its own name, in the same run. */
export async function revealTool(setting) {
  const { client, workspace } = setting;
  if (client.reveals !== true)
    throw new NotSupported('the client does not list tools again while a prompt runs, or has no sessions');
  await connectWith(setting, undefined, { expose: { kind: 'search', reveal: true } });
  const tool = 'notes__print_lines';
  const tap = workspace.tap(client.file);
  try {
    const isListed = () =>
      tap
        .sessions()
        .flat()
        .some(({ result }) => result?.tools?.some(({ name }) => name === tool));
    const steps = [
      { call: 'describe_tools', args: { names: [tool] } },
      // The client lists again while it waits for the model, so the request after this step has the tool.
      { call: 'search_tools', args: { query: 'lines' }, until: isListed },
      { call: tool, args: { count: 3 } },
    ];
    verifyPrinted(await runScript(setting, 'reveal', steps));
  } finally {
    tap.end();
  }
}
