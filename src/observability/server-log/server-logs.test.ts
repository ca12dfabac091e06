import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { createJsonLogger } from '../log.ts';
import { ServerLogs, logFileName, teeToServerLogs } from './server-logs.ts';

let root = '';
let logs: ServerLogs;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'trunkline-logs-'));
  logs = new ServerLogs({ folder: join(root, 'logs', 'servers'), now: Date.now });
});
afterEach(() => {
  logs[Symbol.dispose]();
  rmSync(root, { recursive: true });
});

const texts = (server = 'one', lines = 100): readonly string[] =>
  logs.tail(server, { lines }).lines.map(({ from, text }) => `${from}: ${text}`);

describe('server output', () => {
  test('server log: assembles lines from chunks and strips terminal control sequences', () => {
    for (const piece of ['fir', 'st\nsec\u001b[31m', 'ond\n\n', 'caf', '\u00e9'])
      logs.writeStderr('one', Buffer.from(piece));
    expect(texts()).toEqual(['stderr: first', 'stderr: second']);
    logs[Symbol.dispose]();
    expect(texts()).toEqual(['stderr: first', 'stderr: second', 'stderr: caf\u00e9']);
    expect(statSync(logs.fileOf('one')).mode & 0o777).toBe(0o600);
  });

  test('server log: masks secrets in every encoding in which programs print them', () => {
    const pem = '-----BEGIN-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END-----';
    logs.addSecrets('one', ['s3cr"et/&', pem]);
    const ghp = `ghp_${'a1B2'.repeat(9)}`;
    for (const line of [
      'token s3cr"et/& in use',
      JSON.stringify({ token: 's3cr"et/&' }),
      `https://x/?t=${encodeURIComponent('s3cr"et/&')}`,
      Buffer.from('s3cr"et/&').toString('base64'),
      'MIIEvQIBADANBgkq',
      's3\u001b[1mcr"et/&\u001b[0m',
      `found ${ghp}`,
    ])
      logs.writeStderr('one', Buffer.from(`${line}\n`));
    const all = texts().join('\n');
    for (const secret of ['s3cr', 'MIIEvQ', ghp, 'czNjci']) expect(all).not.toContain(secret);
    expect(texts()[0]).toBe('stderr: token ••• in use');
  });

  test('server log: does not reveal part of a secret in an overlong line', () => {
    logs.addSecrets('one', ['abcdefghijklmnop']);
    logs.writeStderr('one', Buffer.from(`${'x'.repeat(70_000)}abcdefgh`));
    logs.writeStderr('one', Buffer.from('ijklmnop and more\nnext\n'));
    expect(texts().map((text) => text.slice(0, 12))).toEqual(['stderr: xxxx', 'stderr: next']);
    expect(texts()[0]).toHaveLength('stderr: '.length + 4000);
  });

  test('server log: limits its size and reports omitted lines', () => {
    const flood = Buffer.from(`${'y'.repeat(1000)}\n`.repeat(2000));
    logs.writeStderr('one', flood);
    expect(texts('one', 1)[0]).toMatch(
      /gateway: 1\d{3} lines were dropped: the server wrote too much at once/,
    );
    for (let round = 0; round < 20; round++) {
      logs.writeStderr('one', flood);
      logs.tail('one', { lines: 1 });
    }
    const files = readdirSync(join(root, 'logs', 'servers')).toSorted();
    expect(files).toEqual(['one.log', 'one.log.1', 'one.log.2']);
    for (const name of files)
      expect(statSync(join(root, 'logs', 'servers', name)).size).toBeLessThan(1_100_000);
  });
});

test('server log: returns lines since a position, also after the file was replaced', () => {
  logs.writeStderr('one', Buffer.from('a\nb\n'));
  const { next, hasMore } = logs.tail('one', { lines: 1 });
  expect(hasMore).toBe(true);
  logs.writeStderr('one', Buffer.from('c\n'));
  const after = logs.tail('one', { lines: 10, from: next });
  expect(after.lines.map(({ text }) => text)).toEqual(['c']);
  writeFileSync(logs.fileOf('one'), `${new Date().toISOString()} stderr d\n`);
  expect(logs.tail('one', { lines: 10, from: after.next }).lines.map(({ text }) => text)).toEqual(['d']);
  expect(logs.tail('none', { lines: 10 })).toEqual({ lines: [], hasMore: false, next: 0 });
});

test('server log: is deleted with its server, and leftovers are deleted after a week', () => {
  for (const name of ['one', 'one.log', 'two', 'three']) logs.note(name, 'x');
  logs.tail('one', { lines: 1 });
  logs.forget('one');
  const folder = join(root, 'logs', 'servers');
  expect(readdirSync(folder).toSorted()).toEqual(['one.log.log', 'three.log', 'two.log']);
  logs.writeStderr('one', Buffer.from('the last words\n'));
  expect(texts('one')).toEqual([]);
  logs.addSecrets('one', []);
  logs.note('one', 'again');
  expect(texts('one')).toEqual(['gateway: again']);
  logs.forget('one');
  const old = Date.now() / 1000 - 8 * 24 * 3600;
  for (const name of ['two.log', 'three.log']) utimesSync(join(folder, name), old, old);
  logs.sweep(['three']);
  expect(readdirSync(folder).toSorted()).toEqual(['one.log.log', 'three.log']);
});

test.each([
  ['github', 'github.log'],
  ['GitHub', /^GitHub~[0-9a-f]{12}\.log$/],
  ['../../etc/passwd', /^_etc_passwd~[0-9a-f]{12}\.log$/],
  ['nul', /^nul~/],
  ['é'.repeat(128), /^_~/],
])('server log: gives %s a file name that stays inside the log folder', (server, name) => {
  expect(logFileName(server)).toMatch(name);
});

test('server log: records warnings and errors about the server and passes them on', () => {
  const written: string[] = [];
  const log = teeToServerLogs(
    createJsonLogger({ level: 'error', write: (line) => written.push(line) }),
    (server, text) => logs.note(server, text),
  );
  log.with({ upstream: 'one' }).warn('Lost the connection to a server.', { reason: 'It\nended.' });
  log.error('Something else.', {});
  log.debug('Not this.', { upstream: 'one' });
  expect(texts()).toEqual(['gateway: warn: Lost the connection to a server. It ended.']);
  expect(written).toHaveLength(1);
  expect(readFileSync(logs.fileOf('one'), 'utf8')).toMatch(/^\d{4}-.*Z gateway warn: Lost/);
});
