import { cpSync, existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { installPackages } from '../../scripts/install-packages.mjs';

/** The npm package with a Node that every client accepts. */
const NEWER_NODE = '24.21.0';

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

/** Installs a client or server and returns the command that runs it. */
export async function installProgram({ package: name, version, bin, needsNewerNode = false }) {
  const folder = await install([`${name}@${version}`]);
  const packageFolder = join(folder, 'node_modules', name);
  const declared = JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')).bin;
  const file = typeof declared === 'string' ? declared : (declared[bin] ?? Object.values(declared)[0]);
  const program = join(packageFolder, file);
  if (!isScript(program)) return [program];
  return [needsNewerNode ? await installNode() : process.execPath, program];
}

/** Returns the path of a Node that every client accepts: this one, or a newer one from npm. */
async function installNode() {
  if (Number.parseInt(process.versions.node, 10) >= Number.parseInt(NEWER_NODE, 10)) return process.execPath;
  return join(await install([`node@${NEWER_NODE}`]), 'node_modules', 'node', 'bin', 'node');
}

/** Installs a library and returns the command that runs its program, which must be below the installed packages to find them. */
export async function installLibrary({ packages, program }) {
  const folder = await install(packages);
  const programs = join(folder, 'programs');
  cpSync(fileURLToPath(new URL('libraries', import.meta.url)), programs, { recursive: true });
  return [await installNode(), join(programs, program)];
}

function isScript(program) {
  return readFileSync(program).subarray(0, 2).toString('latin1') === '#!';
}
