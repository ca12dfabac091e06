import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';

import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { everyLeg, scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'parallel calls: get their own results when 50 responses arrive out of order',
  { downstream: everyLeg, upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['plain'] });
    const texts = Array.from({ length: 50 }, (_, index) => `call ${index}`);
    // The first call is answered last.
    const calls = texts.map((text, index) =>
      line.client.callTool('one__slow', { ms: 900 - index * 15, text }),
    );
    expect((await Promise.all(calls)).map(textOfResult)).toEqual(texts);
    const log = line.logs['one'];
    const [begun, finished] = [log?.of('call') ?? [], log?.of('called') ?? []];
    expect(begun).toHaveLength(50);
    expect(finished.map(({ id }) => id)).not.toEqual(begun.map(({ id }) => id));
    expect(log?.of('started')).toHaveLength(1);
  },
);

type Env = Readonly<Record<string, string | null>>;

/** Variables that servers need to run, none of which contains a secret. */
const harmless =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|TERM|TZ|LANG|LANGUAGE|LC_\w+|TMP|TEMP|TMPDIR|XDG_\w+|USERPROFILE|(?:LOCAL)?APPDATA|\w*_PROXY|\w*_proxy|SSL_CERT_\w+|NODE_EXTRA_CA_CERTS)$/;

scenario('stdio server: gets a minimal environment plus its own variables', async (cell) => {
  const secrets = { GITHUB_TOKEN: 'ours', MY_PASSWORD: 'ours', NODE_ENV: 'test', TRUNKLINE_SECRET: 'ours' };
  const own = { OWN: 'of the entry "quoted" $HOME', LANG: 'of-the-entry' };
  const entries = {
    one: ({ env }: Readonly<Record<string, unknown>>) => ({ env: { ...(env as object), ...own } }),
  };
  await using line = await cell.open({ one: ['plain'] }, { env: secrets, entries });
  const names = [...new Set([...Object.keys({ ...process.env, ...secrets, ...own }), 'TRUNKLINE_HOME'])];
  const answer = textOfResult(await line.client.callTool('one__env', { names }));
  const seen = Object.entries(JSON.parse(answer) as Env).filter(([, value]) => value !== null);
  expect(Object.fromEntries(seen)).toMatchObject({ ...own, HOME: process.env['HOME'] });
  const path = seen.find(([name]) => name === 'PATH')?.[1]?.split(delimiter);
  expect(path).toEqual(expect.arrayContaining(process.env['PATH']?.split(delimiter) ?? []));
  expect(seen.map(([name]) => name).filter((name) => name !== 'OWN' && !harmless.test(name))).toEqual([]);
});

scenario('stdio server: is found through the PATH of the login shell', async (cell) => {
  const home = temporaryFolder('person');
  const shims = join(home, 'shims');
  mkdirSync(shims);
  const shim = `#!/bin/sh\nexec "${process.execPath}" "$@"\n`;
  writeFileSync(join(shims, 'only-in-shims'), shim, { mode: 0o755 });
  writeFileSync(join(home, '.profile'), `echo "Welcome!"\nPATH="${shims}:$PATH"\nexport PATH\n`);
  const entries = { one: { command: 'only-in-shims' } };
  await using line = await cell.open({ one: ['plain'] }, { entries, env: { HOME: home, SHELL: '/bin/sh' } });
  expect(textOfResult(await line.client.callTool('one__echo', { text: 'a' }))).toBe('a');
  const { PATH } = JSON.parse(
    textOfResult(await line.client.callTool('one__env', { names: ['PATH'] })),
  ) as Env;
  // The inherited part comes first and is unchanged.
  expect(PATH?.split(delimiter)).toEqual([
    ...new Set([...(process.env['PATH'] ?? '').split(delimiter), shims]),
  ]);
});

scenario('stdio server: starts in its cwd, relative to the config file', async (cell) => {
  const home = temporaryFolder('trunkline-home');
  mkdirSync(join(home, 'sub', 'folder'), { recursive: true });
  const entries = { near: { cwd: './sub/folder' }, far: { cwd: home } };
  await using line = await cell.open({ near: ['plain'], far: ['plain'] }, { home, entries });
  expect(textOfResult(await line.client.callTool('near__cwd'))).toBe(
    realpathSync(join(home, 'sub', 'folder')),
  );
  expect(textOfResult(await line.client.callTool('far__cwd'))).toBe(realpathSync(home));
});

scenario(
  'stdio server: has its last stderr lines in the error when it dies, the error before a usage text',
  { slow: true },
  async (cell) => {
    const usage = `console.error('error: --token is missing' + '\\n  --option'.repeat(30)); process.exit(2)`;
    await using line = await cell.open(
      {
        start: ['dies-at-start'],
        call: ['dies-in-a-call'],
        young: ['dies-after-handshake'],
        usage: ['plain'],
      },
      { entries: { usage: { command: process.execPath, args: ['-e', usage] } } },
    );
    const start = await line.client.callTool('start__echo', { text: 'a' });
    expect(textOfResult(start)).toContain('"start" exited with code 3');
    expect(textOfResult(start)).toContain('fixture: FIXTURE_KEY is not set, giving up');
    const call = await line.client.callTool('call__echo', { text: 'a' });
    expect(textOfResult(call)).toContain('"call" exited with code 9');
    expect(textOfResult(call)).toContain('fixture: out of memory, so to speak');
    const young = await line.client.callTool('young__echo', { text: 'a' });
    expect(textOfResult(young)).toContain('fixture: that was all');
    const printed = await line.client.callTool('usage__echo', { text: 'a' });
    expect(textOfResult(printed)).toContain('standard error: error: --token is missing | ');
  },
);

scenario('stdio server: has output that is not JSON-RPC ignored, with few log lines', async (cell) => {
  await using line = await cell.open({ one: ['floods-stdout'] });
  await waitForTool(line.client, 'one__echo');
  for (const text of ['a', 'b', 'c'])
    expect(textOfResult(await line.client.callTool('one__echo', { text }))).toBe(text);
  const counted = (): number[] =>
    line.gateway
      .stderr()
      .split('\n')
      .filter((text) => text.includes('that is not JSON-RPC'))
      .map((text) => (JSON.parse(text) as { ignored: number }).ignored);
  // At least eight answers were preceded by 200 lines each.
  await eventually(() => expect(counted()).toContain(1000));
  expect(counted().length, 'a flood of theirs is no flood of ours').toBeLessThan(10);
});

scenario('stdio server: works despite split chunks, stray responses and invalid UTF-8', async (cell) => {
  await using line = await cell.open({ one: ['speaks-garbage'] });
  await waitForTool(line.client, 'one__echo');
  const texts = ['plain', 'naïve — € 🚀', '\u2028 \r\n "quoted" \\', '{"jsonrpc":"2.0"}\n', ''];
  for (const text of texts)
    expect(textOfResult(await line.client.callTool('one__echo', { text }))).toBe(text);
  const together = await Promise.all(texts.map((text) => line.client.callTool('one__echo', { text })));
  expect(together.map(textOfResult)).toEqual(texts);
  expect(textOfResult(await line.client.callTool('one__bad-bytes'))).toMatch(/^before \uFFFD+ after$/);
  expect(line.client.strays.all).toEqual([]);
});

scenario(
  'large result: passes through unchanged with 16 MB',
  { slow: true, downstream: everyLeg },
  async (cell) => {
    const bytes = 16 * 1024 * 1024;
    await using line = await cell.open({ huge: ['huge-result', '--bytes', String(bytes)], echo: ['plain'] });
    const text = textOfResult(await line.client.callTool('huge__huge', {}, { withinMs: 20_000 }));
    const expected = 'She said "€".\n'.repeat(Math.ceil(bytes / 16)).slice(0, bytes);
    // Compares lengths first, because a failed `toBe` would try to print the difference of two huge texts.
    expect(text.length).toBe(expected.length);
    expect(text === expected).toBe(true);
    const large = 'naïve "€" '.repeat(300_000);
    const echoed = textOfResult(
      await line.client.callTool('echo__echo', { text: large }, { withinMs: 20_000 }),
    );
    expect(echoed === large).toBe(true);
  },
);

scenario('stdio server: keeps answering while it floods standard error', async (cell) => {
  await using line = await cell.open({ one: ['floods-stderr'] });
  for (const text of ['a', 'b', 'c'])
    expect(textOfResult(await line.client.callTool('one__echo', { text }))).toBe(text);
  const crash = textOfResult(await line.client.callTool('one__crash'));
  expect(crash).toContain('the last line before the call');
  expect(crash.length, 'the last words, not all of them').toBeLessThan(4000);
});

scenario('stdio server: reports a missing command or cwd at once', async (cell) => {
  const entries = { bad: { command: 'no-such-command-anywhere' }, lost: { cwd: './no-such-folder' } };
  await using line = await cell.open({ bad: ['plain'], lost: ['plain'], good: ['plain'] }, { entries });
  const bad = await line.client.callTool('bad__echo', { text: 'a' });
  expect(gatewayErrorCode(bad)).toBe('UPSTREAM_REFUSED');
  expect(textOfResult(bad)).toContain('"no-such-command-anywhere" was not found');
  const lost = await line.client.callTool('lost__echo', { text: 'a' });
  expect(textOfResult(lost)).toContain('does not exist');
  expect(textOfResult(await line.client.callTool('good__echo', { text: 'a' }))).toBe('a');
  await eventually(() => expect(line.gateway.stderr()).toContain('no-such-command-anywhere'));
});
