import { DURATION_BUCKETS } from './call-metrics.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { GatewayGauges } from './gateway-gauges.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number, suffix?: string];

/** Formats all metrics in the text format of Prometheus. */
export function formatPrometheus(metrics: CallMetrics, gauges: GatewayGauges): string {
  const calls = [...metrics.calls];
  return [
    formatFamily(
      'trunkline_calls_total',
      'counter',
      'Completed operations.',
      calls.map(({ server, kind, outcome, code, calls: count }): Sample => [
        { server, kind, outcome, code },
        count,
      ]),
    ),
    formatFamily(
      'trunkline_result_bytes_total',
      'counter',
      'Size of the results in bytes.',
      calls.map(({ server, kind, outcome, code, bytesOut }): Sample => [
        { server, kind, outcome, code },
        bytesOut,
      ]),
    ),
    formatFamily(
      'trunkline_call_duration_seconds',
      'histogram',
      'Duration of operations.',
      durationSamples(metrics),
    ),
    formatFamily(
      'trunkline_server_ready',
      'gauge',
      'Whether a server is connected.',
      gauges.servers.map(({ name, isReady }): Sample => [{ server: name }, Number(isReady)]),
    ),
    formatFamily(
      'trunkline_server_calls_in_flight',
      'gauge',
      'Calls in progress on a server.',
      gauges.servers.map(({ name, inFlight }): Sample => [{ server: name }, inFlight]),
    ),
    formatFamily('trunkline_clients', 'gauge', 'Connected client sessions.', [[{}, gauges.clients]]),
    formatFamily('trunkline_unrecorded_total', 'counter', 'Operations that are missing from the audit log.', [
      [{}, gauges.unrecorded],
    ]),
    formatFamily('process_resident_memory_bytes', 'gauge', 'Resident memory of the process in bytes.', [
      [{}, gauges.residentBytes],
    ]),
  ].join('');
}

/** Returns the samples of the histogram; its buckets are cumulative in this format. */
function durationSamples(metrics: CallMetrics): readonly Sample[] {
  return [...metrics.durations].flatMap(({ server, counts, sum }): readonly Sample[] => {
    let cumulative = 0;
    const buckets = counts.map((count, index): Sample => {
      cumulative += count;
      return [{ server, le: String(DURATION_BUCKETS[index] ?? '+Inf') }, cumulative, '_bucket'];
    });
    return [...buckets, [{ server }, sum, '_sum'], [{ server }, cumulative, '_count']];
  });
}

function formatFamily(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value, suffix = '']) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escapeLabel(text)}"`);
    return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function escapeLabel(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
