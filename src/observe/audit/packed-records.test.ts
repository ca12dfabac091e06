import { expect, test } from 'vitest';

import { RecordBatch, unpackRecords } from './packed-records.ts';
import { rawRecord } from './raw-record.test-support.ts';

test('records come out as they went in, whatever they lack', () => {
  const whole = rawRecord({
    ...{ at: 1_763_286_000_123, request: 'r-7', group: 'g', ms: 0.25, bytesIn: 1, bytesOut: 0 },
    ...{ details: '{}', argumentText: '{"a":1}', resultText: '[]', resultChars: 2 },
  });
  const bare = rawRecord({ at: 0, request: 'r-8', ms: undefined, entry: 'other' });
  const alike = { ...bare, request: 'r-9', ms: 0 };
  const batch = new RecordBatch('r', 7);
  for (const record of [whole, bare, alike]) batch.add(record);
  const packed = batch.packed();
  expect(packed.commons).toEqual([whole.common, bare.common]);
  expect(unpackRecords(structuredClone(packed))).toEqual([whole, bare, alike]);
});

test('a batch takes more than it has room for at first', () => {
  const batch = new RecordBatch('r', 1);
  const records = Array.from({ length: 300 }, (_, at) =>
    rawRecord({ at, request: `r-${at + 1}`, ms: at / 2 }),
  );
  for (const record of records) batch.add({ ...record, common: records[0]!.common });
  expect(batch.count).toBe(300);
  expect(unpackRecords(batch.packed())).toEqual(records);
});
