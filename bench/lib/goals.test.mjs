import { describe, expect, test } from 'vitest';

import { judgeGoals } from './goals.mjs';
import { summarise } from './report.mjs';

const nothing = { rows: [], tables: [], facts: {} };

function verdicts(results) {
  return new Map(judgeGoals({ ...nothing, ...results }).map((goal) => [goal.name, goal]));
}

function row(section, key, floor, trunkline) {
  return summarise({ section, key, title: key, unit: 'ms', values: { floor, trunkline } });
}

describe('goals', () => {
  test('goals: report missing measurements as not measured', () => {
    for (const { measured, verdict } of verdicts({}).values()) {
      expect(measured).toBe('not measured');
      expect(verdict).toBe('');
    }
  });

  test('goals: compare with the floor of the same round', () => {
    const rows = [
      row('stdio', 'callsPerSecond16', [100, 200, 300], [70, 150, 200]),
      row('http', 'cpu', [10, 10, 10], [17, 16.5, 12]),
    ];
    const judged = verdicts({ rows });
    expect(judged.get('calls a second, 16 in flight, stdio')).toMatchObject({
      measured: '0.70 ×',
      verdict: 'reached',
    });
    expect(judged.get('CPU a call, HTTP')).toMatchObject({ measured: '1.65 ×', verdict: 'MISSED' });
  });

  test('goals: need every part of a promise', () => {
    const kills = { kills: 100, answered: 100, recovered: 100, recoveryMs: 60, serverStartMs: 50 };
    const clean = { repeated: 0, othersFailed: 0, leftTerm: 0, leftKill: 0, leftTermStubborn: 0 };
    const left = 'processes left after the gateway ends';
    const good = verdicts({ facts: { kills: { ...kills, ...clean, leftKillStubborn: 0 } } });
    expect(good.get(left).verdict).toBe('reached');
    expect(good.get('kill -9 of the server: back after').verdict).toBe('reached');
    const bad = verdicts({ facts: { kills: { ...kills, ...clean, answered: 99, leftKillStubborn: 1 } } });
    expect(bad.get(left).verdict).toBe('MISSED');
    expect(bad.get('kill -9 of the server: calls answered').verdict).toBe('MISSED');
  });

  test('goals: need no database statement per call and full speed on PostgreSQL', () => {
    const way = 'PostgreSQL on the way of a call';
    const speed = 'one gateway on PostgreSQL, calls a second';
    const good = verdicts({ facts: { fleet: { calls: 5000, others: 0, rateOfFile: 0.97 } } });
    expect(good.get(way)).toMatchObject({ measured: '0 in 5,000 calls', verdict: 'reached' });
    expect(good.get(speed).verdict).toBe('reached');
    const bad = verdicts({ facts: { fleet: { calls: 5000, others: 1, rateOfFile: 0.9 } } });
    expect([bad.get(way).verdict, bad.get(speed).verdict]).toEqual(['MISSED', 'MISSED']);
    expect(verdicts({ facts: { fleet: { calls: 0, others: 0 } } }).get(way).verdict).toBe('MISSED');
  });

  test('goals: compare with the best peer, not with our own proxies', () => {
    const rows = [
      { name: 'direct', rate16OfDirect: 1000 },
      { name: 'floor', rate16OfDirect: 900, cpu: 5 },
      { name: 'trunkline', rate16OfDirect: 500, cpu: 20 },
      { name: 'trunkline, shared', rate16OfDirect: 400, cpu: 30 },
      { name: 'sdk-naive', rate16OfDirect: 600, cpu: 1 },
      { name: 'slow peer', rate16OfDirect: 100, cpu: 40 },
      { name: 'good peer', rate16OfDirect: 250, cpu: 10 },
      { name: 'failed peer', rate16OfDirect: undefined },
    ];
    const judged = [...verdicts({ tables: [{ id: 'stdio', rows }] }).values()];
    const peers = judged.filter(({ goal }) => goal.endsWith('every peer'));
    expect(peers.map(({ measured, verdict }) => `${measured} ${verdict}`)).toEqual([
      '2.00 × good peer reached',
      'not measured ',
      '2.00 × good peer MISSED',
      'not measured ',
    ]);
  });
});
