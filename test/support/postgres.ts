import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';

import pg from 'pg';

import { type Statement, loggedDatabase, statementsOf } from '../../bench/fleet/statements.mjs';
import type { PostgresServer } from '../../src/core/storage/store-location.ts';
import { eventually } from './eventually.ts';

/** A real PostgreSQL server, detached from the test process; it stops when the process it was started for exits. */
export interface PostgresCluster extends AsyncDisposable {
  readonly port: number;
  /** Creates an empty schema. */
  newSchema(): Promise<PostgresServer>;
  /** Creates an empty database whose statements are logged. */
  newLoggedDatabase(): Promise<LoggedDatabase>;
  /** Stops it immediately, like a crash. */
  stop(): void;
  start(): void;
}

interface LoggedDatabase {
  readonly url: string;
  /** Returns all statements that were answered so far. */
  statements(): readonly Statement[];
}

interface Ready {
  readonly port: number;
  readonly bin: string;
  readonly uid?: number;
  readonly gid?: number;
  readonly problem?: string;
}

const RUN_POSTGRES = fileURLToPath(new URL('run-postgres.mjs', import.meta.url));

/** Returns the server of this test run, which the first caller starts; each test uses its own schemas. */
export function sharedPostgres(): Promise<PostgresCluster> {
  const runner = isMainThread ? process.ppid : process.pid;
  return cluster(join(tmpdir(), `trunkline-postgres-${runner}`), runner);
}

/** Starts a separate server, which the test may stop and start. */
export function startOwnPostgres(): Promise<PostgresCluster> {
  const name = `trunkline-postgres-${process.pid}-${randomBytes(4).toString('hex')}`;
  return cluster(join(tmpdir(), name), process.pid);
}

async function cluster(folder: string, pid: number): Promise<PostgresCluster> {
  if (isNew(folder)) {
    // Through a shell, so that it is not our child, and without our environment, so that the leak check does not find it.
    spawnSync(
      'sh',
      ['-c', '"$0" "$@" >/dev/null 2>&1 &', process.execPath, RUN_POSTGRES, folder, String(pid)],
      {
        env: { PATH: process.env['PATH'] },
        stdio: 'ignore',
      },
    );
  }
  const file = join(folder, 'ready.json');
  await eventually(
    () => {
      if (!existsSync(file)) throw new Error('PostgreSQL is not there yet.');
    },
    { withinMs: 60_000, what: 'Starting PostgreSQL' },
  );
  const ready = JSON.parse(readFileSync(file, 'utf8')) as Ready;
  if (ready.problem !== undefined) throw new Error(ready.problem);
  return clusterOf(folder, ready);
}

function clusterOf(folder: string, { port, bin, uid, gid }: Ready): PostgresCluster {
  const base = `postgres://tester@127.0.0.1:${port}/postgres`;
  const control = (...args: readonly string[]): void => {
    execFileSync(join(bin, 'pg_ctl'), ['-D', join(folder, 'data'), '-w', ...args], {
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
      cwd: '/',
      stdio: 'ignore',
      env: {
        PATH: process.env['PATH'],
        LC_ALL: 'C.UTF-8',
      },
    });
  };
  return {
    port,
    async newSchema() {
      const schema = newName();
      await run(base, [`create schema ${schema}`]);
      const url = `${base}?options=${encodeURIComponent(`-c search_path=${schema}`)}`;
      return { url, poolSize: 4, connectTimeoutMs: 5000, statementTimeoutMs: 15_000 };
    },
    async newLoggedDatabase() {
      const name = newName();
      await run(base, loggedDatabase(name));
      const url = base.replace(/[^/]*$/, name);
      return { url, statements: () => statementsOf(readFileSync(join(folder, 'log'), 'utf8'), name) };
    },
    stop: () => control('-m', 'immediate', 'stop'),
    start: () => control('-l', join(folder, 'log'), 'start'),
    async [Symbol.asyncDispose]() {
      control('-m', 'immediate', 'stop');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function newName(): string {
  return `t${randomBytes(8).toString('hex')}`;
}

async function run(url: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  for (const statement of statements) await client.query(statement);
  await client.end();
}

function isNew(folder: string): boolean {
  try {
    mkdirSync(folder, { mode: 0o700 });
    return true;
  } catch {
    return false; // Another test file has created it.
  }
}
