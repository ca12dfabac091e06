import { setTimeout as delay } from 'node:timers/promises';
import type { MessagePort } from 'node:worker_threads';

import { GatewayError } from '../../model/errors.ts';
import { hasDatabase, openDatabase } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { troubleOf } from '../../storage/store-error.ts';
import type { AuditQuestions, AuditSettings, FromThread, RawRecord, ToThread } from './audit-batch.ts';
import { AuditStore } from './audit-store.ts';
import { unpackRecords } from './packed-records.ts';
import type { Estimate } from './prepare-record.ts';

const ATTEMPTS = 3;
const PAUSE_MS = 300;
const MAX_PAUSE_MS = 1000;
const MAX_BATCH = 5000;
/**
 * Between two transactions: one of few records costs three times as much for each as one of many (55 µs and 18 µs). What has not
 * been written by then is lost when the process is killed, which is why it is short.
 */
const PACE_MS = 50;
/** Another process may hold the database for long; records can wait. */
const LOCK_TIMEOUT_MS = 5000;

/** What answers a question when nothing was ever stored. */
const NOTHING: { readonly [Q in keyof AuditQuestions]: AuditQuestions[Q]['answer'] } = {
  query: [],
  stats: [],
  verify: { ok: true, checked: 0, unchained: 0 },
  totals: { records: 0, bytes: 0 },
  series: [],
  tokens: [],
  addTokens: null,
};

/** The thread that writes the record and reads it: one message after the other. */
export function serveAudit(
  port: MessagePort,
  deps: { readonly settings: AuditSettings; readonly estimate: Estimate; readonly now: () => number },
): void {
  const thread = new ServedThread(port, deps);
  const waiting: ToThread[] = [];
  let isBusy = false;
  let wake = (): void => {};
  let writtenAt = -Infinity;
  /** Nobody who asks waits for others to come. */
  const paced = async (): Promise<void> => {
    const leftMs = writtenAt + PACE_MS - performance.now();
    if (leftMs <= 0 || waiting.some(({ type }) => type !== 'write')) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      wake = resolve;
      timer = setTimeout(resolve, leftMs);
    });
    clearTimeout(timer);
  };
  const work = async (): Promise<void> => {
    for (let first = waiting.shift(); first !== undefined; first = waiting.shift()) {
      if (first.type === 'write') {
        await paced();
        writtenAt = performance.now();
        await thread.write(withFollowing(first, waiting), waiting);
      } else await thread.take(first);
    }
    isBusy = false;
  };
  port.on('message', (message: ToThread) => {
    waiting.push(message);
    if (message.type !== 'write') wake();
    if (isBusy) return;
    isBusy = true;
    void work();
  });
}

type Write = Extract<ToThread, { type: 'write' }>;

/** What came meanwhile is written in the same transaction, which costs little more. */
function withFollowing(first: Write, waiting: ToThread[]): readonly RawRecord[] {
  const parts = [unpackRecords(first.records)];
  let count = first.records.count;
  for (let next = waiting[0]; count < MAX_BATCH && next?.type === 'write'; next = waiting[0]) {
    parts.push(unpackRecords(next.records));
    count += next.records.count;
    waiting.shift();
  }
  return parts.flat();
}

class ServedThread {
  readonly #port: MessagePort;
  readonly #deps: Parameters<typeof serveAudit>[1];
  #database: Database | undefined;
  #store: AuditStore | undefined;
  #isClosing = false;

  constructor(port: MessagePort, deps: Parameters<typeof serveAudit>[1]) {
    this.#port = port;
    this.#deps = deps;
    port.on('message', ({ type }: ToThread) => (this.#isClosing ||= type === 'close'));
  }

  async take(message: Exclude<ToThread, Write>): Promise<void> {
    if (message.type === 'ask') await this.#answer(message);
    else await this.#close();
  }

  /** What waits behind is asked for while a batch cannot be written. */
  async write(records: readonly RawRecord[], behind: ToThread[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await (await this.#opened()).write(records, { isAgain: attempt > 1 });
        return this.#say({ type: 'written', count: records.length });
      } catch (error) {
        await this.#forget();
        // Whoever sends bounds what waits here, and counts what is too much.
        const isWaitedFor = attempt < ATTEMPTS || troubleOf(error) === 'away';
        if (isWaitedFor && !this.#isClosing) {
          await this.#answerAll(behind);
          await delay(Math.min(MAX_PAUSE_MS, PAUSE_MS * attempt));
          continue;
        }
        const problem = error instanceof Error ? error.message : String(error);
        return this.#say({ type: 'lost', count: records.length, problem });
      }
    }
  }

  /** Who asks is told that there is no answer, rather than nothing. */
  async #answerAll(behind: ToThread[]): Promise<void> {
    for (let at = 0; at < behind.length;) {
      const message = behind[at];
      if (message?.type === 'ask') {
        behind.splice(at, 1);
        await this.#answer(message);
      } else at++;
    }
  }

  async #answer({ id, question, ask }: Extract<ToThread, { type: 'ask' }>): Promise<void> {
    try {
      const { place } = this.#deps.settings;
      const answer =
        this.#store === undefined && question !== 'addTokens' && !hasDatabase(place)
          ? NOTHING[question]
          : // What asked is our own, of the type that goes with the question.
            await (await this.#opened()).answer(question, ask as never);
      this.#say({ type: 'answer', id, answer });
    } catch (error) {
      await this.#forget();
      const { code, message, details } =
        error instanceof GatewayError ? error : new GatewayError('INVARIANT', String(error));
      this.#say({ type: 'failed', id, code, message, details });
    }
  }

  async #opened(): Promise<AuditStore> {
    if (this.#store !== undefined) return this.#store;
    const { settings } = this.#deps;
    const { place } = settings;
    this.#database = await openDatabase({ ...place, lockTimeoutMs: LOCK_TIMEOUT_MS, lane: 'audit' });
    return (this.#store = new AuditStore({ ...this.#deps, database: this.#database }));
  }

  /** What failed is opened anew the next time: the disk may be back. */
  async #forget(): Promise<void> {
    const database = this.#database;
    this.#database = undefined;
    this.#store = undefined;
    try {
      await database?.[Symbol.asyncDispose]();
    } catch {
      // Best effort: it failed already.
    }
  }

  async #close(): Promise<void> {
    await this.#forget();
    this.#port.close();
  }

  #say(message: FromThread): void {
    this.#port.postMessage(message);
  }
}
