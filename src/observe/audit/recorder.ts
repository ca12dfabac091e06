import { randomBytes } from 'node:crypto';

import type { EndedCall } from '../ended-call.ts';
import type { Logger } from '../log.ts';
import { SAMPLE_CHARS } from './audit-batch.ts';
import type { AuditQuestions } from './audit-batch.ts';
import type { AuditEvent } from './audit-record.ts';
import type { AuditSink, SinkTold } from './audit-thread.ts';
import { RecordBatch } from './packed-records.ts';
import { RawRecords, rawEvent } from './raw-records.ts';

export interface AuditHealth {
  readonly written: number;
  /** Records that could not be written, or were too many at once. */
  readonly dropped: number;
  /** Why the last of them was lost; absent once writing works again. */
  readonly problem?: string;
}

interface RecorderOptions {
  readonly sink: (told: SinkTold) => AuditSink;
  /** Whether results are kept, so that the sink needs more of them. */
  readonly results: boolean;
  readonly log: Logger;
  readonly maxPending?: number;
}

/** Records that wait to be written; the record must not take the memory of a gateway whose disk is slow. */
const MAX_PENDING = 50_000;
const KEPT_RESULT_CHARS = 65_536;

/** Makes records of notes and hands them to the sink; counts what cannot be written. */
export class Recorder {
  readonly #options: RecorderOptions;
  readonly #sink: AuditSink;
  readonly #raw: RawRecords;
  readonly #prefix = randomBytes(6).toString('hex');
  #batch = new RecordBatch(this.#prefix, 1);
  /** Records that were handed on. */
  #count = 0;
  #pending = 0;
  #written = 0;
  #dropped = 0;
  #problem: string | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
    this.#raw = new RawRecords(options.results ? KEPT_RESULT_CHARS : SAMPLE_CHARS);
    this.#sink = options.sink({
      written: (count) => {
        this.#pending -= count;
        this.#written += count;
        if (this.#problem !== undefined) options.log.info('Operations are recorded again.');
        this.#problem = undefined;
      },
      lost: (count, problem) => {
        this.#pending -= count;
        this.#lose(count, problem);
      },
    });
  }

  /**
   * Takes what is needed of a call at once and lets go of the rest: of a call over HTTP that is ten times as much, and what waits
   * for a moment is copied by the garbage collector.
   */
  add(ended: EndedCall): void {
    if (!this.#hasRoom()) return;
    try {
      this.#batch.add(this.#raw.of(ended));
    } catch (error) {
      this.#lose(1, String(error)); // Arguments that were refused may be nested too deeply to be written.
    }
  }

  addEvent(at: number, event: AuditEvent): void {
    if (this.#hasRoom()) this.#batch.add(rawEvent(event, at));
  }

  /** Hands on what was added. */
  flush(): void {
    const batch = this.#batch;
    if (batch.count === 0) return;
    this.#count += batch.count;
    this.#batch = new RecordBatch(this.#prefix, this.#count + 1);
    this.#pending += batch.count;
    this.#sink.write(batch.packed());
  }

  ask<Q extends keyof AuditQuestions>(
    question: Q,
    ask: AuditQuestions[Q]['ask'],
  ): Promise<AuditQuestions[Q]['answer']> {
    return this.#sink.ask(question, ask);
  }

  close(): Promise<void> {
    return this.#sink.close();
  }

  get health(): AuditHealth {
    return {
      written: this.#written,
      dropped: this.#dropped,
      ...(this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  #hasRoom(): boolean {
    if (this.#pending + this.#batch.count < (this.#options.maxPending ?? MAX_PENDING)) return true;
    this.#lose(1, 'more is done than can be written');
    return false;
  }

  /** Said once; the status has the number. */
  #lose(count: number, problem: string): void {
    this.#dropped += count;
    if (this.#problem === undefined)
      this.#options.log.error('Operations cannot be recorded; calls go on.', { reason: problem });
    this.#problem = problem;
  }
}
