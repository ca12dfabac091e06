import { hash } from 'node:crypto';

import { sql } from 'kysely';

import type { Database } from '../../core/storage/database.ts';
import type { AuditRow } from './audit-row.ts';
import { toAuditRecord } from './audit-row.ts';
import type { PerRecordFields } from './finalize-drafts.ts';
import type { CommonFields } from './record-batch.ts';

/** The result of a check of the hash chain. */
export interface ChainVerification {
  readonly ok: boolean;
  /** Chained records that were checked. */
  readonly checked: number;
  /** Records that were written while chaining was off. */
  readonly unchained: number;
  /** The hash of the newest record, which the user can store elsewhere. */
  readonly head?: string | undefined;
  /** The first problem that was found. */
  readonly problem?: { readonly seq?: number; readonly message: string } | undefined;
}

/**
 * Returns the hash of a record over all its fields and the previous hash, so a change of one record
 * invalidates all later ones. The two parts are separate, because merging them into one object took 20 µs per
 * record and as much garbage collection.
 */
export function computeChainHash(
  { common, own }: { readonly common: CommonFields; readonly own: Readonly<Partial<PerRecordFields>> },
  previousHash: string,
): string {
  // The order is that of `AUDIT_COLUMNS` and must not change, or existing chains become invalid. Absent values become null in JSON.
  const values = [
    own.seq,
    own.at,
    own.request,
    own.group,
    common.kind,
    common.caller,
    common.via,
    common.client,
    common.clientVersion,
    common.profile,
    common.server,
    common.entry,
    common.tier,
    common.fingerprint,
    common.outcome,
    common.code,
    own.ms,
    own.bytesIn,
    own.bytesOut,
    own.tokensIn,
    own.tokensOut,
    common.rule,
    own.digest,
    common.action,
    own.arguments,
    own.result,
    own.details,
  ];
  return hash('sha256', `${previousHash}\n${JSON.stringify(values)}`);
}

const PAGE_SIZE = 1000;

/**
 * Checks the whole chain, from the hash before the oldest record that is still stored. `expect` is a hash that was stored elsewhere and
 * must still be in the chain.
 */
export async function verifyChain(
  { query }: Database,
  expect: string | undefined,
): Promise<ChainVerification> {
  const state = await query.selectFrom('audit_ends').selectAll().executeTakeFirst();
  const base = state?.base ?? '';
  let head = base;
  let checked = 0;
  let unchained = 0;
  let hasExpected = expect === undefined || expect === base;
  const finish = (problem?: ChainVerification['problem']): ChainVerification => ({
    ok: problem === undefined,
    checked,
    unchained,
    head: checked > 0 ? head : undefined,
    problem,
  });
  for await (const row of readRows(query)) {
    const { hash: storedHash, ...record } = toAuditRecord(row);
    if (storedHash === undefined) {
      unchained++;
      continue;
    }
    if (computeChainHash({ common: record, own: record }, head) !== storedHash) {
      const message = 'This record, or one right before it, was changed, removed, added or moved.';
      return finish({ seq: row.seq, message });
    }
    checked++;
    head = storedHash;
    if (storedHash === expect) hasExpected = true;
  }
  if ((state?.head ?? '') !== (checked > 0 ? head : base))
    return finish({ message: 'The newest records were removed: the chain ends before its stored end.' });
  if (state !== undefined && state.chained !== checked)
    return finish({ message: `Expected ${state.chained} chained records, but found ${checked}.` });
  const hiddenSeq = checked > 0 ? await findHiddenRecord(query) : undefined;
  if (hiddenSeq !== undefined)
    return finish({
      seq: hiddenSeq,
      message: 'Queries by time do not find this record: the time index was changed.',
    });
  if (!hasExpected) return finish({ message: 'The expected hash is not in the chain.' });
  return finish();
}

async function* readRows(query: Database['query']): AsyncGenerator<AuditRow> {
  for (let lastSeq = 0; ;) {
    const rows = await query
      .selectFrom('audit')
      .selectAll()
      .where('seq', '>', lastSeq)
      .orderBy('seq')
      .limit(PAGE_SIZE)
      .execute();
    yield* rows;
    if (rows.length < PAGE_SIZE) return;
    lastSeq = rows.at(-1)?.seq ?? lastSeq;
  }
}

/**
 * Returns the first record that is outside of the time and number range of its group. Queries use these ranges, but hashes do not cover
 * them, so a changed range could hide records.
 */
async function findHiddenRecord(query: Database['query']): Promise<number | undefined> {
  const { rows } = await sql<{ seq: number | null }>`
    select min(records.seq) as seq from audit_records as records join audit_commons as commons on commons.id = records.common
    where coalesce(records.at between first_at and last_at and records.seq between id and last_seq, false) = false`.execute(
    query,
  );
  return rows[0]?.seq ?? undefined;
}
