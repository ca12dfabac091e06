import { readFileSync, readdirSync, rmSync } from 'node:fs';

import { waitForValue } from '../../support/eventually.ts';
import type { RequestTracker } from '../request-tracker.ts';

/** Resources of a gateway without requests and with healthy servers, after a garbage collection. */
export interface Sample {
  readonly round: number;
  readonly heapMb: number;
  readonly rssMb: number;
  readonly files: number;
  readonly handles: number;
  readonly timers: number;
  /** Number of handles of each kind. */
  readonly kinds?: Readonly<Record<string, number>>;
}

/**
 * Permitted growth from the first to the last third of the samples after the warm-up. A server with a process per session may have ten
 * processes at the end, including those of clients that left, instead of six at the start; each has three pipes and a process handle.
 */
const bounds = { heapMb: 6, rssMb: 64, files: 24, handles: 20, timers: 12 } as const;
const warmUpRounds = 1;

interface ProbeOutput {
  readonly heapUsed: number;
  readonly rss: number;
  readonly handles: Readonly<Record<string, number>>;
}

/** Takes a sample with the probe in the gateway. */
export async function takeSample(pid: number, probeFile: string, round: number): Promise<Sample> {
  rmSync(probeFile, { force: true });
  process.kill(pid, 'SIGUSR2');
  const told = await waitForValue(() => readTold(probeFile), { what: 'The probe', withinMs: 15_000 });
  const { Timeout: timers = 0, Immediate: _, ...others } = told.handles;
  return {
    round,
    heapMb: told.heapUsed / 1024 / 1024,
    rssMb: told.rss / 1024 / 1024,
    files: readdirSync(`/proc/${pid}/fd`).length,
    handles: Object.values(others).reduce((sum, each) => sum + each, 0),
    timers,
    kinds: others,
  };
}

/** Compares medians of thirds, because a single outlier means nothing, while a leak moves all samples. */
export function checkFlat(samples: readonly Sample[], tracker: RequestTracker): void {
  const steady = samples.slice(warmUpRounds);
  const third = Math.max(1, Math.floor(steady.length / 3));
  if (steady.length < 2) return;
  for (const [what, bound] of Object.entries(bounds) as [keyof typeof bounds, number][]) {
    const values = steady.map((sample) => sample[what]);
    const growth = median(values.slice(-third)) - median(values.slice(0, third));
    if (growth > bound)
      tracker.violate(
        `${what} grew by ${growth.toFixed(1)} after the warm-up: ${values.map(Math.round).join(' ')}${kindsOf(steady)}`,
      );
  }
}

/** Returns the open handles by kind, at the start and at the end. */
function kindsOf(samples: readonly Sample[]): string {
  const [first, last] = [samples[0]?.kinds, samples.at(-1)?.kinds];
  if (first === undefined || last === undefined) return '';
  return `; ${JSON.stringify(first)} became ${JSON.stringify(last)}`;
}

function readTold(file: string): ProbeOutput | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProbeOutput;
  } catch {
    return undefined; // The probe has not written it yet.
  }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
