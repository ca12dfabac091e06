import { randomBytes } from 'node:crypto';

import type { EndedCall } from '../ended-call.ts';
import type { Logger } from '../log.ts';
import { SAMPLE_CHARS } from './audit-batch.ts';
import type { AuditQuestions } from './audit-batch.ts';
import type { AuditEvent } from './audit-record.ts';
import type { AuditSink, SinkTold } from './audit-thread.ts';
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
  readonly #raw = new RawRecords();
  readonly #prefix = randomBytes(6).toString('hex');
  #count = 0;
  #pending = 0;
  #written = 0;
  #dropped = 0;
  #problem: string | undefined;

  constructor(options: RecorderOptions) {
    this.#options = options;
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

  write(
    ended: readonly EndedCall[],
    events: readonly { readonly at: number; readonly event: AuditEvent }[],
  ): void {
    const room = Math.max(0, (this.#options.maxPending ?? MAX_PENDING) - this.#pending);
    const resultChars = this.#options.results ? KEPT_RESULT_CHARS : SAMPLE_CHARS;
    const records = ended
      .slice(0, room)
      .map((each) => this.#raw.of(each, { request: this.#request(), resultChars }));
    for (const { at, event } of events.slice(0, room - records.length))
      records.push(rawEvent(event, { at, request: this.#request() }));
    const excess = ended.length + events.length - records.length;
    if (excess > 0) this.#lose(excess, 'more is done than can be written');
    if (records.length === 0) return;
    this.#pending += records.length;
    this.#sink.write(records);
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

  #request(): string {
    return `${this.#prefix}-${++this.#count}`;
  }

  /** Said once; the status has the number. */
  #lose(count: number, problem: string): void {
    this.#dropped += count;
    if (this.#problem === undefined)
      this.#options.log.error('Operations cannot be recorded; calls go on.', { reason: problem });
    this.#problem = problem;
  }
}
