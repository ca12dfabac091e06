import type { JsonObject } from '../../model/json.ts';
import type { EndedCall } from '../ended-call.ts';
import type { Logger } from '../log.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { GatewayNumbers } from './gateway-numbers.ts';
import { metricsBody, spanOf, tracesBody } from './otlp-body.ts';
import type { Resource } from './otlp-body.ts';
import { traceOf } from './trace-context.ts';

interface ExporterOptions {
  /** Base address; `/v1/traces` and `/v1/metrics` are added. */
  readonly endpoint: string;
  /** Revealed when they are sent. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly intervalMs: number;
  readonly metrics: CallMetrics;
  readonly numbers: () => GatewayNumbers;
  readonly resource: Resource;
  readonly log: Logger;
  readonly now: () => number;
}

/** Spans that wait; what is more is not sent, since a collector that is away must not cost memory. */
const MAX_SPANS = 4096;
const SEND_WITHIN_MS = 5000;

/** Sends what happened to a collector, every few seconds and at the end. A collector that fails is told of once. */
export class OtlpExporter implements AsyncDisposable {
  readonly #options: ExporterOptions;
  readonly #timer: NodeJS.Timeout;
  #spans: JsonObject[] = [];
  #dropped = 0;
  #isFailing = false;
  #sending: Promise<void> | undefined;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#send(), options.intervalMs).unref();
  }

  ended(ended: EndedCall): void {
    const ids = ended.call.trace ?? traceOf(ended.call.operation.params);
    // Whoever began the trace decided that it is not looked at.
    if (!ids.isSampled) return;
    if (this.#spans.length >= MAX_SPANS) this.#dropped++;
    else this.#spans.push(spanOf(ended, ids));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#sending;
    await this.#send();
  }

  #send(): Promise<void> {
    return (this.#sending ??= this.#sendAll().finally(() => (this.#sending = undefined)));
  }

  async #sendAll(): Promise<void> {
    const { metrics, numbers, resource, now, log } = this.#options;
    const spans = this.#spans;
    this.#spans = [];
    try {
      if (spans.length > 0) await this.#post('/v1/traces', tracesBody(spans, resource));
      await this.#post('/v1/metrics', metricsBody(metrics, numbers(), { resource, now: now() }));
      if (this.#isFailing) log.info('The collector takes traces and metrics again.', { lost: this.#dropped });
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += spans.length;
      if (!this.#isFailing)
        log.warn('Traces and metrics cannot be sent to the collector.', { reason: reasonOf(error) });
      this.#isFailing = true;
    }
  }

  async #post(path: string, body: JsonObject): Promise<void> {
    const { endpoint, headers } = this.#options;
    const response = await fetch(endpoint.replace(/\/+$/, '') + path, {
      method: 'POST',
      headers: { ...(await headers()), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(SEND_WITHIN_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`it answered with ${response.status}`);
  }
}

/** Without the address, which may hold a key. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error.message.startsWith('it answered') ? error.message : error.name;
}
