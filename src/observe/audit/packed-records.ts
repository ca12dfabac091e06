import type { CommonPart, CountedRecord, RawRecord } from './audit-batch.ts';

/**
 * Records on their way to the thread: their numbers as one block of memory and their texts as one list. Copying a list of
 * numbers and texts took half as long again, and an object of names and values for each several times as long.
 */
export interface PackedRecords {
  readonly count: number;
  /** How the names of their requests begin; the rest is the number of the first one, and those after it. */
  readonly prefix: string;
  readonly first: number;
  readonly commons: readonly CommonPart[];
  /** Of each record the place of its common part, and numbers in the order below; what is absent is not a number. */
  readonly numbers: Float64Array;
  readonly texts: readonly (string | undefined)[];
}

const NUMBERS = 6;
const TEXTS = 4;
/** As many as are usually handed on at once. */
const ROOM = 128;

/** Records that are packed as they come, so that nothing of each is kept but its texts. */
export class RecordBatch {
  readonly #prefix: string;
  readonly #first: number;
  readonly #places = new Map<CommonPart, number>();
  readonly #texts: (string | undefined)[] = [];
  #numbers = new Float64Array(ROOM * NUMBERS);
  #count = 0;

  constructor(prefix: string, first: number) {
    this.#prefix = prefix;
    this.#first = first;
  }

  get count(): number {
    return this.#count;
  }

  add(record: CountedRecord): void {
    const { common, at, ms = NaN, bytesIn = NaN, bytesOut = NaN, resultChars = NaN } = record;
    let place = this.#places.get(common);
    if (place === undefined) this.#places.set(common, (place = this.#places.size));
    const next = this.#count++ * NUMBERS;
    const numbers = next < this.#numbers.length ? this.#numbers : this.#grown();
    numbers[next] = place;
    numbers[next + 1] = at;
    numbers[next + 2] = ms;
    numbers[next + 3] = bytesIn;
    numbers[next + 4] = bytesOut;
    numbers[next + 5] = resultChars;
    this.#texts.push(record.group, record.argumentText, record.resultText, record.details);
  }

  packed(): PackedRecords {
    return {
      count: this.#count,
      prefix: this.#prefix,
      first: this.#first,
      commons: [...this.#places.keys()],
      numbers: this.#numbers.slice(0, this.#count * NUMBERS),
      texts: this.#texts,
    };
  }

  #grown(): Float64Array {
    const grown = new Float64Array(2 * this.#numbers.length);
    grown.set(this.#numbers);
    return (this.#numbers = grown);
  }
}

export function unpackRecords(packed: PackedRecords): readonly RawRecord[] {
  const { count, prefix, first, commons, numbers, texts } = packed;
  const number = (at: number): number | undefined => {
    const value = numbers[at];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  };
  return Array.from({ length: count }, (_, at) => {
    const from = at * NUMBERS;
    const text = at * TEXTS;
    // Each is what `RecordBatch` put there.
    return {
      common: commons[numbers[from] as number],
      at: numbers[from + 1],
      request: `${prefix}-${first + at}`,
      group: texts[text],
      ms: number(from + 2),
      bytesIn: number(from + 3),
      bytesOut: number(from + 4),
      details: texts[text + 3],
      argumentText: texts[text + 1],
      resultText: texts[text + 2],
      resultChars: number(from + 5),
    } as RawRecord;
  });
}
