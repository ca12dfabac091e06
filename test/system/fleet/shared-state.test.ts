import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import {
  addKey,
  sendRequest,
  runCommandFor,
  initializeBody,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { sharedPostgres } from '../../support/postgres.ts';
import { queryPostgres } from '../../support/query-postgres.ts';
import { shortWait } from './short-wait.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();
beforeAll(async () => void (await sharedPostgres()), 90_000);

/** Starts two gateways that share only the configuration and the database, as on two machines. */
async function startTwoGateways(config: object, mcpServers?: Readonly<Record<string, unknown>>) {
  const { url } = await (await sharedPostgres()).newSchema();
  const start = (): Promise<RunningGateway> =>
    startGatewayWithAuth(
      { startup: { listWait: '60s' }, storage: { url }, ...config },
      { ...(mcpServers && { mcpServers }) },
    );
  return { one: await start(), other: await start(), url };
}

describe('two gateways on one database', () => {
  test('API key: works on both gateways and is revoked on both within a second', async () => {
    const { one, other } = await startTwoGateways({ auth: { keys: true } });
    await using _one = one;
    await using _other = other;
    const key = await addKey(one, 'anna');
    await eventually(
      async () => expect(await listToolNamesAt(other.url, { key })).toContain('plain__echo'),
      shortWait,
    );
    expect((await runCommandFor(other, 'keys', 'revoke', 'anna')).code).toBe(0);
    await eventually(async () => expect(await listToolNamesAt(one.url, { key })).toBe(401), shortWait);
    expect(await listToolNamesAt(other.url, { key })).toBe(401);
  });

  test('approval: applies to both gateways within a second', async () => {
    const { one, other } = await startTwoGateways({}, { it: fixture('changes-a-definition') });
    await using _one = one;
    await using _other = other;
    // Gateways share listings, so both list the old definition before one of them changes it.
    for (const { url } of [one, other])
      await eventually(async () => expect(await listToolNamesAt(url)).toContain('it__changing'), patience);
    for (const { url } of [one, other]) {
      await called(url, 'it__change');
      await eventually(async () => expect(await listToolNamesAt(url)).toEqual(['it__change']), patience);
    }
    expect(await called(other.url, 'it__changing')).toContain('QUARANTINED');
    const accepted = await runCommandFor(one, 'approvals', 'accept', 'it__changing');
    expect(accepted.code, accepted.stderr).toBe(0);
    await eventually(
      async () => expect(await called(other.url, 'it__changing')).toContain('revision 2'),
      shortWait,
    );
  });

  test('approval: is kept when a gateway joins that does not know the server', async () => {
    const { url } = await (await sharedPostgres()).newSchema();
    const config = { startup: { listWait: '60s' }, storage: { url } };
    const approved = (server: string) =>
      queryPostgres(url, 'select * from approvals where upstream = $1 order by kind, name', [server]);
    await using _one = await startGatewayWithAuth(config, {
      mcpServers: { it: fixture('changes-a-definition') },
    });
    const before = await eventually(async () => {
      const rows = await approved('it');
      return rows.length > 2 && rows;
    }, patience);
    await using other = await startGatewayWithAuth(config);
    await eventually(async () => expect(await listToolNamesAt(other.url)).toContain('plain__echo'), patience);
    await eventually(async () => (await approved('plain')).length > 2, patience);
    // The rows are unchanged: the server was not approved again as if it were new.
    expect(await approved('it')).toEqual(before);
  });

  test('audit log: covers both gateways, as do the statistics', async () => {
    const { one, other } = await startTwoGateways({});
    await using _one = one;
    await using _other = other;
    for (const { url } of [one, other]) {
      await eventually(async () => expect(await listToolNamesAt(url)).toContain('plain__echo'), patience);
      for (const text of ['a', 'b']) expect(await called(url, 'plain__echo', { text })).toContain(text);
    }
    for (const gateway of [one, other])
      await eventually(async () => {
        const { stdout } = await runCommandFor(gateway, 'logs', '--tool', 'echo');
        expect(stdout.match(/\becho\b/g), stdout).toHaveLength(4);
        expect((await runCommandFor(gateway, 'stats', 'echo')).stdout).toMatch(/plain\s+echo\s+4\s/);
      }, patience);
  });

  test('empty database: serves three gateways that start at the same time', async () => {
    const { url } = await (await sharedPostgres()).newSchema();
    const starting = Array.from({ length: 3 }, () =>
      startGatewayWithAuth({ auth: { keys: true }, storage: { url }, startup: { listWait: '60s' } }),
    );
    await using first = await starting[0]!;
    await using second = await starting[1]!;
    await using third = await starting[2]!;
    const key = await addKey(first, 'anna');
    for (const gateway of [first, second, third])
      await eventually(
        async () => expect(await listToolNamesAt(gateway.url, { key })).toContain('plain__echo'),
        patience,
      );
  });

  test('stored result: is readable through the other gateway by its caller only', async () => {
    const { url } = await (await sharedPostgres()).newSchema();
    const config = { auth: { keys: true }, storage: { url }, startup: { listWait: '60s' } };
    const options = { args: ['--expose', 'search'], mcpServers: { big: fixture('big-results') } };
    await using one = await startGatewayWithAuth(config, options);
    await using other = await startGatewayWithAuth(config, options);
    const [anna, bert] = [await addKey(one, 'anna'), await addKey(one, 'bert')];
    const lines = { name: 'big__lines', arguments: { count: 20_000 } };
    await eventually(async () => {
      const text = await called(one.url, 'call_read_tool', lines, anna);
      expect(text).toContain('read_result');
    }, patience);
    const text = await called(one.url, 'call_read_tool', lines, anna);
    const id = /r_[\w-]{16}/.exec(text)?.[0] ?? '';
    expect(await called(other.url, 'read_result', { id, offset: 15_000, limit: 2 }, anna)).toContain(
      'line 15000',
    );
    expect(await called(other.url, 'read_result', { id }, bert)).toContain('ENTRY_NOT_FOUND');
  });

  test('database password: appears in no log, status or file', async () => {
    const { url } = await (await sharedPostgres()).newSchema();
    const secret = url.replace('tester@', 'tester:open-sesame@');
    await using gateway = await startGatewayWithAuth(
      { storage: { url: '${env:PGURL}' }, log: { level: 'debug' } },
      { env: { PGURL: secret } },
    );
    await eventually(
      async () => expect(await listToolNamesAt(gateway.url)).toContain('plain__echo'),
      patience,
    );
    const told = [gateway.stderr(), JSON.stringify(await runCommandFor(gateway, 'status', '--json'))];
    expect(told.join('\n')).not.toContain('open-sesame');
    await gateway.stop();
    for (const name of readdirSync(gateway.home, { recursive: true, withFileTypes: true }))
      if (name.isFile())
        expect(readFileSync(join(name.parentPath, name.name), 'latin1'), name.name).not.toContain(
          'open-sesame',
        );
    expect(existsSync(join(gateway.home, 'trunkline.db'))).toBe(false);
  });
});

const patience = { withinMs: 40_000 };

/** Calls a tool in a new session and returns the text of the response. */
async function called(url: string, name: string, given: object = {}, key?: string): Promise<string> {
  const who = key === undefined ? {} : { key };
  const opened = await sendRequest(url, { ...who, body: initializeBody });
  const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
  const params = { name, arguments: given };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
  return (await sendRequest(url, { ...who, headers, body })).text;
}
