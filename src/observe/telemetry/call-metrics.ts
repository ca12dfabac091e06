import type { EndedCall } from '../ended-call.ts';
import { outcomeOf } from '../outcome.ts';

/** Upper ends of the buckets, in seconds. */
export const BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export interface CallSeries {
  readonly server: string;
  readonly kind: string;
  readonly outcome: string;
  /** A code of ours, `rpc` for what servers answered, or nothing. */
  readonly code: string;
  calls: number;
  bytesOut: number;
}

export interface DurationSeries {
  readonly server: string;
  /** One more than there are buckets, for what is longer. */
  readonly counts: number[];
  sum: number;
}

/** No server is meant by the name, or one that is not configured. */
const NO_SERVER = 'none';

/** Numbers about calls. Labels have values of closed sets only, never names of callers, tools or clients. */
export class CallMetrics {
  readonly since: number;
  readonly #calls = new Map<string, CallSeries>();
  readonly #durations = new Map<string, DurationSeries>();

  constructor(now: () => number) {
    this.since = now();
  }

  ended(ended: EndedCall): void {
    const { operation } = ended.call;
    const { outcome, code = '' } = outcomeOf(ended);
    const server = operation.upstream ?? NO_SERVER;
    const said = code.startsWith('rpc:') ? 'rpc' : code;
    const key = `${server}\0${operation.kind}\0${outcome}\0${said}`;
    let calls = this.#calls.get(key);
    if (calls === undefined) {
      calls = { server, kind: operation.kind, outcome, code: said, calls: 0, bytesOut: 0 };
      this.#calls.set(key, calls);
    }
    calls.calls++;
    calls.bytesOut += ended.payload?.byteLength ?? 0;
    if (outcome !== 'refused') this.#took(server, ended.ms / 1000);
  }

  get calls(): Iterable<CallSeries> {
    return this.#calls.values();
  }

  get durations(): Iterable<DurationSeries> {
    return this.#durations.values();
  }

  #took(server: string, seconds: number): void {
    let own = this.#durations.get(server);
    if (own === undefined) {
      own = { server, counts: Array.from({ length: BUCKETS.length + 1 }, () => 0), sum: 0 };
      this.#durations.set(server, own);
    }
    const at = BUCKETS.findIndex((end) => seconds <= end);
    const bucket = at < 0 ? BUCKETS.length : at;
    own.counts[bucket] = (own.counts[bucket] ?? 0) + 1;
    own.sum += seconds;
  }
}
