import { setTimeout as delay } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '../../core/errors.ts';
import { hasDatabase, openDatabase } from '../../core/storage/database.ts';
import type { Database } from '../../core/storage/database.ts';
import { storeProblemOf } from '../../core/storage/store-error.ts';
import type {
  AuditQueries,
  AuditSettings,
  AuditThreadRequest,
  AuditThreadResponse,
} from './audit-messages.ts';
import { AuditWriter } from './audit-writer.ts';
import type { TokenEstimator } from './finalize-drafts.ts';
import { decodeBatch } from './record-batch.ts';
import type { RecordDraft } from './record-batch.ts';
import { runAuditQuery } from './run-audit-query.ts';

interface MessageLoopDeps {
  readonly settings: AuditSettings;
  readonly estimate: TokenEstimator;
  readonly now: () => number;
}

type WriteRequest = Extract<AuditThreadRequest, { type: 'write' }>;
type QueryRequest = Extract<AuditThreadRequest, { type: 'query' }>;

/**
 * The maximum number of attempts to write a batch. While the database is unreachable, the number is not
 * limited.
 */
const MAX_ATTEMPTS = 3;
/** The delay after the first attempt; it grows by the same amount with each attempt, up to the maximum. */
const RETRY_DELAY_MS = 300;
const MAX_RETRY_DELAY_MS = 1000;
/** Batches are combined until a transaction has at least this many records. */
const FULL_TRANSACTION_RECORDS = 5000;
/**
 * The minimum time between two transactions. Large transactions are cheaper: a record costs 18 µs in a
 * transaction of many records and 55 µs in one of few. The time is short, because a killed process loses the
 * records that are not written yet.
 */
const WRITE_INTERVAL_MS = 50;
/** How long a write waits for a lock. Another process may lock the database for seconds, and records can wait. */
const LOCK_TIMEOUT_MS = 5000;

/** Results of queries before anything was stored; reading must not create a database. */
const EMPTY_RESULTS: { readonly [Q in keyof AuditQueries]: AuditQueries[Q]['result'] } = {
  records: [],
  stats: [],
  verify: { ok: true, checked: 0, unchained: 0 },
  totals: { records: 0, bytes: 0 },
  series: [],
  tokens: [],
  addTokens: null,
};

/** Handles the messages to the audit thread in order, except that queries do not wait for a write that is retried. */
export function runAuditMessageLoop(port: MessagePort, deps: MessageLoopDeps): void {
  const loop = new AuditMessageLoop(port, deps);
  port.on('message', (message: AuditThreadRequest) => loop.enqueue(message));
}

class AuditMessageLoop {
  readonly #port: MessagePort;
  readonly #deps: MessageLoopDeps;
  readonly #messages: AuditThreadRequest[] = [];
  #database: Database | undefined;
  #writer: AuditWriter | undefined;
  #isRunning = false;
  #isClosing = false;
  #lastWriteAt = -Infinity;
  /** Ends the wait for the next transaction early. */
  #endWriteDelay = (): void => {};

  constructor(port: MessagePort, deps: MessageLoopDeps) {
    this.#port = port;
    this.#deps = deps;
  }

  enqueue(message: AuditThreadRequest): void {
    this.#messages.push(message);
    if (message.type === 'close') this.#isClosing = true;
    if (message.type !== 'write') this.#endWriteDelay();
    if (!this.#isRunning) void this.#run();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let next = this.#messages.shift(); next !== undefined; next = this.#messages.shift()) {
      if (next.type === 'write') await this.#write(next);
      else if (next.type === 'query') await this.#answer(next);
      else await this.#close();
    }
    this.#isRunning = false;
  }

  async #write(request: WriteRequest): Promise<void> {
    await this.#delayWrite();
    this.#lastWriteAt = performance.now();
    const drafts = this.#takeDrafts(request);
    for (let attempt = 1; ; attempt++) {
      try {
        const database = await this.#openDatabase();
        this.#writer ??= new AuditWriter({ ...this.#deps, database });
        await this.#writer.write(drafts, { isRetry: attempt > 1 });
        return this.#post({ type: 'written', count: drafts.length });
      } catch (error) {
        await this.#closeDatabase();
        // Retrying without limit is safe: the queue in the main thread limits the number of pending records and counts lost ones.
        const canRetry = attempt < MAX_ATTEMPTS || storeProblemOf(error) === 'away';
        if (!canRetry || this.#isClosing) {
          const problem = error instanceof Error ? error.message : String(error);
          return this.#post({ type: 'lost', count: drafts.length, problem });
        }
        await this.#answerPendingQueries();
        await delay(Math.min(MAX_RETRY_DELAY_MS, RETRY_DELAY_MS * attempt));
      }
    }
  }

  /** Waits until the next transaction is due. A queued query or `close` ends the wait early, because it would be delayed as well. */
  async #delayWrite(): Promise<void> {
    const delayMs = this.#lastWriteAt + WRITE_INTERVAL_MS - performance.now();
    if (delayMs <= 0 || this.#messages.some(({ type }) => type !== 'write')) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#endWriteDelay = resolve;
      timer = setTimeout(resolve, delayMs);
    });
    clearTimeout(timer);
  }

  /** Combines the batch with those queued directly behind it, because a record costs less in a large transaction. */
  #takeDrafts({ records: firstBatch }: WriteRequest): readonly RecordDraft[] {
    const batches = [decodeBatch(firstBatch)];
    let count = firstBatch.count;
    const messages = this.#messages;
    for (
      let next = messages[0];
      count < FULL_TRANSACTION_RECORDS && next?.type === 'write';
      next = messages[0]
    ) {
      batches.push(decodeBatch(next.records));
      count += next.records.count;
      messages.shift();
    }
    return batches.flat();
  }

  /** Answers queries while a write is retried, usually with an error. Otherwise they would hang. */
  async #answerPendingQueries(): Promise<void> {
    for (let index = 0; index < this.#messages.length;) {
      const message = this.#messages[index];
      if (message?.type === 'query') {
        this.#messages.splice(index, 1);
        await this.#answer(message);
      } else index++;
    }
  }

  async #answer({ id, name, params }: QueryRequest): Promise<void> {
    try {
      const isEmpty =
        this.#database === undefined && name !== 'addTokens' && !hasDatabase(this.#deps.settings.place);
      const result = isEmpty
        ? EMPTY_RESULTS[name]
        : // `AuditThread.query` checked that the parameters belong to the query.
          await runAuditQuery(await this.#openDatabase(), name, params as never);
      this.#post({ type: 'result', id, result });
    } catch (error) {
      await this.#closeDatabase();
      const { code, message, details } =
        error instanceof GatewayError ? error : new GatewayError('INVARIANT', String(error));
      this.#post({ type: 'failed', id, code, message, details });
    }
  }

  async #openDatabase(): Promise<Database> {
    const { place } = this.#deps.settings;
    return (this.#database ??= await openDatabase({
      ...place,
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      lane: 'audit',
    }));
  }

  /**
   * Closes the database. This is also done after an error, because opening the database again may succeed,
   * for example when the disk is back.
   */
  async #closeDatabase(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    this.#writer = undefined;
    try {
      await database?.[Symbol.asyncDispose]();
    } catch {
      // The database failed before, so closing may fail as well.
    }
  }

  async #close(): Promise<void> {
    await this.#closeDatabase();
    this.#port.close();
  }

  #post(message: AuditThreadResponse): void {
    this.#port.postMessage(message);
  }
}
