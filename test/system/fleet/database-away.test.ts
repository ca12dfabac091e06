import { expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import {
  addKey,
  sendRequest,
  runCommandFor,
  initializeBody,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startOwnPostgres } from '../../support/postgres.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';
import { toProxiedUrl } from './to-proxied-url.ts';
import { needs } from '../../support/needs.ts';

needs('postgresql');

checkLeaks();

const patience = { withinMs: 40_000 };

/** Calls the tool in a new session and returns the text of the response. */
async function echoed(url: string, key: string, text: string): Promise<string> {
  const opened = await sendRequest(url, { key, body: initializeBody });
  const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
  const params = { name: 'plain__echo', arguments: { text } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
  return (await sendRequest(url, { key, headers, body })).text;
}

const ways = ['was stopped', 'stopped responding'] as const;

test.each(ways)(
  'database outage: keeps calls working, rejects changes and loses no record (database %s)',
  async (how) => {
    await using cluster = await startOwnPostgres();
    await using proxy = await startTcpProxy();
    const { url } = await cluster.newSchema();
    const storage = { url: toProxiedUrl(proxy, url), connectTimeout: '2s', statementTimeout: '2s' };
    await using gateway = await startGatewayWithAuth({ auth: { keys: true }, storage });
    const key = await addKey(gateway, 'anna');
    await eventually(
      async () => expect(await listToolNamesAt(gateway.url, { key })).toContain('plain__echo'),
      patience,
    );
    expect(await echoed(gateway.url, key, 'before')).toContain('before');
    if (how === 'was stopped') cluster.stop();
    else {
      proxy.forwardTo('tcp://127.0.0.1:1');
      proxy.stall();
    }
    for (let at = 0; at < 5; at++)
      expect(await echoed(gateway.url, key, `meanwhile ${at}`)).toContain(`meanwhile ${at}`);
    expect(await listToolNamesAt(gateway.url, { key })).toContain('plain__echo');
    const refused = await runCommandFor(gateway, 'keys', 'add', 'bert');
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain('STORE_AWAY');
    const asked = await runCommandFor(gateway, 'logs');
    expect(asked.stderr).toContain('STORE_AWAY');
    if (how === 'was stopped') cluster.start();
    else proxy.forwardTo(url);
    await eventually(
      async () => expect((await runCommandFor(gateway, 'keys', 'add', 'carl')).code).toBe(0),
      patience,
    );
    // The key that was rejected during the outage does not exist, and each call during the outage is recorded once.
    const names = await runCommandFor(gateway, 'keys', 'list');
    expect(names.stdout).toContain('carl');
    expect(names.stdout).not.toContain('bert');
    await eventually(async () => {
      const { stdout } = await runCommandFor(gateway, 'logs', '--tool', 'echo');
      expect(stdout.match(/\becho\b/g), stdout).toHaveLength(6);
    }, patience);
    // Changes are announced again.
    const { code } = await runCommandFor(gateway, 'keys', 'revoke', 'anna');
    expect(code).toBe(0);
    await eventually(async () => expect(await listToolNamesAt(gateway.url, { key })).toBe(401), patience);
  },
);
