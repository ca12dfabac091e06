import { describe, expect, test } from 'vitest';

import { countKinds, statementsOf, withKinds } from './statements.mjs';

const at = '2026-11-16 08:12:25.101 UTC';
const lock = 'begin; select pg_advisory_xact_lock(1953655918, 2)';
const insert =
  'with commons as (insert into audit_commons (id) select 1), records as (insert into audit_records (seq) select 1) insert into tool_latency (server) select 1';

const said = (...texts) => texts.map((text) => ({ process: '7', text }));
const kinds = (statements) => withKinds(statements).map(({ kind }) => kind);

describe('statements in a PostgreSQL log', () => {
  test('statement log: extracts the statements of one database, each on one line', () => {
    const log = [
      `${at} [12] mine LOG:  statement: listen trunkline`,
      `${at} [13] theirs LOG:  statement: select 1`,
      '\tfrom theirs',
      `${at} [12] mine LOG:  execute <unnamed>: select 2`,
      '\t  from mine: it',
      `${at} [12] mine ERROR:  relation "it" does not exist`,
      `${at} [12] mine STATEMENT:  select 2`,
      '\t  from mine: it',
      `${at} [9]  LOG:  checkpoint starting: time`,
      '',
    ].join('\n');
    expect(statementsOf(log, 'mine')).toEqual([
      { process: '12', text: 'listen trunkline' },
      { process: '12', text: 'select 2 from mine: it' },
    ]);
  });

  test('statement log: counts audit writes only inside their transaction', () => {
    expect(kinds(said(lock, 'select * from audit_ends', insert, 'commit'))).toEqual(
      Array.from({ length: 4 }, () => 'record'),
    );
    expect(kinds(said(insert))).toEqual(['other']);
    expect(kinds(said(lock.replace('2)', '1)'), insert, 'commit'))).toEqual(['other', 'other', 'other']);
    expect(kinds(said(lock, insert, 'select * from "caller_keys"', 'commit'))).toContain('other');
    expect(kinds(said(lock, insert))).toEqual(['record', 'record']);
  });

  test('statement log: separates interleaved connections', () => {
    const other = { process: '8', text: 'select "id" from "sessions" where "id" = $1' };
    const [begin, ...rest] = said(lock, insert, 'commit');
    expect(kinds([begin, other, ...rest])).toEqual(['record', 'other', 'record', 'record']);
  });

  test('statement log: classifies heartbeats and upkeep', () => {
    const beats = ['select topic, revision from changes', 'insert into "replicas" ("id") values ($1)'];
    expect(kinds(said(...beats))).toEqual(['beat', 'beat']);
    const upkeep = ['insert into "chores" ("name", "done_at") values ($1, $2)'];
    expect(kinds(said('insert into "menu_tokens" ("day", "whole") values ($1, $2)'))).toEqual(['upkeep']);
    const over = 'delete from "client_tokens" where "expires_at" <= $1';
    expect(kinds(said(...upkeep, lock.replace('2)', '1)'), over, 'commit'))).toEqual(
      Array.from({ length: 4 }, () => 'upkeep'),
    );
    expect(kinds(said(lock.replace('2)', '1)')))).toEqual(['other']);
    expect(kinds(said('select * from "client_tokens" where "id" = $1'))).toEqual(['other']);
  });

  test('statement log: counts statements by kind and audit batches', () => {
    const all = said(
      lock,
      insert,
      'commit',
      lock,
      insert,
      'commit',
      'select topic, revision from changes',
      'x',
    );
    expect(countKinds(withKinds(all))).toEqual({ record: 6, batches: 2, beat: 1, upkeep: 0, other: 1 });
  });
});
