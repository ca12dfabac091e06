import type { StorePlace } from '../../storage/store-place.ts';
import type { AuditConditions, AuditQuery, AuditRecord } from './audit-record.ts';
import type { COMMON } from './audit-row.ts';
import type { Series, SeriesQuery } from './audit-series.ts';
import type { DayTokens } from './day-tokens.ts';
import type { PackedRecords } from './packed-records.ts';
import type { ChainVerdict } from './verify-chain.ts';
import type { ToolStats } from './tool-stats.ts';

/** What the thread needs to know before it writes anything. */
export interface AuditSettings {
  /** Where the record is; with the password of a server, so that it goes nowhere else. */
  readonly place: StorePlace;
  readonly keepMs: number;
  readonly maxBytes: number;
  readonly arguments: boolean;
  readonly results: boolean;
  readonly chain: boolean;
}

/** Enough of a result to know how it divides into tokens. */
export const SAMPLE_CHARS = 1024;

type Absent<T> = { readonly [K in keyof T]: T[K] | undefined };

/** The part of a record that it shares with others: one object for all of them, which crosses to the thread once in a batch. */
export type CommonPart = Absent<Pick<AuditRecord, (typeof COMMON)[number]>> &
  Pick<AuditRecord, 'kind' | 'caller' | 'via' | 'profile' | 'outcome'>;

type Measured = 'seq' | 'tokensIn' | 'tokensOut' | 'digest' | 'arguments' | 'result' | 'hash';
/** Without a group of others it is one of its own. */
type Unmeasured = Omit<AuditRecord, Measured | (typeof COMMON)[number]>;

/** A record before the thread has measured, hashed and redacted its texts; what is absent may be undefined. */
export type RawRecord = Absent<Unmeasured> &
  Pick<AuditRecord, 'at' | 'request'> &
  RawTexts & { readonly common: CommonPart };

/** As it is made: the name of its request is its place among all of this process, which is counted. */
export type CountedRecord = Omit<RawRecord, 'request'>;

interface RawTexts {
  /** The arguments as JSON. */
  readonly argumentText?: string | undefined;
  /** The beginning of the result, or more of it where results are recorded. */
  readonly resultText?: string | undefined;
  /** Characters of the whole result, of which `resultText` may be a part. */
  readonly resultChars?: number | undefined;
}

export interface AuditTotals {
  readonly records: number;
  readonly bytes: number;
  readonly head?: string;
}

/** Questions to the record and their answers. */
export interface AuditQuestions {
  query: { ask: AuditQuery; answer: readonly AuditRecord[] };
  stats: { ask: { readonly server?: string; readonly entry?: string }; answer: readonly ToolStats[] };
  verify: { ask: { readonly expect?: string }; answer: ChainVerdict };
  totals: { ask: AuditConditions; answer: AuditTotals };
  series: { ask: SeriesQuery; answer: readonly Series[] };
  /** Not about operations, but work for the same thread. */
  tokens: { ask: { readonly from: string }; answer: readonly DayTokens[] };
  addTokens: { ask: DayTokens; answer: null };
}

export type ToThread =
  | { readonly type: 'write'; readonly records: PackedRecords }
  | {
      readonly type: 'ask';
      readonly id: number;
      readonly question: keyof AuditQuestions;
      readonly ask: unknown;
    }
  | { readonly type: 'close' };

export type FromThread =
  | { readonly type: 'written'; readonly count: number }
  | { readonly type: 'lost'; readonly count: number; readonly problem: string }
  | { readonly type: 'answer'; readonly id: number; readonly answer: unknown }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly code: string;
      readonly message: string;
      readonly details: object;
    };
