import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { BrowserSessions } from './browser-sessions.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'sessions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sessions.json');
  const clock = { now: 1_000_000 };
  const problems: unknown[] = [];
  const make = (): BrowserSessions =>
    new BrowserSessions({ file, now: () => clock.now, onProblem: (error) => problems.push(error) });
  return { file, clock, problems, make, sessions: make() };
}

test('a link lets one browser in, once', () => {
  const { sessions } = opened();
  const { text } = sessions.ticket();
  const entered = sessions.enter(text);
  expect(sessions.find(entered?.token ?? '')).toMatchObject({ id: entered?.id });
  expect(sessions.enter(text)).toBeUndefined();
  expect(sessions.enter('')).toBeUndefined();
});

test('a link that is older than five minutes lets nobody in', () => {
  const { sessions, clock } = opened();
  const [early, late] = [sessions.ticket(), sessions.ticket()];
  clock.now += 5 * MINUTE - 1;
  expect(sessions.enter(early.text)).toBeDefined();
  clock.now += 1;
  expect(sessions.enter(late.text)).toBeUndefined();
});

test('a session lasts as long as it is used within a day, and thirty days at most', () => {
  const { sessions, clock } = opened();
  const { token } = sessions.open();
  for (let half = 1; half < 60; half++) {
    clock.now += DAY / 2;
    expect(sessions.find(token), `after ${half / 2} days`).toBeDefined();
  }
  clock.now += DAY / 2;
  expect(sessions.find(token)).toBeUndefined();
  const unused = sessions.open();
  clock.now += DAY - 1;
  expect(sessions.has(unused.id)).toBe(true);
  clock.now += 1;
  // Whoever listens with it is not asked to show it again.
  expect(sessions.has(unused.id)).toBe(false);
  expect(sessions.find(unused.token)).toBeUndefined();
});

test('sessions survive a restart, of which the file knows hashes alone; links do not', async () => {
  const { sessions, make, file } = opened();
  const { token, id } = sessions.open();
  const { text } = sessions.ticket();
  await sessions.saved();
  expect(readFileSync(file, 'utf8')).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = make();
  expect(again.find(token)).toMatchObject({ id });
  expect(again.enter(text)).toBeUndefined();
  again.close(id);
  await again.saved();
  expect(make().find(token)).toBeUndefined();
});

test('of too many sessions the one that was used longest ago ends', () => {
  const { sessions, clock } = opened();
  const all = Array.from({ length: 33 }, () => {
    clock.now += 1;
    return sessions.open();
  });
  expect(all.filter(({ token }) => sessions.find(token) === undefined)).toEqual([all[0]]);
});

test('a file that is not whole means that everybody signs in again', () => {
  const { file, make } = opened();
  for (const text of ['{', '{}', '[1, {"hash": 2}]']) {
    writeFileSync(file, text);
    expect(make().find('anything')).toBeUndefined();
  }
});

test('a file that cannot be written is told of, and nobody is sent away', async () => {
  const { file, problems } = opened();
  const sessions = new BrowserSessions({
    file: join(file, 'below', 'a-file.json'),
    now: Date.now,
    onProblem: (error) => problems.push(error),
  });
  writeFileSync(file, '');
  const { token } = sessions.open();
  await sessions.saved();
  expect(problems).toHaveLength(1);
  expect(sessions.find(token)).toBeDefined();
});
