import { expect, test } from 'vitest';

import { RecordBatch, decodeBatch } from './record-batch.ts';
import { recordDraft } from './audit-log.test-support.ts';

test('record batch: decodes to the same records, also with missing fields', () => {
  const complete = recordDraft({
    at: 1_763_286_000_123,
    request: 'r-7',
    group: 'g',
    ms: 0.25,
    bytesIn: 1,
    bytesOut: 0,
    details: '{}',
    argumentText: '{"a":1}',
    resultText: '[]',
    resultChars: 2,
  });
  const bare = recordDraft({ at: 0, request: 'r-8', ms: undefined, entry: 'other' });
  const similar = { ...bare, request: 'r-9', ms: 0 };
  const batch = new RecordBatch('r', 7);
  for (const record of [complete, bare, similar]) batch.add(record);
  const encoded = batch.encode();
  expect(encoded.commons).toEqual([complete.common, bare.common]);
  expect(decodeBatch(structuredClone(encoded))).toEqual([complete, bare, similar]);
});

test('record batch: grows beyond its initial capacity', () => {
  const batch = new RecordBatch('r', 1);
  const records = Array.from({ length: 300 }, (_, at) =>
    recordDraft({ at, request: `r-${at + 1}`, ms: at / 2 }),
  );
  for (const record of records) batch.add({ ...record, common: records[0]!.common });
  expect(batch.count).toBe(300);
  expect(decodeBatch(batch.encode())).toEqual(records);
});
