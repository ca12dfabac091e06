import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { FileBrowserSessions } from './file-browser-sessions.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

function createStore() {
  const folder = mkdtempSync(join(tmpdir(), 'sessions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'sessions.json');
  const clock = { now: 1_000_000 };
  const problems: unknown[] = [];
  const make = (): FileBrowserSessions =>
    new FileBrowserSessions({ file, now: () => clock.now, onProblem: (error) => problems.push(error) });
  return { file, clock, problems, make, sessions: make() };
}

test('dashboard link: opens one session and works once', () => {
  const { sessions } = createStore();
  const { text } = sessions.createTicket();
  const entered = sessions.redeemTicket(text);
  expect(sessions.find(entered?.token ?? '')).toMatchObject({ id: entered?.id });
  expect(sessions.redeemTicket(text)).toBeUndefined();
  expect(sessions.redeemTicket('')).toBeUndefined();
});

test('dashboard link: expires after five minutes', () => {
  const { sessions, clock } = createStore();
  const [early, late] = [sessions.createTicket(), sessions.createTicket()];
  clock.now += 5 * MINUTE - 1;
  expect(sessions.redeemTicket(early.text)).toBeDefined();
  clock.now += 1;
  expect(sessions.redeemTicket(late.text)).toBeUndefined();
});

test('browser session: expires after a day without use and after thirty days at most', () => {
  const { sessions, clock } = createStore();
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
  // An open event stream checks `has` and does not present the token again.
  expect(sessions.has(unused.id)).toBe(false);
  expect(sessions.find(unused.token)).toBeUndefined();
});

test('browser session: survives a restart and is stored as a hash, while links are not stored', async () => {
  const { sessions, make, file } = createStore();
  const { token, id } = sessions.open();
  const { text } = sessions.createTicket();
  await sessions.saved();
  expect(readFileSync(file, 'utf8')).not.toContain(token);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const again = make();
  expect(again.find(token)).toMatchObject({ id });
  expect(again.redeemTicket(text)).toBeUndefined();
  again.close(id);
  await again.saved();
  expect(make().find(token)).toBeUndefined();
});

test('browser session: evicts the least recently used session beyond 32', () => {
  const { sessions, clock } = createStore();
  const all = Array.from({ length: 33 }, () => {
    clock.now += 1;
    return sessions.open();
  });
  expect(all.filter(({ token }) => sessions.find(token) === undefined)).toEqual([all[0]]);
});

test('browser session: ignores a damaged session file', () => {
  const { file, make } = createStore();
  for (const text of ['{', '{}', '[1, {"hash": 2}]']) {
    writeFileSync(file, text);
    expect(make().find('anything')).toBeUndefined();
  }
});

test('browser session: reports a session file that cannot be written and keeps working', async () => {
  const { file, problems } = createStore();
  const sessions = new FileBrowserSessions({
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
