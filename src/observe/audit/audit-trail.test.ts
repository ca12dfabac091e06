import { describe, expect, test, vi } from 'vitest';

import { Payload } from '../../lib/payload.ts';
import type { EndedCall } from '../ended-call.ts';
import { jsonLogger } from '../log.ts';
import type { RawRecord } from './audit-batch.ts';
import type { SinkTold } from './audit-thread.ts';
import { AuditTrail } from './audit-trail.ts';
import { unpackRecords } from './packed-records.ts';
import { Recorder } from './recorder.ts';

const facts = { tierOf: () => undefined, ruleOf: () => 'default' };
const caller = { id: 'me', via: 'cli', profile: 'default' } as const;

function ended(more: Partial<EndedCall> = {}): EndedCall {
  const operation = { kind: 'tool', upstream: 's', method: 'tools/call', params: { name: 'x' } } as const;
  const call = { caller, operation };
  return {
    ...{ call, at: 1, ms: 2, payload: Payload.of({ content: [] }), error: undefined },
    ...{ isRefused: false, rule: undefined, facts, ...more },
  };
}

function trailTo(
  options: { readonly maxPending?: number; readonly onWrite?: (told: SinkTold, count: number) => void } = {},
) {
  const written: RawRecord[] = [];
  const lines: string[] = [];
  const trail = new AuditTrail({
    isOn: true,
    now: () => 7,
    recorder: async () =>
      new Recorder({
        ...{ results: false, log: jsonLogger({ level: 'info', write: (line) => lines.push(line) }) },
        ...(options.maxPending !== undefined && { maxPending: options.maxPending }),
        sink: (told) => ({
          write: (records) => {
            written.push(...unpackRecords(records));
            options.onWrite?.(told, records.count);
          },
          ask: () => Promise.resolve([] as never),
          close: () => Promise.resolve(),
        }),
      }),
  });
  return { trail, written, lines };
}

describe('the trail', () => {
  test('hands on everything when it is closed, operations and events', async () => {
    const { trail, written } = trailTo();
    trail.ended(ended());
    trail.record({ kind: 'approval', action: 'accept', caller, server: 's', details: { token: 'x' } });
    await trail[Symbol.asyncDispose]();
    expect(written).toMatchObject([
      { common: { kind: 'tool', outcome: 'ok', caller: 'me' }, bytesOut: 14 },
      {
        common: { kind: 'approval', action: 'accept', server: 's' },
        at: 7,
        details: '{"token":"[redacted]"}',
      },
    ]);
  });

  test('keeps the order of what comes while the recorder is loaded, and right afterwards', async () => {
    const { trail, written } = trailTo();
    const note = (action: string): void => trail.record({ kind: 'key', action, caller });
    note('first');
    const asked = trail.ask('totals', {}); // Hands on the first, for which the recorder is loaded.
    note('second');
    await asked;
    note('third');
    await trail[Symbol.asyncDispose]();
    expect(written.map(({ common }) => common.action)).toEqual(['first', 'second', 'third']);
  });

  test('holds on to nothing for longer than a quarter of what a crash may lose', async () => {
    const { trail, written } = trailTo();
    trail.ended(ended());
    await trail.ask('totals', {}); // The recorder is loaded.
    vi.useFakeTimers();
    try {
      for (const pause of [0, 3, 24]) {
        const before = written.length;
        trail.ended(ended());
        vi.advanceTimersByTime(pause);
        trail.record({ kind: 'key', action: 'add', caller });
        vi.advanceTimersByTime(25 - pause);
        expect(written).toHaveLength(before + 2);
      }
    } finally {
      vi.useRealTimers();
    }
    await trail[Symbol.asyncDispose]();
  });

  test('has what ended while the recorder was being loaded', async () => {
    const { trail, written } = trailTo();
    trail.ended(ended());
    const asked = trail.ask('totals', {});
    trail.ended(ended());
    trail.record({ kind: 'key', action: 'add', caller });
    await asked;
    trail.ended(ended());
    await trail[Symbol.asyncDispose]();
    expect(written.map(({ common }) => common.kind).toSorted()).toEqual(['key', 'tool', 'tool', 'tool']);
  });

  test('a call whose arguments cannot be written is counted, and does no harm', async () => {
    const { trail, written } = trailTo();
    let deep: object = {};
    for (let depth = 0; depth < 100_000; depth++) deep = { deep };
    const { call } = ended();
    const operation = { ...call.operation, params: { arguments: deep } };
    trail.ended(ended({ call: { ...call, operation } }));
    trail.ended(ended());
    await trail.ask('totals', {});
    trail.ended(ended({ call: { ...call, operation } }));
    expect([written.length, trail.health.dropped]).toEqual([1, 2]);
    await trail[Symbol.asyncDispose]();
  });

  test('counts what is more than can wait, and says so once', async () => {
    const { trail, written, lines } = trailTo({ maxPending: 3 });
    for (let at = 0; at < 5; at++) trail.ended(ended());
    await trail.ask('totals', {});
    trail.ended(ended());
    await trail[Symbol.asyncDispose]();
    expect(written).toHaveLength(3);
    expect(trail.health).toMatchObject({ dropped: 3, problem: 'more is done than can be written' });
    expect(lines).toHaveLength(1);
  });

  test('counts what the sink lost, until it works again', async () => {
    let isBroken = true;
    const { trail } = trailTo({
      onWrite: (told, count) => (isBroken ? told.lost(count, 'the disk is full') : told.written(count)),
    });
    trail.ended(ended());
    await trail.ask('totals', {});
    expect(trail.health).toEqual({ written: 0, dropped: 1, problem: 'the disk is full' });
    isBroken = false;
    trail.ended(ended());
    await trail.ask('totals', {});
    expect(trail.health).toEqual({ written: 1, dropped: 1 });
    await trail[Symbol.asyncDispose]();
  });

  test('that is off loads nothing', async () => {
    let loads = 0;
    const recorder = (): Promise<Recorder> => {
      loads++;
      return Promise.reject(new Error('no'));
    };
    const trail = new AuditTrail({ isOn: false, now: Date.now, recorder });
    trail.ended(ended());
    trail.record({ kind: 'key', action: 'add', caller });
    await trail[Symbol.asyncDispose]();
    expect(loads).toBe(0);
  });
});

test('a trail with other settings writes the rest by them, and forgets neither what was written nor what was lost', async () => {
  const { trail, written } = trailTo({ onWrite: (told, count) => told.written(count) });
  const closed: string[] = [];
  const later: RawRecord[] = [];
  trail.ended(ended());
  await trail.ask('totals', {}); // The recorder is loaded.
  expect(written).toHaveLength(1);
  trail.adjust({
    isOn: true,
    recorder: () =>
      Promise.resolve(
        new Recorder({
          ...{ results: false, log: jsonLogger({ level: 'error', write: () => {} }) },
          sink: (told) => ({
            write: (records) => {
              later.push(...unpackRecords(records));
              told.written(records.count);
            },
            ask: () => Promise.resolve([] as never),
            close: () => Promise.resolve(void closed.push('new')),
          }),
        }),
      ),
  });
  trail.ended(ended());
  await trail.ask('totals', {});
  expect([written.length, later.length, trail.health]).toEqual([1, 1, { written: 2, dropped: 0 }]);
  trail.adjust({ isOn: false, recorder: () => Promise.reject(new Error('Nobody asks.')) });
  trail.ended(ended());
  await trail[Symbol.asyncDispose]();
  expect([later.length, closed]).toEqual([1, ['new']]);
});
