import type { CommonPart, RawRecord } from './audit-batch.ts';

type Value = string | number | undefined;

/** Records on their way to the thread: one list of values, since copying an object of names and values costs several times as much. */
export interface PackedRecords {
  readonly count: number;
  readonly commons: readonly CommonPart[];
  /** Of each record the place of its common part, and what it has by itself in the order below. */
  readonly values: readonly Value[];
}

const WIDTH = 11;

export function packRecords(records: readonly RawRecord[]): PackedRecords {
  const places = new Map<CommonPart, number>();
  const values: Value[] = [];
  for (const record of records) {
    let place = places.get(record.common);
    if (place === undefined) places.set(record.common, (place = places.size));
    const { at, request, group, ms, bytesIn, bytesOut, details } = record;
    const { argumentText, resultText, resultChars } = record;
    values.push(place, at, request, group, ms, bytesIn, bytesOut, details);
    values.push(argumentText, resultText, resultChars);
  }
  return { count: records.length, commons: [...places.keys()], values };
}

export function unpackRecords({ count, commons, values }: PackedRecords): readonly RawRecord[] {
  return Array.from({ length: count }, (_, at) => {
    const from = at * WIDTH;
    // Each is what `packRecords` put there.
    return {
      common: commons[values[from] as number],
      at: values[from + 1],
      request: values[from + 2],
      group: values[from + 3],
      ms: values[from + 4],
      bytesIn: values[from + 5],
      bytesOut: values[from + 6],
      details: values[from + 7],
      argumentText: values[from + 8],
      resultText: values[from + 9],
      resultChars: values[from + 10],
    } as RawRecord;
  });
}
