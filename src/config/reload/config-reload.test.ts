import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { GatewayError } from '../../model/errors.ts';
import type { ConfigSnapshot } from '../config.ts';
import { configRevision } from '../load.ts';
import { validateConfig } from '../validate.ts';
import { ConfigReload } from './config-reload.ts';
import type { NextConfig } from './config-reload.ts';
import type { ConfigState } from './config-state.ts';
import { sideFilesOf } from './side-files.ts';

const file = '/etc/trunkline/config.jsonc';
const snapshotOf = (text: string): ConfigSnapshot =>
  validateConfig({ file, text, revision: configRevision(text, '1') });
const ONE = '{ "mcpServers": { "a": { "command": "a" } } }';
const TWO = '{ "mcpServers": { "a": { "command": "a" }, "b": { "command": "b" } } }';
const BROKEN = '{ "mcpServers": {\n  "a" { } } }';

describe('a configuration that is followed', () => {
  let text = ONE;
  let states: ConfigState[] = [];
  let applied: NextConfig[] = [];
  let refusal: Error | undefined;
  let warned: unknown[] = [];
  const follow = (more: { checkTrust?: (text: string) => Promise<void>; first?: string } = {}) =>
    new ConfigReload({
      first: snapshotOf(more.first ?? ONE),
      home: '/home/ada',
      read: () =>
        text === 'gone'
          ? Promise.reject(
              new GatewayError('CONFIG_NOT_FOUND', `${file}: there is none`, { details: { file } }),
            )
          : Promise.resolve(text),
      validate: (given) => Promise.resolve().then(() => snapshotOf(given)),
      revisionOf: (given) => configRevision(given, '1'),
      checkTrust: more.checkTrust,
      apply: (next) => {
        if (refusal !== undefined) return Promise.reject(refusal);
        applied.push(next);
        return Promise.resolve([]);
      },
      onState: (state) => states.push(state),
      log: { info: () => {}, warn: (...said) => warned.push(said) },
      now: () => 7,
    });
  beforeEach(() => {
    [text, states, applied, warned, refusal] = [ONE, [], [], [], undefined];
  });

  test('does nothing about the text that is in use, whoever wrote it', async () => {
    const reload = follow();
    await reload.look();
    expect([applied, states, reload.state]).toEqual([
      [],
      [],
      { file, revision: configRevision(ONE, '1'), since: 7, needsRestart: [] },
    ]);
  });

  test('is taken into use with what is different', async () => {
    const reload = follow();
    text = TWO;
    await reload.look();
    await reload.look();
    expect(applied.map(({ diff, text: given }) => [diff.added, given])).toEqual([[['b'], TWO]]);
    expect(states.map(({ revision }) => revision)).toEqual([configRevision(TWO, '1')]);
    expect(reload.snapshot.value.upstreams).toHaveLength(2);
  });

  test('changes nothing when it has a mistake, says where, and recovers', async () => {
    const reload = follow();
    text = BROKEN;
    await reload.look();
    await reload.look();
    expect(applied).toEqual([]);
    expect(states).toHaveLength(1);
    expect(warned).toHaveLength(1);
    expect(reload.state).toMatchObject({
      revision: configRevision(ONE, '1'),
      problem: { code: 'CONFIG_INVALID', file, line: 2, column: 7 },
    });
    expect(reload.state.problem?.message).toContain(`${file}:2:7: `);
    // Back to what is in use: nothing to take over, and no problem left.
    text = ONE;
    await reload.look();
    expect([applied, reload.state.problem, states.length]).toEqual([[], undefined, 2]);
    text = TWO;
    await reload.look();
    expect(applied).toHaveLength(1);
  });

  test('stays as it was when its file is gone', async () => {
    const reload = follow();
    text = 'gone';
    await reload.look();
    expect([applied, reload.state.problem?.code]).toEqual([[], 'CONFIG_NOT_FOUND']);
  });

  test('stays as it was when something of it cannot be made', async () => {
    const reload = follow();
    [text, refusal] = [TWO, new Error('no such guard')];
    await reload.look();
    expect(reload.snapshot.value.upstreams).toHaveLength(1);
    expect(reload.state.problem).toMatchObject({ code: 'INVARIANT' });
    // The text is the same, and what it needs is there now.
    refusal = undefined;
    await reload.look();
    expect([applied.length, reload.state.problem]).toEqual([1, undefined]);
  });

  test('is not used before a person trusts it, where that is needed', async () => {
    let isTrusted = false;
    const reload = follow({
      checkTrust: () =>
        isTrusted ? Promise.resolve() : Promise.reject(new GatewayError('CONFIG_UNTRUSTED', 'Read it.')),
    });
    await reload.look();
    expect(reload.state.problem).toBeUndefined();
    text = TWO;
    await reload.look();
    expect([applied, reload.state.problem?.code]).toEqual([[], 'CONFIG_UNTRUSTED']);
    isTrusted = true;
    await reload.look();
    expect([applied.length, reload.state.problem]).toEqual([1, undefined]);
  });

  test('many looks at once end with the last text', async () => {
    const reload = follow();
    const looks = [];
    for (let at = 0; at < 20; at++) {
      text = `{ "mcpServers": { "s${at}": { "command": "x" } } }`;
      looks.push(reload.look());
    }
    await Promise.all(looks);
    expect(reload.snapshot.value.upstreams.map(({ name }) => name)).toEqual(['s19']);
    expect(applied.length).toBeLessThan(4);
  });

  describe('with files beside it', () => {
    let folder: string;
    beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'trunkline-side-'))));
    afterEach(() => rmSync(folder, { recursive: true }));

    test('reopens the servers whose env file holds something else', async () => {
      const [env, guard] = [join(folder, 'a.env'), join(folder, 'guard.mjs')];
      writeFileSync(env, 'A=1');
      writeFileSync(guard, '');
      text = JSON.stringify({
        mcpServers: { a: { command: 'a', envFile: env }, b: { command: 'b' } },
        guards: [guard],
      });
      const reload = follow({ first: text });
      await reload.look();
      expect(applied).toEqual([]);
      writeFileSync(env, 'A=2');
      await reload.look();
      expect(applied.map(({ diff }) => [diff.reopened, diff.settings])).toEqual([[['a'], []]]);
      writeFileSync(guard, 'export default () => {}');
      await reload.look();
      expect(applied.slice(1).map(({ diff }) => [diff.reopened, diff.settings])).toEqual([[[], ['guards']]]);
      await reload.look();
      expect(applied).toHaveLength(2);
    });

    test('reopens the servers that are opened with what a file holds, and no others', async () => {
      const [token, secret] = [join(folder, 'token'), join(folder, 'secret')];
      writeFileSync(token, 'one');
      text = JSON.stringify({
        mcpServers: {
          a: { url: 'https://a.example', headers: { Authorization: `Bearer \${file:${token}}` } },
          b: { command: 'b', args: [`--key=\${file:${token}}`] },
          c: { url: 'https://c.example', auth: { clientId: 'c', clientSecret: `\${file:${secret}}` } },
          d: { command: 'd', env: { D: `$\${file:${token}}` } },
        },
      });
      const reload = follow({ first: text });
      await reload.look();
      expect(applied).toEqual([]);
      writeFileSync(token, 'two');
      await reload.look();
      // A file that was not there when the server was opened may be there now.
      writeFileSync(secret, 'hush');
      await reload.look();
      await reload.look();
      expect(applied.map(({ diff }) => diff.reopened)).toEqual([['a', 'b'], ['c']]);
    });

    test('knows what a path begins with that is written with ~, or beside the configuration', () => {
      const snapshot = snapshotOf(
        JSON.stringify({
          mcpServers: { a: { command: 'a', envFile: '~/a.env', env: { B: '${file:b}', C: '${file:~/c}' } } },
        }),
      );
      expect(sideFilesOf(snapshot, '/home/ada').toSorted()).toEqual(
        ['/etc/trunkline/b', '/home/ada/a.env', '/home/ada/c'].map((path) => resolve(path)),
      );
    });

    test('does not read what can be read only once', async () => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      text = JSON.stringify({ mcpServers: { a: { command: 'a', env: { A: `\${file:${pipe}}` } } } });
      await follow({ first: text }).look();
      expect(applied).toEqual([]);
    });
  });
});
