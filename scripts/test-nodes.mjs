// npm run test:nodes: runs the unit tests and selected integration tests on the supported versions of Node.
// `npm run test:nodes -- 24` runs them on one version.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';
import { ensure } from './ensure.mjs';

/** Versions of the npm package `node`. `npm view node versions` lists newer ones. */
export const nodeVersions = ['22.23.3', '24.21.0', '26.10.0'];

/** Integration tests of the command line, stdio, HTTP, the database and the sandbox. */
export const smokeTests = [
  'test/integration/cli/calls.test.ts',
  'test/integration/cli/compile-cache.test.ts',
  'test/integration/downstream/stdio.test.ts',
  'test/integration/downstream/http.test.ts',
  'test/integration/audit/commands.test.ts',
  'test/system/faults/damaged-state.test.ts',
  'test/integration/code-sandbox/language.test.ts',
];

const script = fileURLToPath(import.meta.url);
const root = join(script, '..', '..');
const program = join(root, 'dist', 'main.js');
const vitest = [
  join(root, 'node_modules', 'vitest', 'vitest.mjs'),
  'run',
  `--reporter=${join(root, 'scripts', 'test-reporter.ts')}`,
];
/** Outside of node_modules, so that `npm ci` does not remove 200 MB per version. */
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'trunkline-nodes');

async function main() {
  const versions = selectVersions(process.argv.slice(2));
  const missing = smokeTests.filter((file) => !existsSync(join(root, file)));
  if (missing.length > 0)
    throw new Error(`scripts/test-nodes.mjs names tests that do not exist: ${missing.join(', ')}`);
  ensure();
  await build();
  const rows = versions.map((version) => ({ version, ...testOn(version) }));
  console.log(`\n${resultTable(rows)}`);
  process.exitCode = rows.every(({ unit, smoke }) => unit === 'passed' && smoke === 'passed') ? 0 : 1;
}

/** Returns the versions that the arguments name, by major version or in full; without arguments, returns all. */
export function selectVersions(args) {
  const unknown = args.filter((arg) => !nodeVersions.some((version) => isNamed(version, arg)));
  if (unknown.length > 0)
    throw new Error(
      `Unknown version of Node: ${unknown.join(', ')}. Choose from ${nodeVersions.join(', ')}.`,
    );
  return nodeVersions.filter((version) => args.length === 0 || args.some((arg) => isNamed(version, arg)));
}

function isNamed(version, arg) {
  return version === arg || version.startsWith(`${arg}.`);
}

function testOn(version) {
  console.log(`\n== Node ${version}`);
  const node = install(version);
  if (node === undefined) return { unit: 'not installed', smoke: 'not installed' };
  return {
    unit: run(node, [...vitest, '--project', 'unit']) ? 'passed' : 'FAILED',
    smoke: smoke(node) ? 'passed' : 'FAILED',
  };
}

/** Installs a version and returns the path of its binary, or undefined if that fails. */
function install(version) {
  const name = platformPackage(process.platform, process.arch);
  const folder = join(cache, version);
  if (!isVersion(binaryIn(folder, name), version)) {
    mkdirSync(folder, { recursive: true });
    const { status } = spawnSync(
      'npm',
      [
        'install',
        '--prefix',
        folder,
        '--no-save',
        '--no-package-lock',
        '--ignore-scripts',
        `${name}@${version}`,
      ],
      { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' },
    );
    if (status !== 0 || !isVersion(binaryIn(folder, name), version)) {
      console.error(
        `Node ${version} cannot be installed: npm could not install ${name}@${version} into ${folder}. ` +
          'Check the connection to the npm registry and that this version exists for this platform.',
      );
      return undefined;
    }
  }
  return binaryIn(folder, name);
}

/** Returns the name of the package with the binary. The package `node` itself is only a script that installs it. */
export function platformPackage(platform, arch) {
  const prefix = platform === 'darwin' && arch === 'arm64' ? 'node-bin' : 'node';
  return `${prefix}-${platform === 'win32' ? 'win' : platform}-${arch}`;
}

function binaryIn(folder, name) {
  const installed = join(folder, 'node_modules', name);
  const manifest = join(installed, 'package.json');
  return existsSync(manifest)
    ? join(installed, JSON.parse(readFileSync(manifest, 'utf8')).bin.node)
    : undefined;
}

function isVersion(node, version) {
  return node !== undefined && output(node, ['--version'], process.env) === `v${version}\n`;
}

function smoke(node) {
  const checks = [printsVersion(node), keepsCode(node), run(node, [...vitest, ...smokeTests])];
  return checks.every(Boolean);
}

function printsVersion(node) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return check(
    'trunkline --version prints its version only',
    () => output(node, [program, '--version'], process.env) === `${version}\n`,
  );
}

/** Checks the code cache, which Node 22 and newer write by themselves once the program has set the folder. */
function keepsCode(node) {
  const home = mkdtempSync(join(tmpdir(), 'trunkline-nodes-'));
  try {
    mkdirSync(join(home, 'state'), { mode: 0o700 });
    return check('trunkline --help caches its compiled code in the state folder', () => {
      output(node, [program, '--help'], { ...process.env, TRUNKLINE_HOME: home });
      const code = join(home, 'state', 'code');
      return existsSync(code) && readdirSync(code).length > 0;
    });
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function check(title, isMet) {
  const hasPassed = isMet();
  console.log(`${hasPassed ? 'ok    ' : 'FAILED'} ${title}`);
  return hasPassed;
}

/** Returns standard output, or undefined if the command failed or wrote to standard error. */
function output(node, args, env) {
  const { status, stdout, stderr } = spawnSync(node, args, { env, encoding: 'utf8' });
  if (stderr) console.error(stderr);
  return status === 0 && stderr === '' ? stdout : undefined;
}

/** Runs a script with this version of Node. Child processes that are started as `node` use it, too. */
function run(node, args) {
  const path = `${dirname(node)}${delimiter}${process.env.PATH ?? ''}`;
  const { status } = spawnSync(node, args, {
    cwd: root,
    stdio: 'inherit',
    env: { ...process.env, PATH: path },
  });
  return status === 0;
}

export function resultTable(rows) {
  const lines = [{ version: 'node', unit: 'unit', smoke: 'smoke' }, ...rows];
  const width = (column) => Math.max(...lines.map((line) => line[column].length));
  const [version, unit] = [width('version'), width('unit')];
  return lines
    .map((line) => `${line.version.padEnd(version)}  ${line.unit.padEnd(unit)}  ${line.smoke}`)
    .join('\n');
}

if (realpathSync(process.argv[1]) === script) {
  try {
    await main();
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
