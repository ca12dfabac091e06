import type { EndedCall } from '../ended-call.ts';
import type { AuditQuestions } from './audit-batch.ts';
import type { AuditEvent } from './audit-record.ts';
import type { AuditHealth, Recorder } from './recorder.ts';

/** Who is told of operations that are over, on the path of every call. */
export interface CallWatch {
  ended(ended: EndedCall): void;
}

interface TrailOptions {
  /** Loads what writes; called when there is something to write or to read. */
  readonly recorder: () => Promise<Recorder>;
  /** Whether anything is written; questions are answered all the same. */
  readonly isOn: boolean;
  readonly now: () => number;
  readonly drainMs?: number;
}

/** Short enough that with the pace of the thread and the writing not more than a tenth of a second is lost when the process is killed. */
const DRAIN_MS = 25;
/** What is held on to for longer costs the garbage collector more than it costs to hand it on; much sooner costs the thread more. */
const DRAIN_AT = 100;

/**
 * The record of everything, from the side of those who cause it. A call only leaves a note with the recorder, which is loaded for
 * the first of them; a moment later the notes are handed on.
 */
export class AuditTrail implements CallWatch, AsyncDisposable {
  #options: TrailOptions;
  #loading: Promise<Recorder> | undefined;
  /** What came before the recorder was loaded. */
  #early: ((recorder: Recorder) => void)[] = [];
  #noted = 0;
  #timer: NodeJS.Timeout | undefined;
  #health: AuditHealth = { written: 0, dropped: 0 };
  #recorder: Recorder | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: TrailOptions) {
    this.#options = options;
  }

  ended(ended: EndedCall): void {
    if (!this.#options.isOn) return;
    if (this.#recorder !== undefined) this.#recorder.add(ended);
    else this.#early.push((recorder) => recorder.add(ended));
    this.#note();
  }

  /** Records something that is no operation: a block, an approval, a change of the configuration, a sign-in, a key. */
  record(event: AuditEvent): void {
    if (!this.#options.isOn) return;
    const at = this.#options.now();
    if (this.#recorder !== undefined) this.#recorder.addEvent(at, event);
    else this.#early.push((recorder) => recorder.addEvent(at, event));
    this.#note();
  }

  /** Written in another way from now on; what was done before is still written as it was to be. */
  adjust(settings: Pick<TrailOptions, 'isOn' | 'recorder'>): void {
    this.#drain();
    const before = this.#loading;
    const { recorder } = settings;
    const ended = before?.then((old) => old.close()).catch(() => {}); // What it could not write is in its health.
    this.#health = this.health;
    this.#options = {
      ...this.#options,
      ...settings,
      recorder: () => (ended ?? Promise.resolve()).then(recorder),
    };
    this.#loading = undefined;
    this.#recorder = undefined;
    this.#early = [];
    this.#closing = ended;
  }

  /** Reads what was recorded, also by other processes. What was just done is written first. */
  async ask<Q extends keyof AuditQuestions>(
    question: Q,
    ask: AuditQuestions[Q]['ask'],
  ): Promise<AuditQuestions[Q]['answer']> {
    this.#drain();
    return (await this.#loaded()).ask(question, ask);
  }

  get health(): AuditHealth {
    const now = this.#recorder?.health;
    if (now === undefined) return this.#health;
    const { written, dropped } = this.#health;
    return { ...now, written: now.written + written, dropped: now.dropped + dropped };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#drain();
    await Promise.all([this.#closing, (async () => (await this.#loading)?.close())()]);
  }

  #note(): void {
    this.#noted++;
    if (this.#timer === undefined)
      this.#timer = setTimeout(() => this.#drain(), this.#options.drainMs ?? DRAIN_MS);
    else if (this.#noted >= DRAIN_AT) this.#drain();
  }

  #drain(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#noted === 0) return;
    this.#noted = 0;
    if (this.#recorder !== undefined) return this.#recorder.flush();
    const early = this.#early;
    this.#loaded()
      .then((recorder) => recorder.flush())
      .catch((error: unknown) => {
        const dropped = this.#health.dropped + early.splice(0).length;
        this.#health = { ...this.#health, dropped, problem: String(error) };
      });
  }

  #loaded(): Promise<Recorder> {
    if (this.#loading !== undefined) return this.#loading;
    const early = this.#early;
    const loading = this.#options.recorder().then((recorder) => {
      if (this.#loading === loading) this.#recorder = recorder;
      // At once, so that nothing that comes from now on is before them.
      for (const note of early.splice(0)) note(recorder);
      return recorder;
    });
    return (this.#loading = loading);
  }
}
