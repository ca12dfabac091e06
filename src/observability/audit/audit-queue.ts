import { randomBytes } from 'node:crypto';

import type { CompletedCall } from '../completed-call.ts';
import type { Logger } from '../log.ts';
import type { AuditQueries } from './audit-messages.ts';
import type { AuditEvent } from './audit-record.ts';
import type { AuditBackend, WriteListener } from './audit-thread.ts';
import { RecordBatch, SAMPLE_CHARS } from './record-batch.ts';
import { RecordBuilder, buildEventDraft } from './record-builder.ts';

export interface AuditHealth {
  readonly written: number;
  /** Records that could not be written, or that did not fit into the queue. */
  readonly dropped: number;
  /** Why the last record was lost; absent once writing works again. */
  readonly problem?: string | undefined;
}

interface AuditQueueOptions {
  readonly createBackend: (listener: WriteListener) => AuditBackend;
  /** Whether results are stored. If not, a short sample of each is enough to estimate its tokens. */
  readonly storesResults: boolean;
  readonly log: Logger;
  readonly maxPending?: number | undefined;
}

/** The maximum number of records that are not written yet, which bounds the memory if the disk is slow. */
const MAX_PENDING = 50_000;
/** The characters of a result that the thread receives if results are stored. */
const STORED_RESULT_CHARS = 65_536;

/** Batches the records of calls and events, passes the batches to the audit thread, and counts lost records. */
export class AuditQueue {
  readonly #options: AuditQueueOptions;
  readonly #backend: AuditBackend;
  readonly #builder: RecordBuilder;
  /** Request ids are this prefix and a number; the prefix is different in every process. */
  readonly #idPrefix = randomBytes(6).toString('hex');
  #batch = new RecordBatch(this.#idPrefix, 1);
  /** The number of records in all earlier batches. */
  #flushed = 0;
  /** The number of records that were sent to the thread but neither written nor lost yet. */
  #pending = 0;
  #written = 0;
  #dropped = 0;
  #problem: string | undefined;

  constructor(options: AuditQueueOptions) {
    this.#options = options;
    this.#builder = new RecordBuilder(options.storesResults ? STORED_RESULT_CHARS : SAMPLE_CHARS);
    this.#backend = options.createBackend({
      onWritten: (count) => {
        this.#pending -= count;
        this.#written += count;
        if (this.#problem !== undefined) options.log.info('The audit log can be written again.');
        this.#problem = undefined;
      },
      onLost: (count, problem) => {
        this.#pending -= count;
        this.#countLost(count, problem);
      },
    });
  }

  /**
   * Encodes the record at once and releases the call. A call over HTTP holds ten times as much memory as its record,
   * and the garbage collector would copy it while it waits for the flush.
   */
  add(call: CompletedCall): void {
    if (!this.#hasRoom()) return;
    try {
      this.#batch.add(this.#builder.build(call));
    } catch (error) {
      this.#countLost(1, String(error)); // Rejected arguments may be nested too deeply to be serialized.
    }
  }

  addEvent(at: number, event: AuditEvent): void {
    if (this.#hasRoom()) this.#batch.add(buildEventDraft(event, at));
  }

  /** Sends the current batch to the audit thread. */
  flush(): void {
    const batch = this.#batch;
    if (batch.count === 0) return;
    this.#flushed += batch.count;
    this.#batch = new RecordBatch(this.#idPrefix, this.#flushed + 1);
    this.#pending += batch.count;
    this.#backend.write(batch.encode());
  }

  query<Q extends keyof AuditQueries>(
    name: Q,
    params: AuditQueries[Q]['params'],
  ): Promise<AuditQueries[Q]['result']> {
    return this.#backend.query(name, params);
  }

  close(): Promise<void> {
    return this.#backend.close();
  }

  get health(): AuditHealth {
    return {
      written: this.#written,
      dropped: this.#dropped,
      problem: this.#problem,
    };
  }

  #hasRoom(): boolean {
    if (this.#pending + this.#batch.count < (this.#options.maxPending ?? MAX_PENDING)) return true;
    this.#countLost(1, 'the queue is full: records arrive faster than they can be written');
    return false;
  }

  /** Logs only the first loss; the status shows the count. */
  #countLost(count: number, problem: string): void {
    this.#dropped += count;
    if (this.#problem === undefined)
      this.#options.log.error('The audit log cannot be written; calls continue without records.', {
        reason: problem,
      });
    this.#problem = problem;
  }
}
