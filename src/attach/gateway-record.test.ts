import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { readRecord, readRecords, removeRecord, takePlace, writeAnnounced } from './gateway-record.ts';
import type { GatewayRecord } from './gateway-record.ts';

/** Numbers of processes that live, and one that no process has. */
const [own, parent, dead] = [process.pid, process.ppid, 2 ** 30];
let stateDir = '';
beforeEach(() => (stateDir = mkdtempSync(join(tmpdir(), 'records-'))));
afterEach(() => rmSync(stateDir, { recursive: true }));

function announced(pid: number, since: number): GatewayRecord {
  const record: GatewayRecord = {
    ...{ socket: `/run/${pid}.sock`, pid, kind: 'http', version: '1', config: '/c', since },
    ...{ revision: 'r', environment: 'e', salt: 's' },
  };
  writeAnnounced(stateDir, record);
  takePlace(stateDir, record);
  return record;
}

describe('the gateway that is found', () => {
  test('is the one that took the place last', () => {
    const [first, second] = [announced(own, 2), announced(parent, 1)];
    expect(readRecord(stateDir)).toEqual(second);
    expect(readRecords(stateDir)).toEqual([second, first]);
  });

  test('is another one that lives when that one has left', () => {
    const first = announced(own, 1);
    announced(parent, 2);
    removeRecord(stateDir, parent);
    expect(readRecord(stateDir)).toEqual(first);
    removeRecord(stateDir, own);
    expect(readRecord(stateDir)).toBeUndefined();
    expect(readdirSync(join(stateDir, 'run'))).toEqual([]);
  });

  test('is another one that lives when that one has crashed, which is tried last', () => {
    const [first, crashed] = [announced(own, 1), announced(dead, 2)];
    expect(readRecord(stateDir)).toEqual(first);
    expect(readRecords(stateDir)).toEqual([first, crashed]);
  });

  test('is another one when that one cannot be reached', () => {
    const [first] = [announced(own, 1), announced(parent, 2)];
    expect(readRecord(stateDir, new Set([parent]))).toEqual(first);
    expect(readRecord(stateDir, new Set([parent, own]))).toBeUndefined();
  });

  test('keeps the place when one that was there before leaves', () => {
    announced(own, 1);
    const second = announced(parent, 2);
    removeRecord(stateDir, own);
    expect(readRecords(stateDir)).toEqual([second]);
  });

  test('is nobody where files are damaged, or there is no folder', () => {
    expect(readRecords(stateDir)).toEqual([]);
    announced(own, 1);
    for (const name of ['gateway.json', `gateway-${own}.json`, 'gateway-x.json'])
      writeFileSync(join(stateDir, 'run', name), '{"pid":1}');
    expect(readRecords(stateDir)).toEqual([]);
  });
});
