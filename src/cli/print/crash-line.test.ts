import { expect, test } from 'vitest';

import { crashLine, isOfGuard } from './crash-line.ts';

const now = new Date(0);
const env = { API_KEY: 'planted-value', PATH: '/usr/bin:/bin', SHORT: 'a' };

test('says what happened and where, in one line', () => {
  const error = Object.assign(new TypeError('cannot read a'), { code: 'E_ODD', body: 'planted-body' });
  const line = crashLine(error, { env, now });
  expect(line.trimEnd()).not.toContain('\n');
  expect(JSON.parse(line)).toMatchObject({
    ...{ level: 'error', error: 'TypeError', code: 'E_ODD', reason: 'cannot read a' },
    at: expect.arrayContaining([expect.stringContaining('crash-line.test.ts')]) as string[],
  });
  expect(line).not.toContain('planted-body');
});

test('says neither values of variables, nor what looks like a secret, nor what hangs on the error', () => {
  const cause = new Error('planted-cause');
  const error = new Error(`planted-value and ghp_${'Ab1'.repeat(10)} failed`, { cause });
  const line = crashLine(error, { env, now });
  expect(JSON.parse(line)).toMatchObject({ reason: '[redacted] and [redacted] failed' });
  expect(line).not.toContain('planted');
});

test.each(['a text', undefined, { a: 1 }])('takes %j for a reason', (thrown) => {
  expect(JSON.parse(crashLine(thrown, { env, now }))).toMatchObject({ error: 'unknown', at: [] });
});

test('cuts what is long', () => {
  const { reason } = JSON.parse(crashLine(new Error('x'.repeat(10_000)), { env, now })) as { reason: string };
  expect(reason.length).toBeLessThan(600);
});

test('tells what a guard did beside its call from what we did', () => {
  const thrown = (...frames: string[]): Error =>
    Object.assign(new Error('x'), {
      stack: ['Error: x', ...frames.map((frame) => `    at ${frame}`)].join('\n'),
    });
  const [own, ours] = [
    'file:///home/a/own.mjs?trunkline-guard=0:1:2',
    'f (file:///opt/trunkline/dist/a.js:3:4)',
  ];
  expect(isOfGuard(thrown('node:internal/timers:581:17', own, ours))).toBe(true);
  // What a guard calls of ours and fails there is ours.
  expect(isOfGuard(thrown(ours, own))).toBe(false);
  expect(isOfGuard(thrown('f (/opt/trunkline/dist/chunks/a.js:3:4)', own))).toBe(false);
  expect(isOfGuard(thrown('new Promise (<anonymous>)', own, ours))).toBe(true);
  expect([thrown(ours), thrown(), 'own.mjs?trunkline-guard=0', undefined].map(isOfGuard)).toEqual(
    Array.from({ length: 4 }, () => false),
  );
  expect(crashLine(thrown(own), { env, now })).toContain('A guard failed outside of any call.');
});
