import { Worker } from 'node:worker_threads';

import { GatewayError } from '../../model/errors.ts';
import type { ErrorCode } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import type { AuditQuestions, AuditSettings, FromThread, ToThread } from './audit-batch.ts';
import type { PackedRecords } from './packed-records.ts';

/** Where batches go and questions are answered. */
export interface AuditSink {
  write(records: PackedRecords): void;
  ask<Q extends keyof AuditQuestions>(
    question: Q,
    ask: AuditQuestions[Q]['ask'],
  ): Promise<AuditQuestions[Q]['answer']>;
  /** Resolves when everything was written that can be. */
  close(): Promise<void>;
}

export interface SinkTold {
  readonly written: (count: number) => void;
  readonly lost: (count: number, problem: string) => void;
}

interface ThreadOptions {
  readonly worker: URL;
  readonly settings: AuditSettings;
  readonly told: SinkTold;
  /** After this long without work the thread ends; the next work starts another one. */
  readonly idleMs?: number;
  /** How long closing may take. */
  readonly closeMs?: number;
}

interface Waiting {
  readonly resolve: (answer: never) => void;
  readonly reject: (error: Error) => void;
}

interface Running {
  readonly worker: Worker;
  /** Records that were given to it and not heard of again. */
  pending: number;
  readonly waiting: Map<number, Waiting>;
  readonly ended: Promise<void>;
}

/** The thread that has the database open; it is started with the first work and ends when there is none for long. */
export class AuditThread implements AuditSink {
  readonly #options: ThreadOptions;
  #running: Running | undefined;
  #idle: NodeJS.Timeout | undefined;
  #nextId = 1;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  write(records: PackedRecords): void {
    const running = this.#get();
    running.pending += records.count;
    this.#post(running, { type: 'write', records });
  }

  ask<Q extends keyof AuditQuestions>(
    question: Q,
    ask: AuditQuestions[Q]['ask'],
  ): Promise<AuditQuestions[Q]['answer']> {
    const running = this.#get();
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      running.waiting.set(id, { resolve, reject });
      this.#post(running, { type: 'ask', id, question, ask });
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const running = this.#running;
    if (running === undefined) return;
    this.#post(running, { type: 'close' });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.closeMs ?? 10_000);
    });
    await Promise.race([running.ended, late]);
    clearTimeout(timer);
    await running.worker.terminate();
  }

  #get(): Running {
    clearTimeout(this.#idle);
    this.#idle = undefined;
    return (this.#running ??= this.#start());
  }

  #start(): Running {
    const { worker: entry, settings } = this.#options;
    const worker = new Worker(entry, {
      ...{ workerData: settings, env: {}, execArgv: [], stdin: false },
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
    });
    // It must not keep a process alive that is done; who stops, closes.
    worker.unref();
    const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    const running: Running = { worker, pending: 0, waiting: new Map(), ended };
    let reason = 'the thread of the record ended';
    worker.on('message', (message: FromThread) => this.#hear(running, message));
    worker.on('error', (error) => (reason = error.message));
    worker.on('exit', () => this.#gone(running, reason));
    return running;
  }

  #post(running: Running, message: ToThread): void {
    running.worker.postMessage(message);
  }

  #hear(running: Running, message: FromThread): void {
    const { told } = this.#options;
    if (message.type === 'written' || message.type === 'lost') {
      running.pending -= message.count;
      if (message.type === 'written') told.written(message.count);
      else told.lost(message.count, message.problem);
    } else {
      const waiting = running.waiting.get(message.id);
      running.waiting.delete(message.id);
      if (message.type === 'answer') waiting?.resolve(message.answer as never);
      else {
        const { code, message: text, details } = message;
        // Both come from a GatewayError.
        waiting?.reject(new GatewayError(code as ErrorCode, text, { details: details as JsonObject }));
      }
    }
    if (running.pending === 0 && running.waiting.size === 0) this.#rest(running);
  }

  #rest(running: Running): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#running !== running) return;
      this.#running = undefined;
      this.#post(running, { type: 'close' });
    }, this.#options.idleMs ?? 60_000).unref();
  }

  #gone(running: Running, reason: string): void {
    if (this.#running === running) this.#running = undefined;
    if (running.pending > 0) this.#options.told.lost(running.pending, reason);
    running.pending = 0;
    for (const { reject } of running.waiting.values())
      reject(new GatewayError('STORE_LOCKED', `The record cannot be read: ${reason}.`));
    running.waiting.clear();
  }
}
