import { expect, test } from 'vitest';

import { packRecords } from '../../src/observe/audit/packed-records.ts';
import { writeMessage } from './write-message.mjs';

test('records of the bench are handed over as those of the gateway are', () => {
  const [one, other] = [{ kind: 'tool' }, { kind: 'prompt' }];
  const whole = { ms: 2, bytesIn: 3, bytesOut: 4, resultChars: 5, argumentText: '{}', resultText: '[]' };
  const records = [
    { common: one, at: 1, request: 'a', group: 'g', details: 'd', ...whole },
    { common: other, at: 2, request: 'b' },
    { common: one, at: 3, request: 'c' },
  ];
  expect(writeMessage(records)).toEqual({ type: 'write', records: packRecords(records) });
});
