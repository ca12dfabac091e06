import { expect, test } from 'vitest';

import { formatCrashLine, isGuardError } from './crash-line.ts';

const now = new Date(0);
const env = { API_KEY: 'planted-value', PATH: '/usr/bin:/bin', SHORT: 'a' };

test('crash line: reports error, code, reason and stack on one line', () => {
  const error = Object.assign(new TypeError('cannot read a'), { code: 'E_ODD', body: 'planted-body' });
  const line = formatCrashLine(error, { env, now });
  expect(line.trimEnd()).not.toContain('\n');
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    error: 'TypeError',
    code: 'E_ODD',
    reason: 'cannot read a',
    at: expect.arrayContaining([expect.stringContaining('crash-line.test.ts')]) as string[],
  });
  expect(line).not.toContain('planted-body');
});

test('crash line: redacts environment values and secrets and omits the cause', () => {
  const cause = new Error('planted-cause');
  const error = new Error(`planted-value and ghp_${'Ab1'.repeat(10)} failed`, { cause });
  const line = formatCrashLine(error, { env, now });
  expect(JSON.parse(line)).toMatchObject({ reason: '[redacted] and [redacted] failed' });
  expect(line).not.toContain('planted');
});

test.each(['a text', undefined, { a: 1 }])('crash line: accepts the thrown value %j', (thrown) => {
  expect(JSON.parse(formatCrashLine(thrown, { env, now }))).toMatchObject({ error: 'unknown', at: [] });
});

test('crash line: truncates a long reason', () => {
  const { reason } = JSON.parse(formatCrashLine(new Error('x'.repeat(10_000)), { env, now })) as {
    reason: string;
  };
  expect(reason.length).toBeLessThan(600);
});

test('crash line: distinguishes a failure in a custom guard from one in the gateway', () => {
  const thrown = (...frames: string[]): Error =>
    Object.assign(new Error('x'), {
      stack: ['Error: x', ...frames.map((frame) => `    at ${frame}`)].join('\n'),
    });
  const [own, ours] = [
    'file:///home/a/own.mjs?trunkline-guard=0:1:2',
    'f (file:///opt/trunkline/dist/a.js:3:4)',
  ];
  expect(isGuardError(thrown('node:internal/timers:581:17', own, ours))).toBe(true);
  // A failure inside gateway code that a guard called counts as ours.
  expect(isGuardError(thrown(ours, own))).toBe(false);
  expect(isGuardError(thrown('f (/opt/trunkline/dist/chunks/a.js:3:4)', own))).toBe(false);
  expect(isGuardError(thrown('new Promise (<anonymous>)', own, ours))).toBe(true);
  expect([thrown(ours), thrown(), 'own.mjs?trunkline-guard=0', undefined].map(isGuardError)).toEqual(
    Array.from({ length: 4 }, () => false),
  );
  expect(formatCrashLine(thrown(own), { env, now })).toContain('A guard failed outside of any call.');
});
