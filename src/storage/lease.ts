import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

import { steadyNow } from '../lib/steady-now.ts';
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
  /** Asked after the work: whether others are to wait until `giveBackLate`, or until the time of the lease is over. */
  readonly isKept?: () => boolean;
  /** How long to wait between two attempts. */
  readonly pauseMs?: number;
  /** What a process that had it for too long is given to write what it did; a parameter for tests. */
  readonly lastWordMs?: number;
  /** Whether the process lives; a parameter for tests. */
  readonly isAlive?: (pid: number) => boolean;
  /** In milliseconds, the same for all processes of this machine, and set by nobody; a parameter for tests. */
  readonly steadyNow?: () => number;
}

const PAUSE_MS = 25;
/** Longer than it takes whoever waits for room on a full disk to see that there is some. */
const LAST_WORD_MS = 2500;

/** Of this process, by name: owners of leases that are over for us although others wait for them still. */
const leftBehind = new WeakMap<Database, Map<string, string>>();

function leftBehindIn(database: Database): Map<string, string> {
  let left = leftBehind.get(database);
  if (left === undefined) leftBehind.set(database, (left = new Map<string, string>()));
  return left;
}

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
  const giveUpAt = performance.now() + 2 * options.forMs;
  const { signal, lastWordMs = LAST_WORD_MS } = options;
  let acquired: Acquired | undefined;
  signal.throwIfAborted();
  while ((acquired = await acquire(options)) === undefined) {
    signal.throwIfAborted();
    if (performance.now() > giveUpAt) throw storeError('busy', {});
    await delay((options.pauseMs ?? PAUSE_MS) * (0.5 + Math.random()), undefined, { signal });
  }
  const { owner, isFromLiving } = acquired;
  try {
    if (isFromLiving) await delay(lastWordMs, undefined, { signal });
    return await work(new AbortController().signal);
  } finally {
    await giveBack(options, owner);
  }
}

/** What a full disk does not take back others have to wait for until its time is over, but not we; and the work is done. */
async function giveBack(options: LeaseOptions, owner: string): Promise<void> {
  leftBehindIn(options.database).set(options.name, owner);
  if (options.isKept?.() === true) return;
  await giveBackLate(options.database, options.name).catch(() => {});
}

/** Once nothing speaks against it any more that others go on. */
export async function giveBackLate(database: Database, name: string): Promise<void> {
  const left = leftBehindIn(database);
  const owner = left.get(name);
  if (owner === undefined) return;
  await database.query.deleteFrom('leases').where('name', '=', name).where('owner', '=', owner).execute();
  if (left.get(name) === owner) left.delete(name);
}

interface Acquired {
  readonly owner: string;
  /** Whether it was taken from a process that lives, and has had it for too long. */
  readonly isFromLiving: boolean;
}

async function acquire(options: LeaseOptions): Promise<Acquired | undefined> {
  const { database, name, forMs, now, steadyNow: steady = steadyNow } = options;
  return database.query.transaction().execute(async (transaction) => {
    const held = await transaction
      .selectFrom('leases')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst();
    const isOver = held !== undefined && leftBehindIn(database).get(name) === held.owner;
    if (held !== undefined && !isOver && isHeld(held, options)) return undefined;
    const owner = [hostname(), options.pid, randomUUID(), bootId(), steady() + forMs].join('/');
    await transaction.deleteFrom('leases').where('name', '=', name).execute();
    await transaction
      .insertInto('leases')
      .values({ name, owner, until: now() + forMs })
      .execute();
    return { owner, isFromLiving: held !== undefined && !isOver && isOfLiving(held.owner, options) };
  });
}

function isOfLiving(owner: string, { isAlive = isRunning }: LeaseOptions): boolean {
  const [host, pid] = owner.split('/');
  return host !== hostname() || isAlive(Number(pid));
}

/** Of another machine nothing can be said but when its lease ends; on ours nobody's setting of the time ends one, or makes it longer. */
function isHeld(
  { owner, until }: { readonly owner: string; readonly until: number },
  { forMs, now, isAlive = isRunning, steadyNow: steady = steadyNow }: LeaseOptions,
): boolean {
  const [host, pid, , boot, steadyUntil] = owner.split('/');
  if (host !== hostname()) return until > now();
  if (!isAlive(Number(pid))) return false;
  // Written by an older version, which knew only the time of the day.
  if (steadyUntil === undefined) return until > now();
  const restMs = Number(steadyUntil) - steady();
  // Where a start of the machine has no name, one that lasts for longer than it can is from before it.
  return boot === bootId() && restMs > 0 && restMs <= 2 * forMs;
}

/** Another one after each start of the machine, where it can be known. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return ''; // Only Linux has it.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH');
  }
}
