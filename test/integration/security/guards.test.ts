import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { describe, expect, test } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { gatewayCommand, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const CELL = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' } as const;
const example = fileURLToPath(new URL('../../../docs/guards/office-hours.mjs', import.meta.url));
const KEY = `ghp_${'a1B2'.repeat(9)}`;

describe('custom guards', () => {
  test('custom guard: works as in the documented example', async () => {
    const home = temporaryFolder('trunkline-home');
    copyFileSync(example, join(home, 'office-hours.mjs'));
    await using line = await openTestSetup(
      CELL,
      { one: ['plain'] },
      { home, config: { guards: ['./office-hours.mjs'] } },
    );
    const result = await line.client.callTool('one__echo', { text: 'a' });
    expect(textOfResult(result)).toBe('a');
    expect(result).toMatchObject({ _meta: { 'example.com/server': 'one' } });
    const page = readFileSync(new URL('../../../docs/guards.md', import.meta.url), 'utf8');
    expect(page).toContain(readFileSync(example, 'utf8'));
  });

  test('custom guard: fails only the call when it throws', async () => {
    const home = temporaryFolder('trunkline-home');
    const source =
      'export default (call, next) => { if (call.arguments.text === "bad") throw new Error("Not this."); return next(); }';
    writeFileSync(join(home, 'own.mjs'), source);
    await using line = await openTestSetup(
      CELL,
      { one: ['plain'] },
      { home, config: { guards: ['./own.mjs'] } },
    );
    const failed = await line.client.callTool('one__echo', { text: 'bad' });
    expect([gatewayErrorCode(failed), textOfResult(failed)]).toEqual([
      'GUARD_FAILED',
      expect.stringContaining('Not this.'),
    ]);
    expect(textOfResult(await line.client.callTool('one__echo', { text: 'good' }))).toBe('good');
  });

  test.each([
    ['throws asynchronously', 'setTimeout(() => { throw new Error("Too late.") }, 1); return next();'],
    ['leaves a rejection unhandled', 'void Promise.reject(new Error("Too late.")); return next();'],
    ['does not await the call', 'next({ text: 5n }); return { content: [{ type: "text", text: "mine" }] };'],
  ])('custom guard: does not break other calls when it %s', async (_, does) => {
    const home = temporaryFolder('trunkline-home');
    const source = `export default (call, next) => { if (call.arguments.text !== "bad") return next(); ${does} }`;
    writeFileSync(join(home, 'own.mjs'), source);
    await using line = await openTestSetup(
      CELL,
      { one: ['plain'] },
      { home, config: { guards: ['./own.mjs'] } },
    );
    await line.client.callTool('one__echo', { text: 'bad' });
    if (does.includes('Too late'))
      await eventually(() => /A guard failed outside of any call\..*Too late\./.test(line.gateway.stderr()), {
        what: 'The line about it',
      });
    for (const text of ['good', 'bad', 'good'])
      expect(textOfResult(await line.client.callTool('one__echo', { text }))).toMatch(/good|bad|mine/);
  });

  test('custom guard: prevents startup when its file is missing', async () => {
    const command = gatewayCommand({
      mcpServers: { one: fixture('plain') },
      config: { guards: ['./none.mjs'] },
    });
    const gateway = await startGateway({
      mcpServers: { one: fixture('plain') },
      config: { guards: ['./none.mjs'] },
      home: command.home,
    });
    expect(await gateway.exited).toMatchObject({ code: 3 });
    expect(gateway.stderr()).toContain('none.mjs');
  });
});

describe('configured guards', () => {
  test('configured guards: apply rules, limits, redaction and descriptions only to their server', async () => {
    await using line = await openTestSetup(
      CELL,
      { one: ['plain'], two: ['plain'] },
      {
        config: { argumentRules: [{ id: 'no-b', arguments: ['text'], pattern: '^b', message: 'No b.' }] },
        entries: {
          one: {
            limits: { argumentBytes: 200, resultBytes: 300, rate: 60 },
            redact: { arguments: 'off', results: 'mask' },
            tools: { describe: { echo: 'Ours.' } },
          },
          two: { argumentRules: false },
        },
      },
    );
    const { client } = line;
    await waitForTool(client, 'one__echo');
    const echo = (await client.listTools()).find(({ name }) => name === 'one__echo');
    expect(echo?.['description']).toMatch(/\n\nOurs\.$/);
    const call = (name: string, text: string) => client.callTool(name, { text });
    const refused = await call('one__echo', 'bad');
    expect([gatewayErrorCode(refused), textOfResult(refused)]).toEqual([
      'ARGUMENTS_REFUSED',
      expect.stringContaining('No b.'),
    ]);
    expect(textOfResult(await call('two__echo', 'bad'))).toBe('bad');
    expect(textOfResult(await call('one__echo', KEY))).toBe('[redacted]');
    expect(textOfResult(await call('two__echo', KEY))).toBe(KEY);
    expect(gatewayErrorCode(await call('one__echo', 'x'.repeat(300)))).toBe('ARGUMENTS_REFUSED');
    // Calls that are due within two seconds wait; most of these are not.
    const codes = (await Promise.all(Array.from({ length: 12 }, () => call('one__echo', 'a')))).map(
      gatewayErrorCode,
    );
    expect(codes).toContain('RATE_LIMITED');
    expect(codes).toContain(undefined);
    expect(textOfResult(await call('two__echo', 'a'))).toBe('a');
  });
});
