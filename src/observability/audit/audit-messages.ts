import type { StoreLocation } from '../../core/storage/store-location.ts';
import type { AuditConditions, AuditQuery, AuditRecord } from './audit-record.ts';
import type { CallTimeSeries, CallTimeSeriesQuery } from './call-time-series.ts';
import type { DailyTokens } from './daily-tokens.ts';
import type { ChainVerification } from './hash-chain.ts';
import type { EncodedBatch } from './record-batch.ts';
import type { ToolStats } from './tool-stats.ts';

/** The settings that the audit thread receives when it starts. */
export interface AuditSettings {
  /** The location of the database. It includes the password of a database server, so it must not be logged. */
  readonly place: StoreLocation;
  /** The maximum age of a record; older records are deleted. */
  readonly keepMs: number;
  /** The maximum size of all records; beyond it, the oldest are deleted. */
  readonly maxBytes: number;
  /** Whether arguments are stored. */
  readonly arguments: boolean;
  /** Whether results are stored. */
  readonly results: boolean;
  /** Whether records are chained by hashes. */
  readonly chain: boolean;
}

/** The queries that the audit thread answers, with their parameters and results. */
export interface AuditQueries {
  records: { params: AuditQuery; result: readonly AuditRecord[] };
  stats: {
    params: { readonly server?: string | undefined; readonly entry?: string | undefined };
    result: readonly ToolStats[];
  };
  verify: { params: { readonly expect?: string }; result: ChainVerification };
  totals: { params: AuditConditions; result: AuditTotals };
  series: { params: CallTimeSeriesQuery; result: readonly CallTimeSeries[] };
  /** Token counts are not records, but the audit thread stores them as well. */
  tokens: { params: { readonly from: string }; result: readonly DailyTokens[] };
  addTokens: { params: DailyTokens; result: null };
}

export interface AuditTotals {
  /** The number of records that match the conditions. */
  readonly records: number;
  /** The approximate size of all records, whatever the conditions. */
  readonly bytes: number;
  /** The hash of the newest chained record. */
  readonly head?: string | undefined;
}

/** A message to the audit thread. */
export type AuditThreadRequest =
  | { readonly type: 'write'; readonly records: EncodedBatch }
  | {
      readonly type: 'query';
      readonly id: number;
      readonly name: keyof AuditQueries;
      readonly params: unknown;
    }
  | { readonly type: 'close' };

/** A message from the audit thread. */
export type AuditThreadResponse =
  | { readonly type: 'written'; readonly count: number }
  | { readonly type: 'lost'; readonly count: number; readonly problem: string }
  | { readonly type: 'result'; readonly id: number; readonly result: unknown }
  | {
      readonly type: 'failed';
      readonly id: number;
      readonly code: string;
      readonly message: string;
      readonly details: object;
    };
