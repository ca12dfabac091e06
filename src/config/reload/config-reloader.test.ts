import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { afterEach, beforeEach, describe, expect, test } from 'vitest';

import { GatewayError } from '../../core/errors.ts';
import type { ConfigSnapshot } from '../config.ts';
import { computeConfigRevision } from '../load-config.ts';
import { validateConfig } from '../validate-config.ts';
import { ConfigReloader } from './config-reloader.ts';
import type { NextConfig } from './config-reloader.ts';
import type { ConfigState } from './config-state.ts';
import { listReferencedFiles } from './referenced-files.ts';

const file = '/etc/trunkline/config.jsonc';
const validate = (text: string): ConfigSnapshot =>
  validateConfig({ file, text, revision: computeConfigRevision(text, '1') });
const ONE = '{ "mcpServers": { "a": { "command": "a" } } }';
const TWO = '{ "mcpServers": { "a": { "command": "a" }, "b": { "command": "b" } } }';
const BROKEN = '{ "mcpServers": {\n  "a" { } } }';

describe('config reload', () => {
  let text = ONE;
  let states: ConfigState[] = [];
  let applied: NextConfig[] = [];
  let applyError: Error | undefined;
  let warnings: unknown[] = [];
  const createReloader = (options: { checkTrust?: (text: string) => Promise<void>; first?: string } = {}) =>
    new ConfigReloader({
      first: validate(options.first ?? ONE),
      home: '/home/ada',
      read: () =>
        text === 'gone'
          ? Promise.reject(
              new GatewayError('CONFIG_NOT_FOUND', `${file}: there is none`, { details: { file } }),
            )
          : Promise.resolve(text),
      validate: (newText) => Promise.resolve().then(() => validate(newText)),
      revisionOf: (newText) => computeConfigRevision(newText, '1'),
      checkTrust: options.checkTrust,
      apply: (next) => {
        if (applyError !== undefined) return Promise.reject(applyError);
        applied.push(next);
        return Promise.resolve([]);
      },
      onState: (state) => states.push(state),
      log: { info: () => {}, warn: (...entry) => warnings.push(entry) },
      now: () => 7,
    });
  beforeEach(() => {
    [text, states, applied, warnings, applyError] = [ONE, [], [], [], undefined];
  });

  test('reload: does nothing when the text is already in use', async () => {
    const reloader = createReloader();
    await reloader.reload();
    expect([applied, states, reloader.state]).toEqual([
      [],
      [],
      { file, revision: computeConfigRevision(ONE, '1'), since: 7, needsRestart: [] },
    ]);
  });

  test('reload: applies a changed text once, with the difference', async () => {
    const reloader = createReloader();
    text = TWO;
    await reloader.reload();
    await reloader.reload();
    expect(applied.map(({ diff, text: appliedText }) => [diff.added, appliedText])).toEqual([[['b'], TWO]]);
    expect(states.map(({ revision }) => revision)).toEqual([computeConfigRevision(TWO, '1')]);
    expect(reloader.snapshot.value.upstreams).toHaveLength(2);
  });

  test('reload: keeps the old config on a syntax error, reports its position and recovers', async () => {
    const reloader = createReloader();
    text = BROKEN;
    await reloader.reload();
    await reloader.reload();
    expect(applied).toEqual([]);
    expect(states).toHaveLength(1);
    expect(warnings).toHaveLength(1);
    expect(reloader.state).toMatchObject({
      revision: computeConfigRevision(ONE, '1'),
      problem: { code: 'CONFIG_INVALID', file, line: 2, column: 7 },
    });
    expect(reloader.state.problem?.message).toContain(`${file}:2:7: `);
    // Restoring the active text applies nothing and clears the problem.
    text = ONE;
    await reloader.reload();
    expect([applied, reloader.state.problem, states.length]).toEqual([[], undefined, 2]);
    text = TWO;
    await reloader.reload();
    expect(applied).toHaveLength(1);
  });

  test('reload: keeps the old config when the file is gone', async () => {
    const reloader = createReloader();
    text = 'gone';
    await reloader.reload();
    expect([applied, reloader.state.problem?.code]).toEqual([[], 'CONFIG_NOT_FOUND']);
  });

  test('reload: keeps the old config when applying fails and retries later', async () => {
    const reloader = createReloader();
    [text, applyError] = [TWO, new Error('no such guard')];
    await reloader.reload();
    expect(reloader.snapshot.value.upstreams).toHaveLength(1);
    expect(reloader.state.problem).toMatchObject({ code: 'INVARIANT' });
    // The text is unchanged, and applying it succeeds now.
    applyError = undefined;
    await reloader.reload();
    expect([applied.length, reloader.state.problem]).toEqual([1, undefined]);
  });

  test('reload: waits until a changed text is trusted', async () => {
    let isTrusted = false;
    const reloader = createReloader({
      checkTrust: () =>
        isTrusted ? Promise.resolve() : Promise.reject(new GatewayError('CONFIG_UNTRUSTED', 'Read it.')),
    });
    await reloader.reload();
    expect(reloader.state.problem).toBeUndefined();
    text = TWO;
    await reloader.reload();
    expect([applied, reloader.state.problem?.code]).toEqual([[], 'CONFIG_UNTRUSTED']);
    isTrusted = true;
    await reloader.reload();
    expect([applied.length, reloader.state.problem]).toEqual([1, undefined]);
  });

  test('reload: coalesces concurrent checks and ends with the last text', async () => {
    const reloader = createReloader();
    const reloads = [];
    for (let at = 0; at < 20; at++) {
      text = `{ "mcpServers": { "s${at}": { "command": "x" } } }`;
      reloads.push(reloader.reload());
    }
    await Promise.all(reloads);
    expect(reloader.snapshot.value.upstreams.map(({ name }) => name)).toEqual(['s19']);
    expect(applied.length).toBeLessThan(4);
  });

  describe('referenced files', () => {
    let folder: string;
    beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'trunkline-side-'))));
    afterEach(() => rmSync(folder, { recursive: true }));

    test('reload: reopens servers with a changed env file and reloads changed guards', async () => {
      const [env, guard] = [join(folder, 'a.env'), join(folder, 'guard.mjs')];
      writeFileSync(env, 'A=1');
      writeFileSync(guard, '');
      text = JSON.stringify({
        mcpServers: { a: { command: 'a', envFile: env }, b: { command: 'b' } },
        guards: [guard],
      });
      const reloader = createReloader({ first: text });
      await reloader.reload();
      expect(applied).toEqual([]);
      writeFileSync(env, 'A=2');
      await reloader.reload();
      expect(applied.map(({ diff }) => [diff.reopened, diff.settings])).toEqual([[['a'], []]]);
      writeFileSync(guard, 'export default () => {}');
      await reloader.reload();
      expect(applied.slice(1).map(({ diff }) => [diff.reopened, diff.settings])).toEqual([[[], ['guards']]]);
      await reloader.reload();
      expect(applied).toHaveLength(2);
    });

    test('reload: waits until a changed guard is trusted', async () => {
      const guard = join(folder, 'guard.mjs');
      writeFileSync(guard, '');
      text = JSON.stringify({ mcpServers: { a: { command: 'a' } }, guards: [guard] });
      let isTrusted = false;
      const reloader = createReloader({
        first: text,
        checkTrust: () =>
          isTrusted ? Promise.resolve() : Promise.reject(new GatewayError('CONFIG_UNTRUSTED', 'Read it.')),
      });
      await reloader.reload();
      expect(reloader.state.problem).toBeUndefined();
      writeFileSync(guard, 'export default () => steal();');
      await reloader.reload();
      expect([applied, reloader.state.problem?.code]).toEqual([[], 'CONFIG_UNTRUSTED']);
      isTrusted = true;
      await reloader.reload();
      expect(applied.map(({ diff }) => diff.settings)).toEqual([['guards']]);
      expect(reloader.state.problem).toBeUndefined();
    });

    test('reload: reopens only the servers that use a changed file reference', async () => {
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
      const reloader = createReloader({ first: text });
      await reloader.reload();
      expect(applied).toEqual([]);
      writeFileSync(token, 'two');
      await reloader.reload();
      // A file that was missing when the server was opened may exist now.
      writeFileSync(secret, 'hush');
      await reloader.reload();
      await reloader.reload();
      expect(applied.map(({ diff }) => diff.reopened)).toEqual([['a', 'b'], ['c']]);
    });

    test('referenced files: resolve against the home folder and the config folder', () => {
      const snapshot = validate(
        JSON.stringify({
          mcpServers: { a: { command: 'a', envFile: '~/a.env', env: { B: '${file:b}', C: '${file:~/c}' } } },
        }),
      );
      expect(listReferencedFiles(snapshot, '/home/ada').toSorted()).toEqual(
        ['/etc/trunkline/b', '/home/ada/a.env', '/home/ada/c'].map((path) => resolve(path)),
      );
    });

    test('reload: does not read a named pipe', async () => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      text = JSON.stringify({ mcpServers: { a: { command: 'a', env: { A: `\${file:${pipe}}` } } } });
      await createReloader({ first: text }).reload();
      expect(applied).toEqual([]);
    });
  });
});
