import type { JsonObject } from '../../core/json.ts';
import type { CompletedCall } from '../completed-call.ts';
import type { Logger } from '../log.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { GatewayGauges } from './gateway-gauges.ts';
import { buildMetricsBody, buildSpan, buildTracesBody } from './otlp-body.ts';
import type { OtlpResource } from './otlp-body.ts';
import { readTraceContext } from './trace-context.ts';

interface OtlpExporterOptions {
  /** The base URL, to which `/v1/traces` and `/v1/metrics` are added. */
  readonly endpoint: string;
  /** Resolves secret references for each request. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>;
  readonly intervalMs: number;
  /** Maximum time of one request. */
  readonly timeoutMs?: number;
  readonly metrics: CallMetrics;
  readonly gauges: () => GatewayGauges;
  readonly resource: OtlpResource;
  readonly log: Logger;
  readonly now: () => number;
}

/** The maximum number of spans between two sends; further ones are dropped, to bound the memory. */
const MAX_SPANS = 4096;
const SEND_TIMEOUT_MS = 5000;

/** Sends traces and metrics to an OpenTelemetry collector at an interval and on shutdown. Logs a failure only once. */
export class OtlpExporter implements AsyncDisposable {
  readonly #options: OtlpExporterOptions;
  readonly #timer: NodeJS.Timeout;
  #spans: JsonObject[] = [];
  /** The number of spans that were not sent, since the start. */
  #dropped = 0;
  #isFailing = false;
  #sending: Promise<void> | undefined;

  constructor(options: OtlpExporterOptions) {
    this.#options = options;
    this.#timer = setInterval(() => void this.#send(), options.intervalMs).unref();
  }

  onCallEnd(completed: CompletedCall): void {
    const ids = completed.call.trace ?? readTraceContext(completed.call.operation.params);
    // A client that started the trace can decide that it is not sampled.
    if (!ids.isSampled) return;
    if (this.#spans.length >= MAX_SPANS) this.#dropped++;
    else this.#spans.push(buildSpan(completed, ids));
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
    const { metrics, gauges, resource, now, log } = this.#options;
    const spans = this.#spans;
    this.#spans = [];
    try {
      if (spans.length > 0) await this.#post('/v1/traces', buildTracesBody(spans, resource));
      await this.#post('/v1/metrics', buildMetricsBody(metrics, gauges(), { resource, now: now() }));
      if (this.#isFailing)
        log.info('The telemetry collector accepts traces and metrics again.', { lost: this.#dropped });
      this.#isFailing = false;
    } catch (error) {
      this.#dropped += spans.length;
      if (!this.#isFailing)
        log.warn('Traces and metrics cannot be sent to the telemetry collector; check telemetry.endpoint.', {
          reason: describeError(error),
        });
      this.#isFailing = true;
    }
  }

  async #post(path: string, body: JsonObject): Promise<void> {
    const { endpoint, headers, timeoutMs = SEND_TIMEOUT_MS } = this.#options;
    const response = await fetch(endpoint.replace(/\/+$/, '') + path, {
      method: 'POST',
      headers: { ...(await headers()), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.body?.cancel();
    if (!response.ok) throw new HttpStatusError(`HTTP status ${response.status}`);
  }
}

class HttpStatusError extends Error {}

/** Returns the reason without the URL, which may contain a key. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { cause } = error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error instanceof HttpStatusError ? error.message : error.name;
}
