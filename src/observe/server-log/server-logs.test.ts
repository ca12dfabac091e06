import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { jsonLogger } from '../log.ts';
import { logFileName } from './log-file-name.ts';
import { notingLogger } from './noting-logger.ts';
import { ServerLogs } from './server-logs.ts';

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

describe('what a server writes', () => {
  test('is kept in lines, whatever pieces it comes in, without what controls a terminal', () => {
    for (const piece of ['fir', 'st\nsec\u001b[31m', 'ond\n\n', 'caf', '\u00e9'])
      logs.stderr('one', Buffer.from(piece));
    expect(texts()).toEqual(['stderr: first', 'stderr: second']);
    logs[Symbol.dispose]();
    expect(texts()).toEqual(['stderr: first', 'stderr: second', 'stderr: caf\u00e9']);
    expect(statSync(logs.fileOf('one')).mode & 0o777).toBe(0o600);
  });

  test('has no secret in it, in none of the forms in which programs write one', () => {
    const pem = '-----BEGIN-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END-----';
    logs.hide('one', ['s3cr"et/&', pem]);
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
      logs.stderr('one', Buffer.from(`${line}\n`));
    const all = texts().join('\n');
    for (const secret of ['s3cr', 'MIIEvQ', ghp, 'czNjci']) expect(all).not.toContain(secret);
    expect(texts()[0]).toBe('stderr: token ••• in use');
  });

  test('cannot be split to show half a secret', () => {
    logs.hide('one', ['abcdefghijklmnop']);
    logs.stderr('one', Buffer.from(`${'x'.repeat(70_000)}abcdefgh`));
    logs.stderr('one', Buffer.from('ijklmnop and more\nnext\n'));
    expect(texts().map((text) => text.slice(0, 12))).toEqual(['stderr: xxxx', 'stderr: next']);
    expect(texts()[0]).toHaveLength('stderr: '.length + 4000);
  });

  test('stays small, and says what was left out', () => {
    const flood = Buffer.from(`${'y'.repeat(1000)}\n`.repeat(2000));
    logs.stderr('one', flood);
    expect(texts('one', 1)[0]).toMatch(/gateway: 1\d{3} more lines came at once/);
    for (let round = 0; round < 20; round++) {
      logs.stderr('one', flood);
      logs.tail('one', { lines: 1 });
    }
    const files = readdirSync(join(root, 'logs', 'servers')).toSorted();
    expect(files).toEqual(['one.log', 'one.log.1', 'one.log.2']);
    for (const name of files)
      expect(statSync(join(root, 'logs', 'servers', name)).size).toBeLessThan(1_100_000);
  });
});

test('what is new since a place in the file can be asked for, also after the file was replaced', () => {
  logs.stderr('one', Buffer.from('a\nb\n'));
  const { next, hasMore } = logs.tail('one', { lines: 1 });
  expect(hasMore).toBe(true);
  logs.stderr('one', Buffer.from('c\n'));
  const after = logs.tail('one', { lines: 10, from: next });
  expect(after.lines.map(({ text }) => text)).toEqual(['c']);
  writeFileSync(logs.fileOf('one'), `${new Date().toISOString()} stderr d\n`);
  expect(logs.tail('one', { lines: 10, from: after.next }).lines.map(({ text }) => text)).toEqual(['d']);
  expect(logs.tail('none', { lines: 10 })).toEqual({ lines: [], hasMore: false, next: 0 });
});

test('a log goes with its server, or a week later', () => {
  for (const name of ['one', 'one.log', 'two', 'three']) logs.note(name, 'x');
  logs.tail('one', { lines: 1 });
  logs.forget('one');
  const folder = join(root, 'logs', 'servers');
  expect(readdirSync(folder).toSorted()).toEqual(['one.log.log', 'three.log', 'two.log']);
  logs.stderr('one', Buffer.from('the last words\n'));
  expect(texts('one')).toEqual([]);
  logs.hide('one', []);
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
])('the log of %s has a name that leads nowhere else', (server, name) => {
  expect(logFileName(server)).toMatch(name);
});

test('trouble with a server is noted in its log and told as before', () => {
  const written: string[] = [];
  const log = notingLogger(
    jsonLogger({ level: 'error', write: (line) => written.push(line) }),
    (server, text) => logs.note(server, text),
  );
  log.with({ upstream: 'one' }).warn('Lost the connection to a server.', { reason: 'It\nended.' });
  log.error('Something else.', {});
  log.debug('Not this.', { upstream: 'one' });
  expect(texts()).toEqual(['gateway: warn: Lost the connection to a server. It ended.']);
  expect(written).toHaveLength(1);
  expect(readFileSync(logs.fileOf('one'), 'utf8')).toMatch(/^\d{4}-.*Z gateway warn: Lost/);
});
