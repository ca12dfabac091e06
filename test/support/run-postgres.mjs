// Creates a PostgreSQL server in a folder and stops it when a process exits: node run-postgres.mjs FOLDER PID.
// It leaves nothing behind, however that process ends.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chownSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { unusedPort } from './unused-port.mjs';

const [folder = '', pid = ''] = process.argv.slice(2);
const data = join(folder, 'data');

/** The server refuses to run as root; its package creates the user `postgres`. */
const owner = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};

/** The data of a test run need not survive a power cut. */
const settings = [
  "listen_addresses = '127.0.0.1'",
  "unix_socket_directories = ''",
  'fsync = off',
  'full_page_writes = off',
  'max_connections = 200',
  'shared_buffers = 32MB',
  'autovacuum = off',
  "log_destination = 'stderr'",
  // Includes the database name, to separate the statements of each database.
  "log_line_prefix = '%m [%p] %d '",
];

sweep();
try {
  if (owner.uid !== undefined) chownSync(folder, owner.uid, owner.gid);
  run(
    'initdb',
    '-D',
    data,
    '-U',
    'tester',
    '-A',
    'trust',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    // A sort order that differs from the byte order, as in most installations.
    '--locale-provider=icu',
    '--icu-locale=en',
    '--no-sync',
    '--no-instructions',
  );
  const port = await unusedPort();
  appendFileSync(join(data, 'postgresql.conf'), `${[...settings, `port = ${port}`].join('\n')}\n`);
  run('pg_ctl', '-D', data, '-w', '-t', '60', '-l', join(folder, 'log'), 'start');
  tell({ port, bin: bin(), ...owner });
  // Removing the file stops the server earlier.
  while (isAlive(Number(pid)) && existsSync(join(folder, 'ready.json'))) await delay(250);
} catch (error) {
  tell({ problem: String(error) });
  await delay(5000);
} finally {
  end(folder);
}

function tell(what) {
  writeFileSync(join(folder, 'telling'), JSON.stringify(what));
  renameSync(join(folder, 'telling'), join(folder, 'ready.json'));
}

function end(of) {
  spawnSync(join(bin(), 'pg_ctl'), ['-D', join(of, 'data'), '-m', 'immediate', 'stop'], {
    ...owner,
    cwd: '/',
  });
  rmSync(of, { recursive: true, force: true, maxRetries: 5 });
}

/** Removes the folders of servers whose runner was killed. */
function sweep() {
  const mine = basename(folder);
  for (const name of readdirSync(dirname(folder))) {
    const of = /^trunkline-postgres-(\d+)(?:-|$)/.exec(name)?.[1];
    if (of !== undefined && name !== mine && !isAlive(Number(of))) end(join(dirname(folder), name));
  }
}

function run(program, ...args) {
  execFileSync(join(bin(), program), args, {
    ...owner,
    cwd: '/',
    stdio: 'ignore',
    env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
  });
}

function bin() {
  const root = '/usr/lib/postgresql';
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : [];
  const found = [...versions.map((each) => join(root, each, 'bin')), ...(process.env.PATH ?? '').split(':')];
  const where = found.find((each) => existsSync(join(each, 'initdb')));
  if (where === undefined)
    throw new Error('PostgreSQL is not installed; on Debian: apt-get install postgresql');
  return where;
}

function idOf(flag) {
  const { status, stdout } = spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' });
  return status === 0 ? Number(stdout) : 65_534;
}

function isAlive(process_) {
  try {
    return process.kill(process_, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
