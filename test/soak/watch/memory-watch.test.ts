import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { expect, test } from 'vitest';

import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { RequestTracker } from '../request-tracker.ts';
import { type Sample, checkFlat, takeSample } from './memory-watch.ts';

checkLeaks();

const flat: Sample = { round: 1, heapMb: 40, rssMb: 150, files: 60, handles: 40, timers: 20 };
const parts = ['heapMb', 'rssMb', 'files', 'handles', 'timers'] as const;

function grown(samples: readonly Sample[]): readonly string[] {
  const tracker = new RequestTracker(() => {});
  checkFlat(samples, tracker);
  return tracker.violations;
}

/** Returns the samples of ten rounds in which the values grow by this much. */
function rounds(growth: Partial<Sample>): readonly Sample[] {
  return Array.from({ length: 10 }, (_, at) => {
    const more = parts.map((part) => [part, flat[part] + at * (growth[part] ?? 0)]);
    return { ...flat, ...Object.fromEntries(more), round: at + 1 };
  });
}

test.for(parts)('memory watch: detects growth of %s', (part) => {
  expect(grown(rounds({ [part]: part === 'rssMb' ? 12 : 5 }))).toEqual([
    expect.stringMatching(`^${part} grew by`),
  ]);
});

test('memory watch: ignores warm-up, a single outlier and shrinking values', () => {
  const [first = flat, ...others] = rounds({});
  const odd = others.with(4, { ...flat, heapMb: 90, files: 500 });
  expect(grown([{ ...first, heapMb: 10, files: 10 }, ...odd])).toEqual([]);
  expect(grown(rounds({ heapMb: -2, files: -3 }))).toEqual([]);
});

test('memory watch: detects leaks of a process but not its garbage', async () => {
  const probe = fileURLToPath(new URL('../probe.mjs', import.meta.url));
  const file = join(temporaryFolder(), 'probe.json');
  const leaking = `
    const { openSync } = require('node:fs');
    const kept = [];
    process.on('SIGUSR1', () => {});
    process.stdin.on('data', () => {
      for (let at = 0; at < 40; at++) {
        kept.push(openSync('/dev/null'), 'x'.repeat(10) + at, new Array(50_000).fill(at));
        setTimeout(() => {}, 600_000);
      }
      process.stdout.write('leaked');
    });
    new Array(5_000_000).fill(1);
    process.stdout.write('ready');`;
  const child = spawn(process.execPath, ['--import', probe, '-e', leaking], {
    env: { ...process.env, SOAK_PROBE: file },
    stdio: 'pipe',
  });
  try {
    await once(child.stdout, 'data');
    const pid = child.pid ?? 0;
    const before = await takeSample(pid, file, 1);
    const again = await takeSample(pid, file, 2);
    expect(grown([before, before, again])).toEqual([]);
    child.stdin.write('leak');
    await once(child.stdout, 'data');
    const after = await takeSample(pid, file, 3);
    const said = grown([before, again, after]).map((text) => text.split(' ', 1)[0]);
    expect(said).toEqual(expect.arrayContaining(['heapMb', 'files', 'timers']));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
