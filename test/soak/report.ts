import type { RequestTracker } from './request-tracker.ts';
import { faultEvents } from './watch/fault-watch.ts';
import type { Sample } from './watch/memory-watch.ts';

/** Formats the requests, faults, outcomes and memory samples for a terminal. `impossible` has the reasons why faults were not tried. */
export function reportOf(
  tracker: RequestTracker,
  samples: readonly Sample[],
  impossible: ReadonlyMap<string, string>,
): string {
  const held = samples.map(({ round, heapMb, rssMb, files, handles, timers }) =>
    row(
      [`round ${round}`, heapMb.toFixed(1), rssMb.toFixed(0), String(files), String(handles), String(timers)],
      12,
    ),
  );
  return [
    `${tracker.requestCount} requests, ${tracker.executed} calls executed`,
    '',
    'requests',
    ...table(tracker.kinds),
    '',
    'outcomes',
    ...table(tracker.outcomes),
    '',
    'successful answers by client',
    ...table(tracker.served),
    '',
    'faults',
    ...table(new Map(faultEvents.map((kind) => [kind, tracker.faults.get(kind) ?? 0])), impossible),
    '',
    'resources of the gateway in the quiet period after each round',
    row(['', 'heap MB', 'rss MB', 'files', 'handles', 'timers'], 12),
    ...held,
  ].join('\n');
}

function table(counts: ReadonlyMap<string, number>, why?: ReadonlyMap<string, string>): string[] {
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([what, times]) => {
      const reason = times === 0 ? why?.get(what) : undefined;
      return `  ${String(times).padStart(7)}  ${what}${reason === undefined ? '' : `: NOT TRIED, ${reason}`}`;
    });
}

function row(cells: readonly string[], width: number): string {
  return `  ${cells.map((cell) => cell.padStart(width)).join('')}`;
}
