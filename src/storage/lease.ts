import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

import type { Database } from './database.ts';
import { storeError } from './store-error.ts';

interface LeaseOptions {
  readonly database: Database;
  readonly name: string;
  /** Longer than the work can take; whoever dies with it holds others up for no longer. */
  readonly forMs: number;
  readonly pid: number;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** How long to wait between two attempts. */
  readonly pauseMs?: number;
  /** Whether the process lives; a parameter for tests. */
  readonly isAlive?: (pid: number) => boolean;
}

const PAUSE_MS = 25;

/** Does the work while no other process does the same, waiting for its turn; `lost` says that another one may begin. */
export async function withLease<T>(
  options: LeaseOptions,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const { leases } = options.database;
  const { name, forMs, pauseMs, signal } = options;
  if (leases === undefined) return withRow(options, work);
  return leases.hold({ name, giveUpAfterMs: 2 * forMs, pauseMs, signal }, work);
}

/** The lease is a row that expires. */
async function withRow<T>(options: LeaseOptions, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
  const owner = `${hostname()}/${options.pid}/${randomUUID()}`;
  const giveUpAt = performance.now() + 2 * options.forMs;
  while (!(await acquire(options, owner))) {
    options.signal.throwIfAborted();
    if (performance.now() > giveUpAt) throw storeError('busy', {});
    await delay((options.pauseMs ?? PAUSE_MS) * (0.5 + Math.random()), undefined, { signal: options.signal });
  }
  try {
    return await work(new AbortController().signal);
  } finally {
    const { query } = options.database;
    await query.deleteFrom('leases').where('name', '=', options.name).where('owner', '=', owner).execute();
  }
}

async function acquire(options: LeaseOptions, owner: string): Promise<boolean> {
  const { database, name, forMs, now } = options;
  return database.query.transaction().execute(async (transaction) => {
    const held = await transaction
      .selectFrom('leases')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst();
    if (held !== undefined && held.until > now() && !isOfTheDead(held.owner, options)) return false;
    await transaction.deleteFrom('leases').where('name', '=', name).execute();
    await transaction
      .insertInto('leases')
      .values({ name, owner, until: now() + forMs })
      .execute();
    return true;
  });
}

/** Of another machine nothing can be said but when its lease ends. */
function isOfTheDead(owner: string, { isAlive = isRunning }: LeaseOptions): boolean {
  const [host, pid] = owner.split('/');
  return host === hostname() && !isAlive(Number(pid));
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
