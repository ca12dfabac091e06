import type { JsonObject } from '../../model/json.ts';
import type { EndedCall, TraceIds } from '../ended-call.ts';
import { outcomeOf } from '../outcome.ts';
import { BUCKETS } from './call-metrics.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { GatewayNumbers } from './gateway-numbers.ts';

type Attributes = Readonly<Record<string, string | undefined>>;

const SCOPE = { name: 'trunkline' };
const KIND_SERVER = 2;
const STATUS_ERROR = 2;
const CUMULATIVE = 2;

export interface Resource {
  readonly service: string;
  readonly version: string;
}

/** One span of OTLP's JSON form; numbers of 64 bits are texts there. */
export function spanOf(ended: EndedCall, ids: TraceIds): JsonObject {
  const { operation, caller } = ended.call;
  const { outcome, code } = outcomeOf(ended);
  const { entry, method, upstream } = operation;
  const name = entry?.kind === 'tool' || entry?.kind === 'prompt' ? entry.definition.name : undefined;
  return {
    traceId: ids.traceId,
    spanId: ids.spanId,
    ...(ids.parentId !== undefined && { parentSpanId: ids.parentId }),
    name: name === undefined ? method : `${method} ${name}`,
    kind: KIND_SERVER,
    startTimeUnixNano: nano(ended.at),
    endTimeUnixNano: nano(ended.at + ended.ms),
    attributes: attributes({
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

export function tracesBody(spans: readonly JsonObject[], resource: Resource): JsonObject {
  return { resourceSpans: [{ resource: resourceOf(resource), scopeSpans: [{ scope: SCOPE, spans }] }] };
}

export function metricsBody(
  metrics: CallMetrics,
  numbers: GatewayNumbers,
  { resource, now }: { readonly resource: Resource; readonly now: number },
): JsonObject {
  const time = { startTimeUnixNano: nano(metrics.since), timeUnixNano: nano(now) };
  const calls = [...metrics.calls].map(({ server, kind, outcome, code, calls: count }) => ({
    ...time,
    asInt: String(count),
    attributes: attributes({ server, kind, outcome, ...(code !== '' && { code }) }),
  }));
  const durations = [...metrics.durations].map(({ server, counts, sum }) => ({
    ...time,
    count: String(counts.reduce((all, count) => all + count, 0)),
    sum,
    bucketCounts: counts.map(String),
    explicitBounds: BUCKETS,
    attributes: attributes({ server }),
  }));
  const gauge = (name: string, points: readonly JsonObject[]): JsonObject => ({
    name,
    gauge: { dataPoints: points },
  });
  const ofServers = (value: (server: GatewayNumbers['servers'][number]) => number): readonly JsonObject[] =>
    numbers.servers.map((server) => ({
      ...time,
      asInt: String(value(server)),
      attributes: attributes({ server: server.name }),
    }));
  const all = [
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
    gauge(
      'trunkline.server.ready',
      ofServers(({ isReady }) => Number(isReady)),
    ),
    gauge(
      'trunkline.server.in_flight',
      ofServers(({ inFlight }) => inFlight),
    ),
    gauge('trunkline.clients', [{ ...time, asInt: String(numbers.clients) }]),
  ];
  return {
    resourceMetrics: [{ resource: resourceOf(resource), scopeMetrics: [{ scope: SCOPE, metrics: all }] }],
  };
}

function resourceOf({ service, version }: Resource): JsonObject {
  return { attributes: attributes({ 'service.name': service, 'service.version': version }) };
}

function attributes(values: Attributes): readonly JsonObject[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === undefined ? [] : [{ key, value: { stringValue: value } }],
  );
}

function nano(ms: number): string {
  return `${BigInt(Math.round(ms * 1000)) * 1000n}`;
}
