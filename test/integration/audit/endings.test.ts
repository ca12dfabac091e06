import { describe, expect, test } from 'vitest';

import { openTestSetup } from '../../support/cell.ts';
import type { Cell } from '../../support/cell.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { waitForAuditRows, readAuditRows } from '../../support/audit-rows.ts';

checkLeaks();

const cell: Cell = { downstream: 'stdio/legacy', upstream: 'stdio/legacy' };
const servers = {
  plain: ['plain'],
  hangs: ['hangs-in-calls'],
  dies: ['dies-in-a-call'],
} as const;
const config = {
  startup: { listWait: '60s' },
  policy: { rules: [{ id: 'no-env', effect: 'deny', servers: ['plain'], names: ['env'] }] },
};
const quick = { 'trunkline/timeoutMs': 300 };

describe('audit records', () => {
  test.each([
    { downstream: 'stdio/legacy', client: { name: 'tester', version: '1.2' } },
    { downstream: 'http/modern', client: { name: 'tester', version: '1.2' } },
  ] as const)(
    'audit record: is written once per operation, however it ends, over $downstream',
    async ({ downstream, client: clientInfo }) => {
      await using line = await openTestSetup({ ...cell, downstream }, servers, { config, clientInfo });
      const { client, gateway } = line;
      const call = (name: string, args = {}, meta?: Readonly<Record<string, unknown>>): Promise<unknown> =>
        client
          .request('tools/call', { name, arguments: args }, { withinMs: 20_000, ...(meta && { meta }) })
          .catch(String);
      await client.listTools();
      await call('plain__echo', { text: 'hello' });
      await call('plain__fail');
      await call('plain__nothing-like-it');
      await call('plain__env', { names: ['HOME'] });
      await call('hangs__echo', { text: 'x' }, quick);
      await call('dies__echo', { text: 'x' });
      await client.request('resources/read', { uri: 'nowhere://a?token=b' }).catch(String);
      await client.request('prompts/get', { name: 'plain__no-such-prompt' }).catch(String);
      const rows = await waitForAuditRows(gateway.home, 8);
      expect(
        rows.map(({ kind, server, entry, outcome, code, rule }) => [
          kind,
          server,
          entry,
          outcome,
          code,
          rule,
        ]),
      ).toEqual([
        ['tool', 'plain', 'echo', 'ok', null, 'default'],
        ['tool', 'plain', 'fail', 'tool-error', null, 'default'],
        ['tool', null, 'plain__nothing-like-it', 'refused', 'ENTRY_NOT_FOUND', null],
        ['tool', 'plain', 'env', 'refused', 'ENTRY_NOT_FOUND', 'no-env'],
        ['tool', 'hangs', 'echo', 'failed', 'CALL_TIMEOUT', 'default'],
        ['tool', 'dies', 'echo', 'failed', 'UPSTREAM_CLOSED', 'default'],
        ['resource', null, 'nowhere://a?…', 'refused', 'ENTRY_NOT_FOUND', null],
        ['prompt', null, 'plain__no-such-prompt', 'refused', 'ENTRY_NOT_FOUND', null],
      ]);
      expect(new Set(rows.map(({ request }) => request)).size).toBe(8);
      expect(rows[0]).toMatchObject({
        caller: 'local',
        via: downstream === 'stdio/legacy' ? 'stdio' : 'http',
        client: 'tester',
        client_version: '1.2',
        profile: 'default',
        tier: 'read',
        bytes_in: 16,
        bytes_out: 44,
        tokens_in: 5,
        arguments: null,
        result: null,
        digest: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
        fingerprint: expect.stringMatching(/^[\w-]{22}$/) as string,
      });
      expect(rows[4]?.ms).toBeGreaterThanOrEqual(300);
    },
  );

  test('audit record: is written when the client cancels or disconnects', async () => {
    const line = await openTestSetup(
      cell,
      { hangs: ['hangs-in-calls'] },
      { config: { ...config, policy: {}, shutdown: '0s' } },
    );
    const { client, gateway } = line;
    await client.listTools();
    const giveUp = new AbortController();
    const cancelled = client.callTool('hangs__echo', { text: 'x' }, { signal: giveUp.signal }).catch(String);
    await eventually(
      () => line.logs['hangs']?.of('request').some(({ method }) => method === 'tools/call') === true,
    );
    giveUp.abort();
    await cancelled;
    expect(await waitForAuditRows(gateway.home, 1)).toMatchObject([
      { outcome: 'cancelled', code: 'CALL_CANCELLED' },
    ]);
    const left = client.callTool('hangs__echo', { text: 'y' }).catch(String);
    await eventually(
      () =>
        (line.logs['hangs']?.of('request').filter(({ method }) => method === 'tools/call').length ?? 0) === 2,
    );
    await Promise.resolve(line[Symbol.asyncDispose]()).catch(String);
    await left;
    const rows = readAuditRows(gateway.home);
    expect(rows.map(({ outcome }) => outcome)).toEqual([
      'cancelled',
      expect.stringMatching(/cancelled|failed/),
    ]);
  });

  test('audit record: covers calls through search exposure, but not the search tools themselves', async () => {
    await using line = await openTestSetup(
      cell,
      { plain: ['plain'] },
      { args: ['--expose', 'search'], config: { startup: config.startup } },
    );
    const { client, gateway } = line;
    await client.callTool('search_tools', { query: 'echo a text' });
    await client.callTool('describe_tools', { names: ['plain__echo'] });
    await client.callTool('call_read_tool', { name: 'plain__echo', arguments: { text: 'a' } });
    await client.callTool('call_read_tool', { name: 'plain__echo', arguments: { text: 5 } });
    await client.callTool('call_read_tool', { name: 'plain__fail', arguments: {} });
    await client.callTool('call_read_tool', { name: 'plain__nothing', arguments: {} });
    const rows = await waitForAuditRows(gateway.home, 4);
    expect(rows.map(({ entry, outcome, code }) => [entry, outcome, code])).toEqual([
      ['echo', 'ok', null],
      ['echo', 'refused', 'ARGUMENTS_INVALID'],
      ['fail', 'refused', 'WRONG_TIER'],
      ['plain__nothing', 'refused', 'ENTRY_NOT_FOUND'],
    ]);
  });

  test('audit record: groups the calls of one script', async () => {
    await using line = await openTestSetup(
      cell,
      { plain: ['plain'] },
      { args: ['--expose', 'code'], config: { startup: config.startup } },
    );
    const { client, gateway } = line;
    const code = 'return await Promise.all([1, 2, 3].map((n) => tools.plain.add({ a: n, b: 1 })))';
    await client.callTool('run_code', { code }, { withinMs: 20_000 });
    const rows = await waitForAuditRows(gateway.home, 3);
    expect(rows.map(({ entry, outcome }) => [entry, outcome])).toEqual(Array(3).fill(['add', 'ok']));
    expect(new Set(rows.map(({ group_id }) => group_id)).size).toBe(1);
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(3);
  });

  test('audit record: covers calls at the endpoint of a single server', async () => {
    await using line = await openTestSetup(
      { ...cell, downstream: 'http/legacy' },
      { plain: ['plain'] },
      { config: { startup: config.startup } },
    );
    const { gateway } = line;
    const url = `${gateway.url}/s/plain`;
    const { httpTransport } = await import('../../support/raw-transports.ts');
    const { RawClient } = await import('../../support/raw-client.ts');
    await using client = await RawClient.over(httpTransport(url), {});
    await client.open();
    await client.callTool('echo', { text: 'alone' });
    await client.callTool('never-listed', {}).catch(String);
    const rows = await waitForAuditRows(gateway.home, 2);
    expect(rows.map(({ server, entry, outcome }) => [server, entry, outcome])).toEqual([
      ['plain', 'echo', 'ok'],
      ['plain', 'never-listed', 'refused'],
    ]);
  });
});
