// Installs the packages of package-lock.json if node_modules does not contain them yet.

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lockFile = join(root, 'package-lock.json');
const stampFile = join(root, 'node_modules', '.trunkline-lock');

export function ensure() {
  requireNode();
  const text = readFileSync(lockFile, 'utf8');
  const hash = createHash('sha256').update(text).digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === hash) return;
  if (!isInstalled(text)) {
    process.stderr.write('ensure: installing packages\n');
    install();
  }
  writeFileSync(stampFile, hash);
}

function requireNode() {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const wanted = /^>=(\d+)\.(\d+)$/.exec(engines.node);
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > Number(wanted[1]) || (major === Number(wanted[1]) && minor >= Number(wanted[2]))) return;
  fail(`This is Node ${process.versions.node}, but ${engines.node} is required. Install a newer Node.`);
}

/** Whether an installation made by hand already has every package at its locked version. */
function isInstalled(lockText) {
  const hiddenLock = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hiddenLock)) return false;
  const { packages: wanted } = JSON.parse(lockText);
  const { packages: present } = JSON.parse(readFileSync(hiddenLock, 'utf8'));
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === '') return true;
    if (present[path] === undefined) return optional === true;
    return present[path].version === version && existsSync(join(root, path, 'package.json'));
  });
}

/** `npm ci` installs exactly the locked versions, and fails if the lockfile and package.json disagree. */
function install() {
  const { status, error } = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: root,
    // Standard output is reserved for the command that needs the packages.
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (error !== undefined) fail(`Could not start npm: ${error.message}`);
  if (status !== 0) fail(`npm ci failed with exit code ${status}. See its output above.`);
}

function fail(message) {
  process.stderr.write(`ensure: ${message}\n`);
  process.exit(1);
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) ensure();
