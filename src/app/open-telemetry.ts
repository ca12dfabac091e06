import type { ConfigSnapshot } from '../config/config.ts';
import { createReferenceReader, resolveReferences } from '../config/resolve-references.ts';
import type { AuditTrail, CallObserver } from '../observability/audit/audit-trail.ts';
import type { Logger } from '../observability/log.ts';
import type { GatewayGauges } from '../observability/telemetry/gateway-gauges.ts';
import type { AppOptions } from './app-options.ts';
import type { Runtime } from './runtime.ts';

/** The observers of calls, traces and metrics that the configuration enables. */
export interface Telemetry {
  readonly callObserver: CallObserver | undefined;
  /** Whether calls get spans. */
  readonly isTracing: boolean;
  /** Returns the text of `/metrics`; undefined if metrics are off. */
  readonly metricsText: (() => string) | undefined;
  /** Exports the remaining data. */
  close(): Promise<void>;
}

interface TelemetryDeps {
  readonly audit: AuditTrail;
  readonly log: Logger;
  readonly runtime: Pick<Runtime, 'gateway' | 'clients' | 'variables'>;
}

/** Opens telemetry. The code for traces and metrics is loaded only if they are configured. */
export async function openTelemetry(
  options: AppOptions,
  snapshot: ConfigSnapshot,
  deps: TelemetryDeps,
): Promise<Telemetry> {
  const { audit, telemetry, metrics: hasMetrics } = snapshot.value;
  // As OpenTelemetry specifies, this variable disables the export whatever the other settings say.
  const isOff = fromEnv(options, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  const endpoint = isOff
    ? undefined
    : (telemetry.endpoint ?? fromEnv(options, 'OTEL_EXPORTER_OTLP_ENDPOINT'));
  const record = audit.enabled ? deps.audit : undefined;
  if (endpoint === undefined && !hasMetrics)
    return { callObserver: record, isTracing: false, metricsText: undefined, close: async () => {} };
  const { CallMetrics } = await import('../observability/telemetry/call-metrics.ts');
  const metrics = new CallMetrics(Date.now);
  const gauges = (): GatewayGauges => readGauges(deps);
  const observers: CallObserver[] = [metrics, ...(record === undefined ? [] : [record])];
  let close = async (): Promise<void> => {};
  if (endpoint !== undefined) {
    const { OtlpExporter } = await import('../observability/telemetry/otlp-exporter.ts');
    const resolveText = createTextResolver(options, snapshot, deps.runtime);
    const exporter = new OtlpExporter({
      endpoint: await resolveText(endpoint, 'endpoint'),
      headers: () => headersOf(options, telemetry.headers, resolveText),
      intervalMs: telemetry.intervalMs,
      metrics,
      gauges,
      log: deps.log,
      now: Date.now,
      resource: { service: fromEnv(options, 'OTEL_SERVICE_NAME') ?? 'trunkline', version: options.version },
    });
    observers.push(exporter);
    close = () => exporter[Symbol.asyncDispose]();
  }
  const { formatPrometheus } = await import('../observability/telemetry/prometheus-text.ts');
  return {
    callObserver: { onCallEnd: (call) => observers.forEach((observer) => observer.onCallEnd(call)) },
    isTracing: endpoint !== undefined,
    metricsText: hasMetrics ? () => formatPrometheus(metrics, gauges()) : undefined,
    close,
  };
}

type ResolveText = (text: string, field: string) => Promise<string>;

function createTextResolver(
  { env, home }: AppOptions,
  { file }: ConfigSnapshot,
  { variables }: TelemetryDeps['runtime'],
): ResolveText {
  const reader = createReferenceReader({ env, readVariable: variables.read, home, configFile: file });
  return (text, field) =>
    resolveReferences(text, { server: 'telemetry', field, read: (reference) => reader.read(reference) });
}

/** Returns the headers of OTEL_EXPORTER_OTLP_HEADERS (`name=value,name=value`), overridden by those of the configuration. */
async function headersOf(
  options: AppOptions,
  configured: Readonly<Record<string, string>>,
  resolveText: ResolveText,
): Promise<Readonly<Record<string, string>>> {
  const given = (fromEnv(options, 'OTEL_EXPORTER_OTLP_HEADERS') ?? '').split(',').flatMap((pair) => {
    const at = pair.indexOf('=');
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())]];
  });
  const own = await Promise.all(
    Object.entries(configured).map(async ([name, value]) => [
      name,
      await resolveText(value, `headers.${name}`),
    ]),
  );
  return Object.fromEntries([...given, ...own]) as Record<string, string>;
}

function fromEnv({ env }: AppOptions, name: string): string | undefined {
  return env[name] === '' ? undefined : env[name];
}

function readGauges({ runtime, audit }: TelemetryDeps): GatewayGauges {
  const servers = runtime.gateway?.status() ?? [];
  return {
    clients: runtime.clients(),
    servers: servers.map(({ name, state, inFlight }) => ({ name, isReady: state === 'ready', inFlight })),
    unrecorded: audit.health.dropped,
    residentBytes: process.memoryUsage.rss(),
  };
}
