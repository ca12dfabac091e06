import { execFileSync } from 'node:child_process';
import { expect, test, vi } from 'vitest';

import { objectsStayYoung } from './objects-stay-young.ts';

test('the flag is one that this engine knows, and is set once the start is over', async () => {
  vi.useFakeTimers();
  const flags: string[] = [];
  const set = (flag: string) => Promise.resolve(void flags.push(flag));
  const stopped = objectsStayYoung(set);
  stopped[Symbol.dispose]();
  using _ = objectsStayYoung(set);
  expect(flags).toEqual([]);
  await vi.advanceTimersByTimeAsync(1000);
  vi.useRealTimers();
  expect(flags).toHaveLength(1);
  const known = execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });
  expect(known).toContain(`  ${flags[0]?.replace('--no-', '--')} `);
});
