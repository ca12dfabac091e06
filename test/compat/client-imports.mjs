// Whether Trunkline carries over the settings of servers that the client's own command wrote.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { parse } from 'jsonc-parser';

import { NotSupported, prepare } from './client-details.mjs';
import { succeed } from './output.mjs';

/** Nothing answers at this address, and nothing connects to it. */
const ADDRESS = 'http://127.0.0.1:9/mcp';
const VARIABLE = { COMPAT_MODE: 'imported' };
const HEADER = { 'X-Compat': 'imported' };
const TOOLS = ['print_lines', 'wait'];

/** The settings that commands of clients write: the flag of the client, the server, and the member that Trunkline must write for it. */
const settings = [
  {
    flag: 'variable',
    title: 'variables',
    values: Object.entries(VARIABLE)[0],
    member: 'env',
    wanted: VARIABLE,
  },
  {
    flag: 'header',
    title: 'headers',
    isRemote: true,
    values: Object.entries(HEADER)[0],
    member: 'headers',
    wanted: HEADER,
  },
  {
    flag: 'token',
    title: 'token',
    isRemote: true,
    values: ['COMPAT_TOKEN'],
    member: 'headers',
    wanted: { Authorization: 'Bearer ${env:COMPAT_TOKEN}' },
  },
  { flag: 'tools', title: 'tools', values: [TOOLS], member: 'tools', wanted: { allow: TOOLS } },
];

/** Returns the settings that the client's command can write, all of which were imported. */
export async function importSettings(setting) {
  const { client, workspace, run } = setting;
  const tried = settings.filter(({ flag }) => client.flags?.[flag] !== undefined);
  if (tried.length === 0) throw new NotSupported('the client has no command that writes settings');
  await prepare(setting);
  for (const { flag, title, isRemote, values } of tried) {
    const options = client.flags[flag](...values);
    const args = isRemote
      ? client.addHttp(title, ADDRESS, options)
      : client.addStdio(title, workspace.notesCommand, options);
    await succeed(run(args), `adding a server with ${title}`);
  }
  const written = await importFrom(setting);
  for (const { title, member, wanted } of tried)
    if (!isDeepStrictEqual(written[title]?.[member], wanted))
      throw new Error(`imported ${JSON.stringify(written[title])} of a server with ${title}`);
  return tried.map(({ title }) => title).join(', ');
}

/** Returns the servers that `trunkline import` writes to a new configuration. */
export async function importFrom({ client, workspace }) {
  const folder = join(workspace.home, 'imported');
  rmSync(folder, { recursive: true, force: true });
  workspace.environment.TRUNKLINE_HOME = folder;
  try {
    await workspace.trunkline('import', '--from', client.id, '--yes', '--trust');
    if (!workspace.exists('imported/config.jsonc')) throw new Error('found no server');
    return parse(workspace.read('imported/config.jsonc')).mcpServers;
  } finally {
    delete workspace.environment.TRUNKLINE_HOME;
  }
}
