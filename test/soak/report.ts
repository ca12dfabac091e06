import type { Ledger } from './ledger.ts';
import type { Sample } from './watch/memory-watch.ts';

/** What was asked, what was done to it, how it ended and what was held, as text for a terminal. */
export function reportOf(ledger: Ledger, samples: readonly Sample[]): string {
  const held = samples.map(({ round, heapMb, rssMb, files, handles, timers }) =>
    row(
      [`round ${round}`, heapMb.toFixed(1), rssMb.toFixed(0), String(files), String(handles), String(timers)],
      12,
    ),
  );
  return [
    `${ledger.asked} requests, ${ledger.executed} calls executed`,
    '',
    'asked',
    ...table(ledger.kinds),
    '',
    'ended',
    ...table(ledger.outcomes),
    '',
    'faults',
    ...table(ledger.faults),
    '',
    'held by the gateway in the quiet after each round',
    row(['', 'heap MB', 'rss MB', 'files', 'handles', 'timers'], 12),
    ...held,
  ].join('\n');
}

function table(counts: ReadonlyMap<string, number>): string[] {
  return [...counts]
    .toSorted(([, one], [, other]) => other - one)
    .map(([what, times]) => `  ${String(times).padStart(7)}  ${what}`);
}

function row(cells: readonly string[], width: number): string {
  return `  ${cells.map((cell) => cell.padStart(width)).join('')}`;
}
