import type { AuditRecord } from './audit-record.ts';
import type { COMMON_FIELDS } from './audit-row.ts';

/** The number of characters of a result from which its tokens are estimated. */
export const SAMPLE_CHARS = 1024;

type OrUndefined<T> = { readonly [K in keyof T]: T[K] | undefined };

/** The fields that many records have in common. They share one object, which is copied to the thread once per batch. */
export type CommonFields = OrUndefined<Pick<AuditRecord, (typeof COMMON_FIELDS)[number]>> &
  Pick<AuditRecord, 'kind' | 'caller' | 'via' | 'profile' | 'outcome'>;

/** The fields that the audit thread computes. */
type ComputedField = 'seq' | 'tokensIn' | 'tokensOut' | 'digest' | 'arguments' | 'result' | 'hash';

/** A record before the audit thread has estimated its tokens and hashed and redacted its texts. */
export type RecordDraft = OrUndefined<Omit<AuditRecord, ComputedField | (typeof COMMON_FIELDS)[number]>> &
  Pick<AuditRecord, 'at' | 'request'> & {
    readonly common: CommonFields;
    /** The arguments as JSON. */
    readonly argumentText?: string | undefined;
    /** The beginning of the result; longer if results are stored. */
    readonly resultText?: string | undefined;
    /** The length of the whole result in characters; `resultText` may be shorter. */
    readonly resultChars?: number | undefined;
  };

/** A draft before it is in a batch, where its position determines its request id. */
export type RecordDraftWithoutId = Omit<RecordDraft, 'request'>;

/**
 * The form in which drafts are posted to the audit thread: their numbers as one block of memory and their texts as one list.
 * Copying a list of numbers and texts took 1.5 times as long, and one object per draft several times as long.
 */
export interface EncodedBatch {
  readonly count: number;
  /** The request id of the draft at position `n` is `prefix`, a hyphen, and `first + n`. */
  readonly prefix: string;
  readonly first: number;
  readonly commons: readonly CommonFields[];
  /** For each draft, the index of its common fields and its numbers, in the order of `RecordBatch.add`; NaN stands for undefined. */
  readonly numbers: Float64Array;
  /** For each draft, its texts in the order of `RecordBatch.add`. */
  readonly texts: readonly (string | undefined)[];
}

const NUMBERS_PER_DRAFT = 6;
const TEXTS_PER_DRAFT = 4;
/** The trail flushes at 100 records, so a batch rarely has to grow. */
const INITIAL_CAPACITY = 128;

/** Encodes drafts as they arrive, so only their texts stay in memory as separate values. */
export class RecordBatch {
  readonly #prefix: string;
  readonly #first: number;
  readonly #commonIndexes = new Map<CommonFields, number>();
  readonly #texts: (string | undefined)[] = [];
  #numbers = new Float64Array(INITIAL_CAPACITY * NUMBERS_PER_DRAFT);
  #count = 0;

  constructor(prefix: string, first: number) {
    this.#prefix = prefix;
    this.#first = first;
  }

  get count(): number {
    return this.#count;
  }

  add(draft: RecordDraftWithoutId): void {
    const { common, at, ms = NaN, bytesIn = NaN, bytesOut = NaN, resultChars = NaN } = draft;
    let commonIndex = this.#commonIndexes.get(common);
    if (commonIndex === undefined) this.#commonIndexes.set(common, (commonIndex = this.#commonIndexes.size));
    const offset = this.#count++ * NUMBERS_PER_DRAFT;
    const numbers = offset < this.#numbers.length ? this.#numbers : this.#grow();
    numbers[offset] = commonIndex;
    numbers[offset + 1] = at;
    numbers[offset + 2] = ms;
    numbers[offset + 3] = bytesIn;
    numbers[offset + 4] = bytesOut;
    numbers[offset + 5] = resultChars;
    this.#texts.push(draft.group, draft.argumentText, draft.resultText, draft.details);
  }

  encode(): EncodedBatch {
    return {
      count: this.#count,
      prefix: this.#prefix,
      first: this.#first,
      commons: [...this.#commonIndexes.keys()],
      numbers: this.#numbers.slice(0, this.#count * NUMBERS_PER_DRAFT),
      texts: this.#texts,
    };
  }

  #grow(): Float64Array {
    const larger = new Float64Array(2 * this.#numbers.length);
    larger.set(this.#numbers);
    return (this.#numbers = larger);
  }
}

/** Returns the drafts of a batch; called in the audit thread. */
export function decodeBatch(batch: EncodedBatch): readonly RecordDraft[] {
  const { count, prefix, first, commons, numbers, texts } = batch;
  const numberAt = (index: number): number | undefined => {
    const value = numbers[index];
    return value === undefined || Number.isNaN(value) ? undefined : value;
  };
  return Array.from({ length: count }, (_, position) => {
    const offset = position * NUMBERS_PER_DRAFT;
    const textOffset = position * TEXTS_PER_DRAFT;
    // Types and positions are those of `RecordBatch.add`.
    return {
      common: commons[numbers[offset] as number],
      at: numbers[offset + 1],
      request: `${prefix}-${first + position}`,
      group: texts[textOffset],
      ms: numberAt(offset + 2),
      bytesIn: numberAt(offset + 3),
      bytesOut: numberAt(offset + 4),
      details: texts[textOffset + 3],
      argumentText: texts[textOffset + 1],
      resultText: texts[textOffset + 2],
      resultChars: numberAt(offset + 5),
    } as RecordDraft;
  });
}
