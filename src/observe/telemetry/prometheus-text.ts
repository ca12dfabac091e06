import { BUCKETS } from './call-metrics.ts';
import type { CallMetrics } from './call-metrics.ts';
import type { GatewayNumbers } from './gateway-numbers.ts';

type Labels = Readonly<Record<string, string>>;
type Sample = readonly [labels: Labels, value: number, suffix?: string];

/** All numbers in the text format that Prometheus reads. */
export function prometheusText(metrics: CallMetrics, numbers: GatewayNumbers): string {
  const calls = [...metrics.calls];
  return [
    family('trunkline_calls_total', 'counter', 'Operations that are over.', [
      ...calls.map(({ server, kind, outcome, code, calls: count }): Sample => [
        { server, kind, outcome, code },
        count,
      ]),
    ]),
    family('trunkline_result_bytes_total', 'counter', 'Bytes of results.', [
      ...calls.map(({ server, kind, outcome, code, bytesOut }): Sample => [
        { server, kind, outcome, code },
        bytesOut,
      ]),
    ]),
    family('trunkline_call_duration_seconds', 'histogram', 'How long operations took.', durations(metrics)),
    family('trunkline_server_ready', 'gauge', 'Whether a server is connected.', [
      ...numbers.servers.map(({ name, isReady }): Sample => [{ server: name }, Number(isReady)]),
    ]),
    family('trunkline_server_calls_in_flight', 'gauge', 'Calls that a server works on.', [
      ...numbers.servers.map(({ name, inFlight }): Sample => [{ server: name }, inFlight]),
    ]),
    family('trunkline_clients', 'gauge', 'Client sessions that are connected.', [[{}, numbers.clients]]),
    family('trunkline_unrecorded_total', 'counter', 'Operations that could not be recorded.', [
      [{}, numbers.unrecorded],
    ]),
    family('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [[{}, numbers.residentBytes]]),
  ].join('');
}

function durations(metrics: CallMetrics): readonly Sample[] {
  return [...metrics.durations].flatMap(({ server, counts, sum }): readonly Sample[] => {
    let below = 0;
    const buckets = counts.map((count, at): Sample => {
      below += count;
      return [{ server, le: String(BUCKETS[at] ?? '+Inf') }, below, '_bucket'];
    });
    return [...buckets, [{ server }, sum, '_sum'], [{ server }, below, '_count']];
  });
}

function family(name: string, type: string, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([labels, value, suffix = '']) => {
    const pairs = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
    return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
  });
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
