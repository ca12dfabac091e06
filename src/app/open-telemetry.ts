import type { ConfigSnapshot } from '../config/config.ts';
import { referenceReader, reveal } from '../config/references.ts';
import type { Gateway } from '../gateway/gateway.ts';
import type { AuditTrail, CallWatch } from '../observe/audit/audit-trail.ts';
import type { Logger } from '../observe/log.ts';
import type { GatewayNumbers } from '../observe/telemetry/gateway-numbers.ts';
import type { AppOptions } from './app-options.ts';

/** Who is told of calls, and what else follows from the configuration of traces and metrics. */
export interface Telemetry {
  readonly watch: CallWatch | undefined;
  /** Whether calls get spans. */
  readonly isTracing: boolean;
  /** What `/metrics` answers; absent where it is not served. */
  readonly metricsText: (() => string) | undefined;
  /** Sends what is left. */
  close(): Promise<void>;
}

interface TelemetryDeps {
  readonly audit: AuditTrail;
  readonly log: Logger;
  readonly gateway: () => Gateway;
  readonly clients: () => number;
}

/** Traces and metrics are loaded only where they are configured. */
export async function openTelemetry(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: TelemetryDeps,
): Promise<Telemetry> {
  const { audit, telemetry, metrics: isServed } = snapshot.value;
  // As everywhere with OpenTelemetry, this variable has the last word.
  const isOff = fromEnv(options, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  const endpoint = isOff
    ? undefined
    : (telemetry.endpoint ?? fromEnv(options, 'OTEL_EXPORTER_OTLP_ENDPOINT'));
  const record = audit.enabled ? deps.audit : undefined;
  if (endpoint === undefined && !isServed)
    return { watch: record, isTracing: false, metricsText: undefined, close: async () => {} };
  const { CallMetrics } = await import('../observe/telemetry/call-metrics.ts');
  const metrics = new CallMetrics(Date.now);
  const numbers = (): GatewayNumbers => numbersOf(deps);
  const watches: CallWatch[] = [metrics, ...(record === undefined ? [] : [record])];
  let close = async (): Promise<void> => {};
  if (endpoint !== undefined) {
    const { OtlpExporter } = await import('../observe/telemetry/otlp-exporter.ts');
    const revealed = revealer(options, snapshot);
    const exporter = new OtlpExporter({
      endpoint: await revealed(endpoint, 'endpoint'),
      headers: () => headersOf(options, telemetry.headers, revealed),
      ...{ intervalMs: telemetry.intervalMs, metrics, numbers, log: deps.log, now: Date.now },
      resource: { service: fromEnv(options, 'OTEL_SERVICE_NAME') ?? 'trunkline', version: options.version },
    });
    watches.push(exporter);
    close = () => exporter[Symbol.asyncDispose]();
  }
  const { prometheusText } = await import('../observe/telemetry/prometheus-text.ts');
  return {
    watch: { ended: (ended) => watches.forEach((watch) => watch.ended(ended)) },
    isTracing: endpoint !== undefined,
    metricsText: isServed ? () => prometheusText(metrics, numbers()) : undefined,
    close,
  };
}

type Revealed = (text: string, field: string) => Promise<string>;

function revealer({ env, home }: AppOptions, { file }: ConfigSnapshot): Revealed {
  const reader = referenceReader({ env, home, configFile: file });
  return (text, field) =>
    reveal(text, { server: 'telemetry', field, read: (reference) => reader.read(reference) });
}

/** Of the configuration, over those that other programs take from the environment: `name=value,name=value`. */
async function headersOf(
  options: AppOptions,
  configured: Readonly<Record<string, string>>,
  revealed: Revealed,
): Promise<Readonly<Record<string, string>>> {
  const given = (fromEnv(options, 'OTEL_EXPORTER_OTLP_HEADERS') ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
  });
  const own = await Promise.all(
    Object.entries(configured).map(async ([name, value]) => [name, await revealed(value, `headers.${name}`)]),
  );
  return Object.fromEntries([...given, ...own]) as Record<string, string>;
}

function fromEnv({ env }: AppOptions, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

function numbersOf({ gateway, clients, audit }: TelemetryDeps): GatewayNumbers {
  return {
    clients: clients(),
    servers: gateway()
      .status()
      .map(({ name, state, inFlight }) => ({ name, isReady: state === 'ready', inFlight })),
    unrecorded: audit.health.dropped,
    residentBytes: process.memoryUsage.rss(),
  };
}
