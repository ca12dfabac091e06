import { expect, test } from 'vitest';

import { packRecords, unpackRecords } from './packed-records.ts';
import { rawRecord } from './raw-record.test-support.ts';

test('records come out as they went in, whatever they lack', () => {
  const whole = rawRecord({
    ...{ at: 1_763_286_000_123, request: 'r-1', group: 'g', ms: 0.25, bytesIn: 1, bytesOut: 0 },
    ...{ details: '{}', argumentText: '{"a":1}', resultText: '[]', resultChars: 2 },
  });
  const bare = rawRecord({ at: 0, request: 'r-2', ms: undefined, entry: 'other' });
  const alike = { ...bare, request: 'r-3', ms: 0 };
  const packed = packRecords([whole, bare, alike]);
  expect(packed.commons).toEqual([whole.common, bare.common]);
  expect(unpackRecords(structuredClone(packed))).toEqual([whole, bare, alike]);
});
