import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { installPackages } from '../../scripts/install-packages.mjs';

/** The npm package with a Node for clients that refuse older ones. */
const NODE_FOR_CLIENTS = 'node@22.23.3';

export const cache =
  process.env.TRUNKLINE_COMPAT_CACHE ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'trunkline-compat');

/** Installs exact versions of packages into the cache, unless they are there. Returns their folder. */
async function install(packages) {
  const folder = join(cache, packages.join('_').replaceAll('/', '+'));
  if (!existsSync(folder)) {
    console.log(`installing ${packages.join(' and ')}`);
    await installPackages(folder, packages);
  }
  return folder;
}

/** Installs a client and returns the command that runs it. */
export async function installClient({ package: name, version, bin, needsNode22 = false }) {
  const folder = await install([`${name}@${version}`]);
  const packageFolder = join(folder, 'node_modules', name);
  const declared = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')).bin;
  const program = join(packageFolder, typeof declared === 'string' ? declared : declared[bin]);
  if (!isScript(program)) return [program];
  return [needsNode22 ? await installNode() : process.execPath, program];
}

/** Returns the path of a Node that every client accepts. */
async function installNode() {
  if (Number.parseInt(process.versions.node, 10) >= 22) return process.execPath;
  return join(await install([NODE_FOR_CLIENTS]), 'node_modules', 'node', 'bin', 'node');
}

function isScript(program) {
  return readFileSync(program).subarray(0, 2).toString('latin1') === '#!';
}
