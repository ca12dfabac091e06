import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { rpcErrorOf, gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { openTestSetup } from '../../support/cell.ts';
import type { Cell } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { SharedHome } from '../../support/shared-home.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const cells: readonly Cell[] = [
  { downstream: 'stdio/legacy', upstream: 'stdio/legacy' },
  { downstream: 'stdio/modern', upstream: 'stdio/modern' },
];
const config = { startup: { listWait: '60s' } };
/** Occurs only in the changed description, which no model may read. */
const SECRET = 'tells it on';

const names = async (client: RawClient): Promise<readonly string[]> =>
  (await client.listTools()).map(({ name }) => name);

describe.each(cells)('changed tool ($downstream)', (cell) => {
  test('changed tool: cannot be called, even right after the change', async () => {
    await using line = await openTestSetup(cell, { one: ['changes-a-definition'] }, { config });
    const { client } = line;
    await waitForTool(client, 'one__changing');
    expect(textOfResult(await client.callTool('one__changing', { text: 'a' }))).toBe('revision 1: a');
    // Both requests are sent before the gateway can have read the new list.
    const [, second] = await Promise.all([
      client.callTool('one__change'),
      client.callTool('one__change').then(() => client.callTool('one__changing', { text: 'b' })),
    ]);
    expect(gatewayErrorCode(second)).toBe('QUARANTINED');
    expect(textOfResult(second)).toContain('trunkline approvals');
    expect(textOfResult(second)).not.toContain(SECRET);
    expect(await names(client)).toEqual(['one__change']);
    expect(line.logs['one']?.of('call').filter(({ tool }) => tool === 'changing')).toHaveLength(1);
  });

  test('changed tool: is hidden from search, descriptions and call tools', async () => {
    const args = ['--expose', 'search'];
    await using line = await openTestSetup(cell, { one: ['changes-a-definition'] }, { config, args });
    const { client } = line;
    const ask = async (name: string, given: object): Promise<string> =>
      textOfResult(await client.callTool(name, { ...given }));
    await eventually(async () =>
      expect(await ask('search_tools', { query: 'changing' })).toContain('one__changing'),
    );
    await ask('call_write_tool', { name: 'one__change', arguments: {} });
    const call = { name: 'one__changing', arguments: { text: 'a' } };
    expect(gatewayErrorCode(await client.callTool('call_destructive_tool', call))).toBe('QUARANTINED');
    for (const text of [
      await ask('search_tools', { query: 'changing returns the given text' }),
      await ask('describe_tools', { names: ['one__changing'] }),
      await ask('call_write_tool', call),
    ])
      expect(text).not.toContain(SECRET);
    expect(await ask('search_tools', { query: 'changing' })).not.toContain('one__changing');
    expect(await ask('describe_tools', { names: ['one__changing'] })).toContain('Unknown tool');
  });

  test('changed tool: is hidden from declarations and scripts', async () => {
    const args = ['--expose', 'code'];
    await using line = await openTestSetup(cell, { one: ['changes-a-definition'] }, { config, args });
    const run = async (code: string): Promise<string> =>
      textOfResult(await line.client.callTool('run_code', { code }, { withinMs: 20_000 }));
    expect(await run('return await tools.one__changing({ text: "a" })')).toContain('revision 1');
    await run('return await tools.one__change()');
    const after = await run(
      'try { return await tools.one__changing({ text: "a" }) } catch (error) { return String(error.code ?? error) }',
    );
    expect(after).not.toContain('revision');
    const declared = textOfResult(await line.client.callTool('describe_tools', { names: ['one__changing'] }));
    expect(declared).not.toContain(SECRET);
    expect(line.logs['one']?.of('call').filter(({ tool }) => tool === 'changing')).toHaveLength(1);
  });
});

test(
  'changed tool: returns when it is reverted or when exactly the shown definition is approved',
  { tags: ['slow'] },
  async () => {
    const file = join(temporaryFolder(), 'revision');
    const mcpServers = { one: fixture('changes-a-definition', '--revision-file', file) };
    await using home = new SharedHome({ mcpServers, config });
    const client = await (await home.pipe()).client();
    const where = ['--config', join(home.home, 'config.jsonc')];
    await waitForTool(client, 'one__changing');
    await client.callTool('one__change');
    await eventually(async () => expect(await names(client)).toEqual(['one__change']));
    writeFileSync(file, '1');
    expect((await home.command('restart', 'one', ...where)).code).toBe(0);
    expect(await names(client)).toEqual(['one__change', 'one__changing']);
    await client.callTool('one__change');
    const shown = await home.command('approvals', '--json', ...where);
    const { held } = JSON.parse(shown.stdout) as {
      held: readonly { fingerprint: string; changes: unknown }[];
    };
    expect(held).toMatchObject([
      {
        server: 'one',
        kind: 'tool',
        name: 'changing',
        exposed: 'one__changing',
        reason: 'changed',
        changes: [{ where: 'description', before: 'Returns the given text.' }],
      },
    ]);
    // It changes again meanwhile, so the reviewed definition is not the one that would be approved.
    await client.callTool('one__change');
    const accept = (fingerprint: string) =>
      home.command('approvals', 'accept', 'one__changing', '--fingerprint', fingerprint, ...where);
    await eventually(async () => {
      const again = JSON.parse(
        (await home.command('approvals', '--json', ...where)).stdout,
      ) as typeof held & {
        held: typeof held;
      };
      expect(again.held[0]?.fingerprint).not.toBe(held[0]?.fingerprint);
    });
    const late = await accept(held[0]?.fingerprint ?? '');
    expect(late.code).toBe(1);
    expect(late.stderr).toContain('REVISION_CONFLICT');
    // It is not accepted by name either if it has changed since it was shown; the call waits until the list is read.
    await client.callTool('one__change');
    expect(gatewayErrorCode(await client.callTool('one__changing', { text: 'c' }))).toBe('QUARANTINED');
    for (const name of ['one__changing', 'one']) {
      const unseen = await home.command('approvals', 'accept', name, ...where);
      expect([unseen.code, unseen.stderr]).toEqual([1, expect.stringContaining('then accept it again')]);
    }
    await home.command('approvals', '--text', ...where);
    const accepted = await home.command('approvals', 'accept', 'one__changing', ...where);
    expect(accepted.code, accepted.stderr).toBe(0);
    expect(await names(client)).toContain('one__changing');
    expect(textOfResult(await client.callTool('one__changing', { text: 'c' }))).toBe('revision 4: c');
  },
);

test('held entry: stays held after a restart before any server answers', async () => {
  const file = join(temporaryFolder(), 'revision');
  const mcpServers = { one: fixture('changes-a-definition', '--revision-file', file) };
  const home = temporaryFolder('trunkline-home');
  {
    await using gateway = await startGateway({ mcpServers, config, home });
    const client = await gateway.client();
    await waitForTool(client, 'one__changing');
    await client.callTool('one__change');
    await eventually(async () => expect(await names(client)).toEqual(['one__change']));
    await client.close();
  }
  await using gateway = await startGateway({ mcpServers, config, home });
  const client = await gateway.client();
  expect(await names(client)).toEqual(['one__change']);
  expect(gatewayErrorCode(await client.callTool('one__changing', { text: 'a' }))).toBe('QUARANTINED');
  await client.close();
});

test('manual trust: starts a server only after approval and then holds its suspicious entries', async () => {
  const entry = fixture('hidden-characters');
  await using home = new SharedHome({ mcpServers: { one: { ...entry, trust: 'manual' } }, config });
  const where = ['--config', join(home.home, 'config.jsonc')];
  const client = await (await home.pipe()).client();
  expect(await names(client)).toEqual([]);
  expect(gatewayErrorCode(await client.callTool('one__tags'))).toBe('QUARANTINED');
  expect(fixtureLog(entry).of('started')).toHaveLength(0);
  const accepted = await home.command('approvals', 'accept', 'one', ...where);
  expect(accepted.code, accepted.stderr).toBe(0);
  expect(fixtureLog(entry).of('started')).not.toHaveLength(0);
  expect(await names(client)).toEqual([]);
  expect(gatewayErrorCode(await client.callTool('one__tags'))).toBe('QUARANTINED');
  expect((await home.command('approvals', 'refuse', 'one__tags', ...where)).code).toBe(0);
  expect((await home.command('approvals', 'accept', 'one', ...where)).code).toBe(0);
  const shown = await names(client);
  expect(shown).toContain('one__homoglyph');
  expect(shown).not.toContain('one__tags');
});

test('approvals accept: accepts several servers with all entries and prints one JSON document', async () => {
  const entry = { ...fixture('plain'), trust: 'manual' };
  await using home = new SharedHome({ mcpServers: { one: entry, two: entry }, config });
  const where = ['--config', join(home.home, 'config.jsonc')];
  const client = await (await home.pipe()).client();
  const wrong = await home.command('approvals', 'accept', 'one', 'tow', '--all', ...where);
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([6, '', expect.stringContaining('"two"')]);
  const both = await home.command('approvals', 'accept', 'one', 'two', '--fingerprint', 'x', ...where);
  expect([both.code, both.stdout]).toEqual([2, '']);
  const { stdout } = await home.command('approvals', 'accept', 'one', 'two', 'one', '--all', ...where);
  const { items, ...rest } = JSON.parse(stdout) as { items: readonly { server: string; kind: string }[] };
  expect(rest).toEqual({ decision: 'accept', left: 0 });
  const servers = items.filter(({ kind }) => kind === 'server').map(({ server }) => server);
  expect(servers).toEqual(['one', 'two']);
  expect(items.some(({ kind, server }) => kind === 'tool' && server === 'two')).toBe(true);
  expect(await names(client)).toEqual(expect.arrayContaining(['one__echo', 'two__echo']));
});

test('scan trust: shows clean tools and hides suspicious ones and instructions at every path', async () => {
  const mcpServers = { one: { ...fixture('hidden-characters'), trust: 'scan' } };
  await using gateway = await startGateway({ mcpServers, config, listen: 'http' });
  const all = await gateway.client();
  await waitForTool(all, 'one__homoglyph');
  expect(await names(all)).not.toContain('one__tags');
  expect(await names(all)).not.toContain('one__in-meta');
  const { httpTransport } = await import('../../support/raw-transports.ts');
  const { RawClient: Client } = await import('../../support/raw-client.ts');
  const alone = await Client.over(httpTransport(new URL('/mcp/s/one', gateway.url).href), {});
  const opened = await alone.open();
  expect(JSON.stringify(opened)).not.toContain('Be careful');
  expect(await names(alone)).not.toContain('tags');
  expect(gatewayErrorCode(await alone.callTool('tags'))).toBe('QUARANTINED');
  // A second page would be answered by the server itself.
  await rpcErrorOf(alone.request('tools/list', { cursor: 'x' }));
  for (const client of [all, alone]) await client.close();
});
