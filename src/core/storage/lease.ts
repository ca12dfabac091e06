import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

import { isProcessAlive } from '../lib/is-process-alive.ts';
import { monotonicNow } from '../lib/monotonic-now.ts';
import type { Database } from './database.ts';
import { storeError } from './store-error.ts';

interface LeaseOptions {
  readonly database: Database;
  readonly name: string;
  /** How long the lease lasts. It must be longer than the work, because another process may take an expired lease. */
  readonly forMs: number;
  /** The id of this process, so that others on the same machine can check whether it is still running. */
  readonly pid: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Called after the work. If it returns true, other processes wait until `releaseLeftoverLease` is called or the lease expires. */
  readonly isKept?: () => boolean;
  /** Average pause between two attempts to acquire the lease. */
  readonly pauseMs?: number;
  /**
   * The delay before the work starts if the lease was taken from a process that held it too long. That process may still be writing.
   * Tests set it.
   */
  readonly graceMs?: number;
  /** Whether the process is alive. Tests replace it. */
  readonly isAlive?: (pid: number) => boolean;
  /** The monotonic clock of this machine in milliseconds. Tests replace it. */
  readonly monotonicNow?: () => number;
}

const PAUSE_MS = 25;
/** Longer than the interval at which processes retry writes on a full disk. */
const GRACE_MS = 2500;

/**
 * The owner texts, by lease name, of leases whose work has ended but whose rows may still exist. This process ignores these rows; other
 * processes wait until they are gone or expired.
 */
const leftoverLeases = new WeakMap<Database, Map<string, string>>();

function leftoverLeasesOf(database: Database): Map<string, string> {
  let left = leftoverLeases.get(database);
  if (left === undefined) leftoverLeases.set(database, (left = new Map<string, string>()));
  return left;
}

/**
 * Runs the work while no other process holds the same lease. Rejects if the lease does not become free within twice its duration. The
 * signal `lost` aborts if the database connection that holds the lease is lost; it never aborts where a lease is a row.
 */
export async function withLease<T>(
  options: LeaseOptions,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const { leases } = options.database;
  const { name, forMs, pauseMs, signal } = options;
  if (leases === undefined) return withRow(options, work);
  return leases.hold({ name, giveUpAfterMs: 2 * forMs, pauseMs, signal }, work);
}

/** Runs the work under a lease that is a database row with an expiry time. */
async function withRow<T>(options: LeaseOptions, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + 2 * options.forMs;
  const { signal, graceMs = GRACE_MS } = options;
  let acquired: Acquired | undefined;
  signal.throwIfAborted();
  while ((acquired = await acquire(options)) === undefined) {
    signal.throwIfAborted();
    if (performance.now() > giveUpAt) throw storeError('busy', {});
    await delay((options.pauseMs ?? PAUSE_MS) * (0.5 + Math.random()), undefined, { signal });
  }
  const { owner, isPreviousOwnerRunning } = acquired;
  try {
    // The previous holder still runs and may be about to save its result.
    if (isPreviousOwnerRunning) await delay(graceMs, undefined, { signal });
    return await work(new AbortController().signal);
  } finally {
    await releaseUnlessKept(options, owner);
  }
}

/** Releases the lease, unless `isKept` returns true. If that fails, for example on a full disk, other processes wait until it expires. */
async function releaseUnlessKept(options: LeaseOptions, owner: string): Promise<void> {
  leftoverLeasesOf(options.database).set(options.name, owner);
  if (options.isKept?.() === true) return;
  await releaseLeftoverLease(options.database, options.name).catch(() => {});
}

/** Releases a lease that `isKept` held back or that could not be released before. */
export async function releaseLeftoverLease(database: Database, name: string): Promise<void> {
  const left = leftoverLeasesOf(database);
  const owner = left.get(name);
  if (owner === undefined) return;
  await database.query.deleteFrom('leases').where('name', '=', name).where('owner', '=', owner).execute();
  if (left.get(name) === owner) left.delete(name);
}

interface Acquired {
  readonly owner: string;
  /** Whether the lease was taken from a process that held it too long and may still be running. */
  readonly isPreviousOwnerRunning: boolean;
}

/** Takes the lease if no running process holds it; otherwise returns undefined. */
async function acquire(options: LeaseOptions): Promise<Acquired | undefined> {
  const { database, name, forMs, now, monotonicNow: steady = monotonicNow } = options;
  return database.query.transaction().execute(async (transaction) => {
    const held = await transaction
      .selectFrom('leases')
      .selectAll()
      .where('name', '=', name)
      .executeTakeFirst();
    const isOver = held !== undefined && leftoverLeasesOf(database).get(name) === held.owner;
    if (held !== undefined && !isOver && isHeld(held, options)) return undefined;
    // `isHeld` and `isOwnerRunning` parse this text.
    const owner = [hostname(), options.pid, randomUUID(), bootId(), steady() + forMs].join('/');
    await transaction.deleteFrom('leases').where('name', '=', name).execute();
    await transaction
      .insertInto('leases')
      .values({ name, owner, until: now() + forMs })
      .execute();
    return {
      owner,
      isPreviousOwnerRunning: held !== undefined && !isOver && isOwnerRunning(held.owner, options),
    };
  });
}

/** Whether the owner may still be running. A process on another machine cannot be checked, so it counts as running. */
function isOwnerRunning(owner: string, { isAlive = isProcessAlive }: LeaseOptions): boolean {
  const [host, pid] = owner.split('/');
  return host !== hostname() || isAlive(Number(pid));
}

/**
 * Whether the owner still holds the lease. A lease of another machine is held until its wall-clock expiry. On this machine the owner must
 * also be running, and the monotonic clock counts, because setting the wall clock does not change it.
 */
function isHeld(
  { owner, until }: { readonly owner: string; readonly until: number },
  { forMs, now, isAlive = isProcessAlive, monotonicNow: steady = monotonicNow }: LeaseOptions,
): boolean {
  const [host, pid, , boot, steadyUntil] = owner.split('/');
  if (host !== hostname()) return until > now();
  if (!isAlive(Number(pid))) return false;
  // Older versions stored only the wall-clock time.
  if (steadyUntil === undefined) return until > now();
  const restMs = Number(steadyUntil) - steady();
  // The monotonic clock restarts at each boot. Where boot ids are unknown, an impossibly long remaining time shows that the lease is from
  // an earlier boot.
  return boot === bootId() && restMs > 0 && restMs <= 2 * forMs;
}

/** Returns an id that changes with each boot, or an empty string where it is unknown. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return ''; // Only Linux provides it.
  }
}
