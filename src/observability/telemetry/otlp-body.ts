import type { JsonObject } from '../../core/json.ts';
import type { CompletedCall, TraceIds } from '../completed-call.ts';
import { classifyOutcome } from '../outcome.ts';
import { DURATION_BUCKETS } from './call-metrics.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { GatewayGauges } from './gateway-gauges.ts';

type Attributes = Readonly<Record<string, string | undefined>>;

const SCOPE = { name: 'trunkline' };
// Values of the OTLP enumerations `SpanKind`, `StatusCode` and `AggregationTemporality`.
const KIND_SERVER = 2;
const STATUS_ERROR = 2;
const CUMULATIVE = 2;

export interface OtlpResource {
  readonly service: string;
  readonly version: string;
}

/** Builds a span in the JSON encoding of OTLP, in which 64-bit numbers are strings. */
export function buildSpan(completed: CompletedCall, ids: TraceIds): JsonObject {
  const { operation, caller } = completed.call;
  const { outcome, code } = classifyOutcome(completed);
  const { entry, method, upstream } = operation;
  const name = entry?.kind === 'tool' || entry?.kind === 'prompt' ? entry.definition.name : undefined;
  return {
    traceId: ids.traceId,
    spanId: ids.spanId,
    parentSpanId: ids.parentId,
    name: name === undefined ? method : `${method} ${name}`,
    kind: KIND_SERVER,
    startTimeUnixNano: toNanoseconds(completed.at),
    endTimeUnixNano: toNanoseconds(completed.at + completed.ms),
    attributes: formatAttributes({
      'mcp.method.name': method,
      [entry?.kind === 'prompt' ? 'gen_ai.prompt.name' : 'gen_ai.tool.name']: name,
      'trunkline.server': upstream,
      'trunkline.profile': caller.profile,
      'trunkline.outcome': outcome,
      'error.type': code ?? (outcome === 'ok' ? undefined : outcome),
    }),
    status: outcome === 'ok' ? {} : { code: STATUS_ERROR },
  };
}

export function buildTracesBody(spans: readonly JsonObject[], resource: OtlpResource): JsonObject {
  return { resourceSpans: [{ resource: formatResource(resource), scopeSpans: [{ scope: SCOPE, spans }] }] };
}

export function buildMetricsBody(
  metrics: CallMetrics,
  gauges: GatewayGauges,
  { resource, now }: { readonly resource: OtlpResource; readonly now: number },
): JsonObject {
  const time = { startTimeUnixNano: toNanoseconds(metrics.since), timeUnixNano: toNanoseconds(now) };
  const calls = [...metrics.calls].map(({ server, kind, outcome, code, calls: count }) => ({
    ...time,
    asInt: String(count),
    attributes: formatAttributes({ server, kind, outcome, code: code === '' ? undefined : code }),
  }));
  const durations = [...metrics.durations].map(({ server, counts, sum }) => ({
    ...time,
    count: String(counts.reduce((total, count) => total + count, 0)),
    sum,
    bucketCounts: counts.map(String),
    explicitBounds: DURATION_BUCKETS,
    attributes: formatAttributes({ server }),
  }));
  const buildGauge = (name: string, points: readonly JsonObject[]): JsonObject => ({
    name,
    gauge: { dataPoints: points },
  });
  const pointsPerServer = (
    value: (server: GatewayGauges['servers'][number]) => number,
  ): readonly JsonObject[] =>
    gauges.servers.map((server) => ({
      ...time,
      asInt: String(value(server)),
      attributes: formatAttributes({ server: server.name }),
    }));
  const allMetrics = [
    {
      name: 'trunkline.calls',
      unit: '{call}',
      sum: { dataPoints: calls, aggregationTemporality: CUMULATIVE, isMonotonic: true },
    },
    {
      name: 'trunkline.call.duration',
      unit: 's',
      histogram: { dataPoints: durations, aggregationTemporality: CUMULATIVE },
    },
    buildGauge(
      'trunkline.server.ready',
      pointsPerServer(({ isReady }) => Number(isReady)),
    ),
    buildGauge(
      'trunkline.server.in_flight',
      pointsPerServer(({ inFlight }) => inFlight),
    ),
    buildGauge('trunkline.clients', [{ ...time, asInt: String(gauges.clients) }]),
  ];
  return {
    resourceMetrics: [
      { resource: formatResource(resource), scopeMetrics: [{ scope: SCOPE, metrics: allMetrics }] },
    ],
  };
}

function formatResource({ service, version }: OtlpResource): JsonObject {
  return { attributes: formatAttributes({ 'service.name': service, 'service.version': version }) };
}

function formatAttributes(values: Attributes): readonly JsonObject[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: { stringValue: value } }],
  );
}

/**
 * Converts milliseconds to nanoseconds, rounded to microseconds. Nanoseconds since the epoch exceed the
 * largest safe integer of a number.
 */
function toNanoseconds(ms: number): string {
  return `${BigInt(Math.round(ms * 1000)) * 1000n}`;
}
