/**
 * The audit log, as the rest of the gateway sees it. A record passes from a call to the database in these
 * steps:
 *
 * 1. `policy/guards/recording-guards.ts`: the audit guard reports the end of a call to the `AuditTrail`.
 *    Operations that end before the guards run come from `gateway/calls/pre-guard-audit.ts`.
 * 2. `audit-trail.ts` (this file): loads the queue with the first record and flushes it every 25 ms.
 * 3. `audit-queue.ts`: builds a draft of the record (`record-builder.ts`), encodes it into a batch (`record-batch.ts`),
 *    and counts records that are lost. `audit-thread.ts` posts the batch to the audit thread.
 * 4. In the thread, `audit-message-loop.ts` (started by `app/audit-worker.ts`) receives the batch and retries failed writes.
 * 5. `audit-writer.ts`: completes the drafts (`finalize-drafts.ts`) and **inserts the records into the database**.
 *
 * Queries pass to the thread in the same way. There, `run-audit-query.ts` answers them.
 */
import type { CompletedCall } from '../completed-call.ts';
import type { AuditQueries } from './audit-messages.ts';
import type { AuditHealth, AuditQueue } from './audit-queue.ts';
import type { AuditEvent } from './audit-record.ts';

/** Observes the end of every call. It runs on the call path, so it must return quickly. */
export interface CallObserver {
  onCallEnd(call: CompletedCall): void;
}

interface AuditTrailOptions {
  /** Loads the queue; called for the first record or query. */
  readonly loadQueue: () => Promise<AuditQueue>;
  /** Whether records are written. Queries are answered in either case. */
  readonly isEnabled: boolean;
  readonly now: () => number;
  readonly flushMs?: number;
}

/**
 * The interval at which records are passed to the thread. The thread writes every 50 ms. With the time for
 * the write itself, a killed process loses at most the records of the last 100 ms.
 */
const FLUSH_MS = 25;
/**
 * The number of records at which a flush starts before the interval has passed. Larger batches cost more
 * garbage collection, smaller ones more work in the thread.
 */
const FLUSH_AT = 100;

/** Collects the records of calls and events and sends them to the audit thread in batches. */
export class AuditTrail implements CallObserver, AsyncDisposable {
  #options: AuditTrailOptions;
  #loading: Promise<AuditQueue> | undefined;
  #queue: AuditQueue | undefined;
  /** Additions to the queue that wait until it is loaded. */
  #early: ((queue: AuditQueue) => void)[] = [];
  /** Records since the last flush. */
  #unflushed = 0;
  #flushTimer: NodeJS.Timeout | undefined;
  /** Counters of earlier queues, and of records that were lost because no queue could be loaded. */
  #earlierHealth: AuditHealth = { written: 0, dropped: 0 };
  /** Queues with earlier settings that still write records. */
  readonly #closingQueues = new Set<AuditQueue>();
  /** Resolves when all queues with earlier settings are closed. */
  #closing: Promise<void> = Promise.resolve();

  constructor(options: AuditTrailOptions) {
    this.#options = options;
  }

  onCallEnd(call: CompletedCall): void {
    if (!this.#options.isEnabled) return;
    if (this.#queue !== undefined) this.#queue.add(call);
    else this.#early.push((queue) => queue.add(call));
    this.#scheduleFlush();
  }

  /** Records an event that is not an operation: a block, an approval, a configuration change, a sign-in, a key. */
  record(event: AuditEvent): void {
    if (!this.#options.isEnabled) return;
    const at = this.#options.now();
    if (this.#queue !== undefined) this.#queue.addEvent(at, event);
    else this.#early.push((queue) => queue.addEvent(at, event));
    this.#scheduleFlush();
  }

  /**
   * Applies new settings. Earlier records are still written with the old settings, before the new queue
   * opens.
   */
  reconfigure(settings: Pick<AuditTrailOptions, 'isEnabled' | 'loadQueue'>): void {
    this.#flush();
    const { loadQueue } = settings;
    if (this.#queue !== undefined) this.#closingQueues.add(this.#queue);
    // Errors are ignored here, because the old queue logs that records are lost.
    const closed = this.#loading?.then((queue) => this.#closeQueue(queue)).catch(() => {});
    const closing = Promise.all([this.#closing, closed]).then(() => {});
    this.#options = {
      ...this.#options,
      isEnabled: settings.isEnabled,
      loadQueue: () => closing.then(loadQueue),
    };
    this.#loading = undefined;
    this.#queue = undefined;
    // A new list, because the old queue may still be loading and takes the old list.
    this.#early = [];
    this.#closing = closing;
  }

  /** Queries the audit log, including records of other processes. Own records are flushed first. */
  async query<Q extends keyof AuditQueries>(
    name: Q,
    params: AuditQueries[Q]['params'],
  ): Promise<AuditQueries[Q]['result']> {
    this.#flush();
    return (await this.#load()).query(name, params);
  }

  get health(): AuditHealth {
    const queues = [...this.#closingQueues, ...(this.#queue === undefined ? [] : [this.#queue])];
    return queues.reduce((health, queue) => addHealth(health, queue.health), this.#earlierHealth);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#flush();
    await Promise.all([this.#closing, (async () => (await this.#loading)?.close())()]);
  }

  /** Closes a queue. Its counters change until all its records are written or lost. */
  async #closeQueue(queue: AuditQueue): Promise<void> {
    this.#closingQueues.add(queue);
    try {
      await queue.close();
    } finally {
      this.#closingQueues.delete(queue);
      this.#earlierHealth = addHealth(this.#earlierHealth, queue.health);
    }
  }

  #scheduleFlush(): void {
    this.#unflushed++;
    if (this.#flushTimer === undefined)
      this.#flushTimer = setTimeout(() => this.#flush(), this.#options.flushMs ?? FLUSH_MS);
    else if (this.#unflushed >= FLUSH_AT) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    if (this.#unflushed === 0) return;
    this.#unflushed = 0;
    if (this.#queue !== undefined) return this.#queue.flush();
    const early = this.#early;
    this.#load()
      .then((queue) => queue.flush())
      .catch((error: unknown) => {
        const dropped = this.#earlierHealth.dropped + early.splice(0).length;
        this.#earlierHealth = { ...this.#earlierHealth, dropped, problem: String(error) };
      });
  }

  #load(): Promise<AuditQueue> {
    if (this.#loading !== undefined) return this.#loading;
    const early = this.#early;
    const loading = this.#options.loadQueue().then((queue) => {
      if (this.#loading === loading) this.#queue = queue;
      // The early records are added synchronously, so no later record can precede them.
      for (const addTo of early.splice(0)) addTo(queue);
      return queue;
    });
    return (this.#loading = loading);
  }
}

/** Adds the counters of a later queue. Only the problem of the later queue still matters. */
function addHealth(earlier: AuditHealth, later: AuditHealth): AuditHealth {
  return {
    ...later,
    written: earlier.written + later.written,
    dropped: earlier.dropped + later.dropped,
  };
}
