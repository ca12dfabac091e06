import type { CommonPart, RawRecord } from './audit-batch.ts';

/**
 * Records on their way to the thread: their numbers as one block of memory and their texts as one list. Copying a list of
 * numbers and texts took half as long again, and an object of names and values for each several times as long.
 */
export interface PackedRecords {
  readonly count: number;
  readonly commons: readonly CommonPart[];
  /** Of each record the place of its common part, and numbers in the order below; what is absent is not a number. */
  readonly numbers: Float64Array;
  readonly texts: readonly (string | undefined)[];
}

const NUMBERS = 6;
const TEXTS = 5;

export function packRecords(records: readonly RawRecord[]): PackedRecords {
  const places = new Map<CommonPart, number>();
  const numbers = new Float64Array(records.length * NUMBERS);
  const texts: (string | undefined)[] = [];
  let next = 0;
  for (const record of records) {
    let place = places.get(record.common);
    if (place === undefined) places.set(record.common, (place = places.size));
    const { at, ms = NaN, bytesIn = NaN, bytesOut = NaN, resultChars = NaN } = record;
    numbers[next] = place;
    numbers[next + 1] = at;
    numbers[next + 2] = ms;
    numbers[next + 3] = bytesIn;
    numbers[next + 4] = bytesOut;
    numbers[next + 5] = resultChars;
    next += NUMBERS;
    texts.push(record.request, record.group, record.argumentText, record.resultText, record.details);
  }
  return { count: records.length, commons: [...places.keys()], numbers, texts };
}

export function unpackRecords({ count, commons, numbers, texts }: PackedRecords): readonly RawRecord[] {
  const number = (at: number): number | undefined => {
    const value = numbers[at];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  };
  return Array.from({ length: count }, (_, at) => {
    const from = at * NUMBERS;
    const text = at * TEXTS;
    // Each is what `packRecords` put there.
    return {
      common: commons[numbers[from] as number],
      at: numbers[from + 1],
      request: texts[text],
      group: texts[text + 1],
      ms: number(from + 2),
      bytesIn: number(from + 3),
      bytesOut: number(from + 4),
      details: texts[text + 4],
      argumentText: texts[text + 2],
      resultText: texts[text + 3],
      resultChars: number(from + 5),
    } as RawRecord;
  });
}
