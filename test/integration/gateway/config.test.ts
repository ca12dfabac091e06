import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect } from 'vitest';

import { rpcErrorOf, gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { type StdioEntry, fixture, fixtureLog } from '../../support/fixture.ts';
import { gatewayCommand, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { sdkV1Client } from '../../support/sdk-clients.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

/** Values that break code which inserts them into text, a shell command or a pattern without escaping. */
const nasty = [
  'plain',
  `"double" 'single' \`back\``,
  'dollar $HOME ${HOME} ${env:HOME} $& $1 $$',
  'back\\slash \\n \\u0041 C:\\path\\new',
  'two\nlines\tand a tab',
  '{"json": [1, "}"]}',
  'spaces  at the end  ',
  'ünïcödé €\u{1F680}; rm -rf ~ && echo | > < * ?',
];

scenario(
  'reference: resolves to any value unchanged at each server start and stays out of the log',
  async () => {
    const home = temporaryFolder('trunkline-home');
    const env = Object.fromEntries(nasty.map((value, index) => [`NASTY_${index}`, value]));
    const file = join(home, 'secret.txt');
    writeFileSync(file, 'first "secret" ${HOME}\n');
    const own = {
      ...Object.fromEntries(nasty.map((_, index) => [`LONG_${index}`, `\${env:NASTY_${index}}`])),
      ...Object.fromEntries(nasty.map((_, index) => [`SHORT_${index}`, `<\${NASTY_${index}}>`])),
      FROM_FILE: 'Bearer ${file:secret.txt}!',
      DEFAULT: '${NOT_SET_AT_ALL:-else}',
      LITERAL: '$${NASTY_0}',
    };
    const one = withEnv(fixture('plain', ...nasty.map((_, index) => `--mark=\${NASTY_${index}}`)), own);
    await using gateway = await startGateway({ home, env, mcpServers: { one } });
    await using client = await gateway.client();
    expect(await environmentOf(client, Object.keys(own))).toEqual({
      ...Object.fromEntries(nasty.map((value, index) => [`LONG_${index}`, value])),
      ...Object.fromEntries(nasty.map((value, index) => [`SHORT_${index}`, `<${value}>`])),
      FROM_FILE: 'Bearer first "secret" ${HOME}!',
      DEFAULT: 'else',
      LITERAL: '${NASTY_0}',
    });
    const [started] = fixtureLog(one).of('started');
    expect(started?.['argv']).toEqual(expect.arrayContaining(nasty.map((value) => `--mark=${value}`)));
    // Secrets are resolved when a process starts, so the next process gets the new value.
    writeFileSync(file, 'second\n');
    await client.callTool('one__crash');
    expect(await environmentOf(client, ['FROM_FILE'])).toEqual({ FROM_FILE: 'Bearer second!' });
    // Only the server receives the resolved value.
    await gateway.stop();
    for (const secret of ['secret\\"', 'secret"', 'second']) expect(gateway.stderr()).not.toContain(secret);
  },
);

scenario('reference: fails with server and field when unset, without starting the server', async () => {
  const mcpServers = {
    variable: withEnv(fixture('plain'), { KEY: 'Bearer ${env:NOT_SET_AT_ALL}' }),
    empty: fixture('plain', '--mark', '${EMPTY_ONE}'),
    file: withEnv(fixture('plain'), { KEY: '${file:not-there.txt}' }),
    good: fixture('plain'),
  };
  const env = { EMPTY_ONE: '', NOT_SET_AT_ALL: undefined };
  await using gateway = await startGateway({ mcpServers, env });
  await using client = await gateway.client();
  await waitForTool(client, 'good__echo');
  const position = mcpServers.empty.args.indexOf('${EMPTY_ONE}');
  for (const [server, field, name] of [
    ['variable', 'env.KEY', 'NOT_SET_AT_ALL'],
    ['empty', `args[${position}]`, 'EMPTY_ONE'],
    ['file', 'env.KEY', 'not-there.txt'],
  ] as const) {
    const result = await client.callTool(`${server}__echo`, { text: 'x' });
    expect(gatewayErrorCode(result)).toBe('SECRET_MISSING');
    for (const part of [`"${server}"`, field, name]) expect(textOfResult(result)).toContain(part);
    // The status names the problem without a call, and no process was started with an unresolved value.
    await eventually(() => gateway.stderr().includes(name));
    expect(fixtureLog(mcpServers[server]).of('started')).toEqual([]);
  }
  expect(textOfResult(await client.callTool('good__echo', { text: 'x' }))).toBe('x');
});

scenario(
  'server entry: is reported with its position when invalid, and the others are served',
  async (cell) => {
    const entries = {
      typo: { comand: 'node' },
      kind: { args: 'not a list' },
      both: { url: 'http://127.0.0.1:1/mcp' },
    };
    await using line = await cell.open(
      { good: ['plain'], typo: ['plain'], kind: ['plain'], both: ['plain'], also: ['plain'] },
      { entries, config: { startup: { listWait: '60s' } } },
    );
    const names = (await line.client.listTools()).map(({ name }) => name);
    expect(new Set(names.map((name) => name.split('__')[0]))).toEqual(new Set(['good', 'also']));
    const { configFile } = line.gateway;
    const lines = readFileSync(configFile, 'utf8').split('\n');
    const placeOf = (text: string): string => {
      const at = lines.findIndex((one) => one.includes(text));
      return `${configFile}:${at + 1}:${(lines[at]?.indexOf(text) ?? 0) + 1}: `;
    };
    const report = line.gateway.stderr();
    expect(report).toContain(
      `${placeOf('"comand"')}server "typo" is left out: "comand" is not a known key; did you mean "command"?`,
    );
    expect(report).toContain(`${placeOf('"not a list"')}server "kind" is left out: "args" must be an array`);
    expect(report).toMatch(/:\d+:\d+: server "both" is left out: .*"url"/);
  },
);

scenario('tool filter: lists and calls only tools that are allowed and not denied', async (cell) => {
  const tools = { allow: ['e*', 'add', 'Structured'], deny: ['env', '*-content'] };
  await using line = await cell.open({ one: ['plain'], two: ['plain'] }, { entries: { one: { tools } } });
  const { client } = line;
  await waitForTool(client, 'two__echo');
  const names = (await waitForTool(client, 'one__echo')).map(({ name }) => name);
  expect(names.filter((name) => name.startsWith('one__'))).toEqual(['one__add', 'one__echo']);
  expect(names.filter((name) => name.startsWith('two__')).length).toBeGreaterThan(10);
  for (const hidden of ['env', 'everything-content', 'structured', 'slow']) {
    const error = await rpcErrorOf(client.callTool(`one__${hidden}`, { names: [] }));
    expect(error.code).toBe(-32602);
    expect(error.message).not.toContain(`"one__${hidden}"`);
  }
  expect(line.logs['one']?.of('call')).toEqual([]);
  expect(textOfResult(await client.callTool('one__echo', { text: 'x' }))).toBe('x');
});

scenario(
  'config file: is taken from --config before or after the command, the environment or the home',
  { slow: true },
  async () => {
    const mcpServers = { marked: fixture('many-tools', '--count', '1') };
    const { command, env, home, args } = gatewayCommand({ mcpServers });
    const program = args[0] ?? '';
    // The file of the option, the one of the environment, and the user's own, each with a different server.
    const named = configIn(home, 'named.jsonc', 'named');
    const other = configIn(home, 'other.jsonc', 'other');
    configIn(home, 'config.jsonc', 'own');
    const byEnvironment = { TRUNKLINE_CONFIG: other };
    for (const [expected, line, more] of [
      ['named', ['--config', named, 'serve'], {}],
      ['named', ['serve', '--config', named], {}],
      ['named', ['serve', `--config=${named}`, '--standalone'], byEnvironment],
      ['named', ['--config', named, 'serve'], byEnvironment],
      ['other', ['serve'], byEnvironment],
      ['own', ['serve'], {}],
    ] as const) {
      const target = {
        command,
        args: [program, ...line],
        env: { ...env, TRUNKLINE_EXPOSE: 'direct', TRUNKLINE_STANDALONE: '1', ...more },
      };
      const client = await sdkV1Client(target);
      const { tools } = await client.listTools();
      await client.close();
      expect(
        tools.map(({ name }) => name),
        line.join(' '),
      ).toEqual([`${expected}__tool-0`]);
    }
  },
);

function configIn(folder: string, file: string, server: string): string {
  const path = join(folder, file);
  const mcpServers = { [server]: fixture('many-tools', '--count', '1') };
  writeFileSync(path, JSON.stringify({ mcpServers, startup: { listWait: '60s' } }));
  return path;
}

function withEnv(entry: StdioEntry, env: Readonly<Record<string, string>>): StdioEntry {
  return { ...entry, env: { ...entry.env, ...env } };
}

async function environmentOf(client: RawClient, names: readonly string[]): Promise<unknown> {
  return JSON.parse(textOfResult(await client.callTool('one__env', { names })));
}
