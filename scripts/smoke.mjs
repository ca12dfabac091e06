// npm run smoke: installs the packed package into an empty folder and runs it there, as a user would.
// `npm run smoke -- FILE` tests an existing tarball instead of packing the working tree.

import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { build } from './build.mjs';
import { ensure } from './ensure.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const isWindows = process.platform === 'win32';

const [givenTarball] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'trunkline-smoke-'));
try {
  const tarball = givenTarball === undefined ? await pack() : resolve(givenTarball);
  testPackage(install(tarball));
  testGlobalInstallation(tarball);
} finally {
  // Windows releases the files of a process only some time after it has exited.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}

/** Returns the path of a tarball of the working tree. */
async function pack() {
  ensure();
  await build();
  // The build is up to date, so the prepack script would only repeat it.
  run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], { cwd: root });
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  );
}

/** Installs the tarball and its dependencies, and returns the folder of the installation. */
function install(tarball) {
  const installation = join(folder, 'installation');
  mkdirSync(installation);
  writeFileSync(join(installation, 'package.json'), '{ "private": true }');
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball], { cwd: installation });
  return installation;
}

function testPackage(installation) {
  const manifest = join(installation, 'node_modules', 'trunkline', 'package.json');
  const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
  const program = join(installation, 'node_modules', '.bin', isWindows ? 'trunkline.cmd' : 'trunkline');
  const env = { ...process.env, TRUNKLINE_HOME: join(folder, 'home'), TRUNKLINE_CONFIG: writeConfig() };
  const trunkline = (...args) => run(program, args, { cwd: installation, env });
  console.log(`smoke: trunkline ${version}, Node ${process.version}, ${process.platform} ${process.arch}`);

  strictEqual(trunkline('--version').trim(), version);
  console.log('smoke: --version prints the version of the package');

  match(trunkline('--help'), /^Usage: trunkline /);
  console.log('smoke: --help prints the usage');

  const result = JSON.parse(trunkline('call', 'plain', 'echo', 'text=two words', '--json'));
  deepStrictEqual(result, { content: [{ type: 'text', text: 'two words' }] });
  console.log('smoke: call returns the result of a tool');

  // The audit log is in the database, whose driver has a separate binary for each platform.
  const record = JSON.parse(trunkline('logs', '--json'));
  deepStrictEqual(
    record.map(({ server, entry, outcome }) => ({ server, entry, outcome })),
    [{ server: 'plain', entry: 'echo', outcome: 'ok' }],
  );
  console.log('smoke: logs shows the call');
}

/** `npx` and `npm install --global`, then an update and the removal, as docs/install.md describes them. */
function testGlobalInstallation(tarball) {
  const prefix = join(folder, 'global');
  const home = join(folder, 'global-home');
  mkdirSync(home);
  const env = { ...process.env, npm_config_prefix: prefix, TRUNKLINE_HOME: home, HOME: home };
  const program = isWindows ? join(prefix, 'trunkline.cmd') : join(prefix, 'bin', 'trunkline');
  const offline = ['--prefer-offline', '--no-audit', '--no-fund'];

  match(
    run('npm', ['exec', '--yes', ...offline, `--package=${tarball}`, '--', 'trunkline', '--help'], {
      cwd: home,
      env,
    }),
    /^Usage: trunkline /,
  );
  console.log('smoke: npx runs it without an installation');

  // The second installation is the update.
  for (const step of ['installs', 'updates']) {
    run('npm', ['install', '--global', ...offline, tarball], { cwd: home, env });
    match(run(program, ['--help'], { cwd: home, env }), /^Usage: trunkline /);
    console.log(`smoke: npm install --global ${step} it`);
  }

  run(program, ['connect', 'cursor', '--yes'], { cwd: home, env });
  const { clients } = JSON.parse(run(program, ['uninstall', '--yes', '--json'], { cwd: home, env }));
  deepStrictEqual(clients, ['cursor']);
  strictEqual(existsSync(join(home, 'state')), false);
  run('npm', ['rm', '--global', 'trunkline'], { cwd: home, env });
  strictEqual(existsSync(program), false);
  console.log('smoke: uninstall restores the client and deletes the state, and npm rm removes the program');
}

/** Writes a configuration with one stdio server, and returns its path. */
function writeConfig() {
  const server = join(root, 'test', 'support', 'servers', 'plain.mjs');
  const config = join(folder, 'trunkline.jsonc');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { plain: { command: process.execPath, args: [server] } } }),
  );
  return config;
}

/** Runs a command and returns its standard output; throws with all of its output if it fails. */
function run(command, args, options) {
  const settings = { ...options, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 };
  // npm and the programs it installs are batch files on Windows, which only a shell can run.
  const { status, signal, stdout, stderr, error } = isWindows
    ? spawnSync([command, ...args].map((word) => `"${word}"`).join(' '), { ...settings, shell: true })
    : spawnSync(command, args, settings);
  if (status === 0) return stdout;
  const reason = error?.message ?? (signal === null ? `exit code ${status}` : `signal ${signal}`);
  throw new Error(`${command} ${args.join(' ')} failed: ${reason}\n${stdout}${stderr}`);
}
