import { expect, test } from 'vitest';

import { RecordBatch } from '../../src/observability/audit/record-batch.ts';
import { writeMessage } from './write-message.mjs';

test('audit bench: packs records exactly as the gateway does', () => {
  const [one, other] = [{ kind: 'tool' }, { kind: 'prompt' }];
  const whole = { ms: 2, bytesIn: 3, bytesOut: 4, resultChars: 5, argumentText: '{}', resultText: '[]' };
  const records = [
    { common: one, at: 1, group: 'g', details: 'd', ...whole },
    { common: other, at: 2 },
    { common: one, at: 3 },
  ];
  const batch = new RecordBatch('p', 5);
  for (const record of records) batch.add(record);
  expect(writeMessage(records, 'p', 5)).toEqual({ type: 'write', records: batch.encode() });
});
