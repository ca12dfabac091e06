import { expect } from 'vitest';

import { gatewayErrorCode, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

scenario(
  'stdio: writes only JSON-RPC messages to standard output',
  { downstream: ['stdio/legacy', 'stdio/modern'] },
  async (cell) => {
    const servers = {
      good: ['plain'],
      noisy: ['floods-stdout', '--bytes', '5000'],
      loud: ['floods-stderr', '--bytes', '100000'],
      garbage: ['speaks-garbage'],
      dying: ['dies-in-a-call'],
      broken: ['dies-at-start'],
    } as const;
    // Causes for log output: an invalid entry, a missing program, an unset variable, and the debug level.
    const entries = {
      broken: { unheardOf: true },
      unset: { command: '/no/such/program', env: { A: '${env:NOT_SET_AT_ALL}' } },
    };
    await using line = await cell.open(
      { ...servers, unset: ['plain'] },
      {
        entries,
        args: ['--expose', 'direct', '--log-level', 'debug'],
        env: { NODE_OPTIONS: '--trace-warnings' },
      },
    );
    const { client, gateway } = line;
    await waitForTool(client, 'good__echo');
    for (const server of ['good', 'noisy', 'loud', 'garbage'])
      expect(textOfResult(await client.callTool(`${server}__echo`, { text: server }))).toBe(server);
    expect(gatewayErrorCode(await client.callTool('dying__echo', { text: 'x' }))).toBe('UPSTREAM_CLOSED');
    expect(gatewayErrorCode(await client.callTool('unset__echo', { text: 'x' }))).toBeDefined();
    await client.sendText('not a message');
    await client.strays.next();
    await gateway.stop();
    // The log output went to standard error.
    expect(gateway.stderr()).toContain('"unheardOf" is not a known key');
    expect(gateway.stderr().split('\n').length).toBeGreaterThan(10);
    expect(client.rawLines.length).toBeGreaterThan(8);
    for (const text of client.rawLines) expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0' });
    const [refusal, ...strays] = client.strays.all;
    expect(JSON.parse(refusal ?? '')).toMatchObject({ id: null, error: { code: -32700 } });
    expect(strays).toEqual([]);
  },
);
