import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import pg from 'pg';

import { childrenOf, cpuMicroseconds } from '../lib/proc.mjs';
import { loggedDatabase, statementsOf } from './statements.mjs';

const runPostgres = fileURLToPath(new URL('../../test/support/run-postgres.mjs', import.meta.url));
const READY_WITHIN_MS = 60_000;
const GONE_WITHIN_MS = 10_000;
const LOOK_EVERY_MS = 50;
const NOT_INSTALLED = 'is not installed';

/** Starts the server that the tests use as well; it runs until it is closed or this process ends. `absent` is the reason if there is none. */
export async function startPostgres() {
  // Not in the folder of the run, which only this user can read: the server does not run as root.
  const folder = mkdtempSync(join(tmpdir(), `trunkline-postgres-${process.pid}-`));
  const ready = join(folder, 'ready.json');
  spawnSync(
    'sh',
    ['-c', '"$0" "$@" >/dev/null 2>&1 &', process.execPath, runPostgres, folder, String(process.pid)],
    {
      env: { PATH: process.env.PATH },
      stdio: 'ignore',
    },
  );
  const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  const close = async () => {
    rmSync(ready, { force: true });
    if (!(await until(() => !existsSync(folder), GONE_WITHIN_MS))) remove();
  };
  if (!(await until(() => existsSync(ready), READY_WITHIN_MS))) throw new Error('PostgreSQL did not start');
  const { port, problem } = JSON.parse(readFileSync(ready, 'utf8'));
  if (problem?.includes(NOT_INSTALLED))
    return { absent: `PostgreSQL ${NOT_INSTALLED}`, close: async () => remove() };
  if (problem !== undefined) throw new Error(problem);
  const base = `postgres://tester@127.0.0.1:${port}`;
  const [main] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n', 1);
  return {
    close,
    /** Creates an empty database whose statements are logged. */
    async newDatabase() {
      const name = `b${randomBytes(8).toString('hex')}`;
      const client = new pg.Client(`${base}/postgres`);
      await client.connect();
      for (const statement of loggedDatabase(name)) await client.query(statement);
      await client.end();
      const more = reader(join(folder, 'log'));
      const known = [];
      return {
        url: `${base}/${name}`,
        /** All statements so far. */
        statements() {
          known.push(...statementsOf(more(), name));
          return known;
        },
      };
    },
    /** CPU time of all its current processes; undefined without /proc. */
    cpu() {
      const times = [Number(main), ...childrenOf(Number(main))].map((pid) => cpuMicroseconds(pid));
      return times.every((time) => time === undefined)
        ? undefined
        : times.reduce((sum, time) => sum + (time ?? 0), 0);
    },
  };
}

/** Returns a function that reads the complete lines added since the last call. */
function reader(file) {
  let at = 0;
  return () => {
    const handle = openSync(file, 'r');
    try {
      const bytes = Buffer.alloc(Math.max(0, fstatSync(handle).size - at));
      const read = bytes.subarray(0, readSync(handle, bytes, 0, bytes.length, at));
      const whole = read.subarray(0, read.lastIndexOf(10) + 1);
      at += whole.length;
      return whole.toString();
    } finally {
      closeSync(handle);
    }
  };
}

async function until(check, withinMs) {
  const end = Date.now() + withinMs;
  while (!check()) {
    if (Date.now() > end) return false;
    await sleep(LOOK_EVERY_MS);
  }
  return true;
}
