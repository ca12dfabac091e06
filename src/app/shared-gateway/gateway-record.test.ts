import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import {
  findGatewayRecord,
  listGatewayRecords,
  removeProcessRecords,
  writeCurrentRecord,
  writeProcessRecord,
} from './gateway-record.ts';
import type { GatewayRecord } from './gateway-record.ts';

/** Two ids of running processes and one that no process has. */
const [own, parent, dead] = [process.pid, process.ppid, 2 ** 30];
let stateDir = '';
beforeEach(() => (stateDir = mkdtempSync(join(tmpdir(), 'records-'))));
afterEach(() => rmSync(stateDir, { recursive: true }));

function registerGateway(pid: number, since: number): GatewayRecord {
  const record: GatewayRecord = {
    socket: `/run/${pid}.sock`,
    pid,
    kind: 'http',
    version: '1',
    config: '/c',
    since,
    revision: 'r',
  };
  writeProcessRecord(stateDir, record);
  writeCurrentRecord(stateDir, record);
  return record;
}

describe('gateway record', () => {
  test('gateway record: finds the gateway that registered last', () => {
    const [first, second] = [registerGateway(own, 2), registerGateway(parent, 1)];
    expect(findGatewayRecord(stateDir)).toEqual(second);
    expect(listGatewayRecords(stateDir)).toEqual([second, first]);
  });

  test('gateway record: falls back to another running gateway when the last one leaves', () => {
    const first = registerGateway(own, 1);
    registerGateway(parent, 2);
    removeProcessRecords(stateDir, parent);
    expect(findGatewayRecord(stateDir)).toEqual(first);
    removeProcessRecords(stateDir, own);
    expect(findGatewayRecord(stateDir)).toBeUndefined();
    expect(readdirSync(join(stateDir, 'run'))).toEqual([]);
  });

  test('gateway record: prefers a running gateway and lists a crashed one last', () => {
    const [first, crashed] = [registerGateway(own, 1), registerGateway(dead, 2)];
    expect(findGatewayRecord(stateDir)).toEqual(first);
    expect(listGatewayRecords(stateDir)).toEqual([first, crashed]);
  });

  test('gateway record: skips gateways that could not be reached', () => {
    const [first] = [registerGateway(own, 1), registerGateway(parent, 2)];
    expect(findGatewayRecord(stateDir, new Set([parent]))).toEqual(first);
    expect(findGatewayRecord(stateDir, new Set([parent, own]))).toBeUndefined();
  });

  test('gateway record: keeps the current gateway when an earlier one leaves', () => {
    registerGateway(own, 1);
    const second = registerGateway(parent, 2);
    removeProcessRecords(stateDir, own);
    expect(listGatewayRecords(stateDir)).toEqual([second]);
  });

  test('gateway record: finds nothing when files are damaged or the folder is missing', () => {
    expect(listGatewayRecords(stateDir)).toEqual([]);
    registerGateway(own, 1);
    for (const name of ['gateway.json', `gateway-${own}.json`, 'gateway-x.json'])
      writeFileSync(join(stateDir, 'run', name), '{"pid":1}');
    expect(listGatewayRecords(stateDir)).toEqual([]);
  });
});
