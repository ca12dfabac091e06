import type { CompletedCall } from '../completed-call.ts';
import { classifyOutcome } from '../outcome.ts';

/** Upper bounds of the buckets in seconds. */
export const DURATION_BUCKETS = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
] as const;

export interface CallSeries {
  readonly server: string;
  readonly kind: string;
  readonly outcome: string;
  /** One of our error codes, `rpc` for errors of servers, or empty. */
  readonly code: string;
  calls: number;
  bytesOut: number;
}

export interface DurationSeries {
  readonly server: string;
  /** Calls per bucket, not cumulative; the last element counts calls that are longer than every bound. */
  readonly counts: number[];
  /** The total duration in seconds. */
  sum: number;
}

/** The label of calls whose name belongs to no configured server. */
const NO_SERVER = 'none';

/**
 * Counts calls and their durations. Label values come from closed sets (configured servers, kinds, outcomes, codes) and never from callers,
 * tools or clients, so the number of series is bounded.
 */
export class CallMetrics {
  /** When counting began, in milliseconds since the epoch. */
  readonly since: number;
  readonly #calls = new Map<string, CallSeries>();
  readonly #durations = new Map<string, DurationSeries>();

  constructor(now: () => number) {
    this.since = now();
  }

  onCallEnd(completed: CompletedCall): void {
    const { operation } = completed.call;
    const { outcome, code = '' } = classifyOutcome(completed);
    const server = operation.upstream ?? NO_SERVER;
    const codeLabel = code.startsWith('rpc:') ? 'rpc' : code;
    const key = `${server}\0${operation.kind}\0${outcome}\0${codeLabel}`;
    let series = this.#calls.get(key);
    if (series === undefined) {
      series = { server, kind: operation.kind, outcome, code: codeLabel, calls: 0, bytesOut: 0 };
      this.#calls.set(key, series);
    }
    series.calls++;
    series.bytesOut += completed.payload?.byteLength ?? 0;
    if (outcome !== 'refused') this.#addDuration(server, completed.ms / 1000);
  }

  get calls(): Iterable<CallSeries> {
    return this.#calls.values();
  }

  get durations(): Iterable<DurationSeries> {
    return this.#durations.values();
  }

  #addDuration(server: string, seconds: number): void {
    let series = this.#durations.get(server);
    if (series === undefined) {
      series = { server, counts: Array.from({ length: DURATION_BUCKETS.length + 1 }, () => 0), sum: 0 };
      this.#durations.set(server, series);
    }
    const index = DURATION_BUCKETS.findIndex((bound) => seconds <= bound);
    const bucket = index < 0 ? DURATION_BUCKETS.length : index;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += seconds;
  }
}
