import { expect, test } from 'vitest';

import type { CommonPart } from './audit-batch.ts';
import { COMMON } from './audit-row.ts';
import { isSame } from './raw-records.ts';

test('what differs in any member is not the same', () => {
  const part = (of: string) =>
    // Texts for all members, whatever their types.
    Object.fromEntries(COMMON.map((member) => [member, `${of}${member}`])) as unknown as CommonPart;
  expect(isSame(part('a'), part('a'))).toBe(true);
  for (const member of COMMON)
    expect([member, isSame(part('a'), { ...part('a'), [member]: undefined })]).toEqual([member, false]);
});
