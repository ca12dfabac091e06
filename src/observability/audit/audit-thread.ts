import { Worker } from 'node:worker_threads';

import { GatewayError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type {
  AuditQueries,
  AuditSettings,
  AuditThreadRequest,
  AuditThreadResponse,
} from './audit-messages.ts';
import type { EncodedBatch } from './record-batch.ts';

/** Writes batches and answers queries. */
export interface AuditBackend {
  write(batch: EncodedBatch): void;
  query<Q extends keyof AuditQueries>(
    name: Q,
    params: AuditQueries[Q]['params'],
  ): Promise<AuditQueries[Q]['result']>;
  /** Resolves when all records are written or given up. */
  close(): Promise<void>;
}

/** Called when records were written or lost. */
export interface WriteListener {
  readonly onWritten: (count: number) => void;
  readonly onLost: (count: number, problem: string) => void;
}

interface AuditThreadOptions {
  readonly worker: URL;
  readonly settings: AuditSettings;
  readonly listener: WriteListener;
  /** The thread ends after this time without work, and the next work starts a new one. Default: one minute. */
  readonly idleMs?: number;
  /** The time limit of `close`, after which the thread is terminated. Default: 10 s. */
  readonly closeMs?: number;
}

interface PendingQuery {
  readonly resolve: (result: never) => void;
  readonly reject: (error: Error) => void;
}

interface RunningWorker {
  readonly worker: Worker;
  /** Records that were posted but neither written nor lost yet. */
  pendingRecords: number;
  readonly pendingQueries: Map<number, PendingQuery>;
  readonly exited: Promise<void>;
}

/**
 * The client of the audit thread, which has the database open. The thread starts with the first work and ends
 * when idle.
 */
export class AuditThread implements AuditBackend {
  readonly #options: AuditThreadOptions;
  #running: RunningWorker | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #nextQueryId = 1;

  constructor(options: AuditThreadOptions) {
    this.#options = options;
  }

  write(batch: EncodedBatch): void {
    const running = this.#ensureRunning();
    running.pendingRecords += batch.count;
    this.#post(running, { type: 'write', records: batch });
  }

  query<Q extends keyof AuditQueries>(
    name: Q,
    params: AuditQueries[Q]['params'],
  ): Promise<AuditQueries[Q]['result']> {
    const running = this.#ensureRunning();
    const id = this.#nextQueryId++;
    return new Promise((resolve, reject) => {
      running.pendingQueries.set(id, { resolve, reject });
      this.#post(running, { type: 'query', id, name, params });
    });
  }

  async close(): Promise<void> {
    clearTimeout(this.#idleTimer);
    const running = this.#running;
    if (running === undefined) return;
    this.#post(running, { type: 'close' });
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#options.closeMs ?? 10_000);
    });
    await Promise.race([running.exited, timeout]);
    clearTimeout(timer);
    await running.worker.terminate();
  }

  #ensureRunning(): RunningWorker {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = undefined;
    return (this.#running ??= this.#start());
  }

  #start(): RunningWorker {
    const worker = new Worker(this.#options.worker, {
      workerData: this.#options.settings,
      env: {},
      execArgv: [],
      stdin: false,
      resourceLimits: { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 256 },
    });
    // The thread must not keep a finished process alive; an orderly shutdown calls `close`.
    worker.unref();
    const exited = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
    const running: RunningWorker = { worker, pendingRecords: 0, pendingQueries: new Map(), exited };
    let reason = 'the audit thread ended';
    worker.on('message', (message: AuditThreadResponse) => this.#onMessage(running, message));
    worker.on('error', (error) => (reason = error.message));
    worker.on('exit', () => this.#onExit(running, reason));
    return running;
  }

  #post(running: RunningWorker, message: AuditThreadRequest): void {
    running.worker.postMessage(message);
  }

  #onMessage(running: RunningWorker, message: AuditThreadResponse): void {
    const { listener } = this.#options;
    if (message.type === 'written' || message.type === 'lost') {
      running.pendingRecords -= message.count;
      if (message.type === 'written') listener.onWritten(message.count);
      else listener.onLost(message.count, message.problem);
    } else {
      const query = running.pendingQueries.get(message.id);
      running.pendingQueries.delete(message.id);
      if (message.type === 'result') query?.resolve(message.result as never);
      else {
        const { code, message: text, details } = message;
        // The thread took both values from a GatewayError.
        query?.reject(new GatewayError(code as ErrorCode, text, { details: details as JsonObject }));
      }
    }
    if (running.pendingRecords === 0 && running.pendingQueries.size === 0) this.#closeWhenIdle(running);
  }

  #closeWhenIdle(running: RunningWorker): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (this.#running !== running) return;
      this.#running = undefined;
      this.#post(running, { type: 'close' });
    }, this.#options.idleMs ?? 60_000).unref();
  }

  #onExit(running: RunningWorker, reason: string): void {
    if (this.#running === running) this.#running = undefined;
    if (running.pendingRecords > 0) this.#options.listener.onLost(running.pendingRecords, reason);
    running.pendingRecords = 0;
    for (const { reject } of running.pendingQueries.values())
      reject(new GatewayError('STORE_LOCKED', `The audit log cannot be read: ${reason}.`));
    running.pendingQueries.clear();
  }
}
