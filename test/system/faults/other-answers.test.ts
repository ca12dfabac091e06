import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { startHttpFixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

checkLeaks();

test.each([
  ['an invalid message', 200, 'application/json', '{"jsonrpc":"2.0"}'],
  ['an HTML page', 200, 'text/html', '<html>Which room are you in?</html>'],
  ['status 404', 404, 'text/html', '<html>Not here.</html>'],
])(
  'HTTP server: is retried until it works after it first answers with %s',
  async (_what, status, kind, body) => {
    await using plain = await startHttpFixture('plain');
    await using proxy = await startTcpProxy();
    const url = proxy.forwardTo(await startOther(status, kind, body));
    await using gateway = await startGateway({ mcpServers: { it: { url } } });
    const client = await gateway.client();
    await eventually(() => expect(gateway.stderr()).toContain('Cannot connect to a server.'));
    expect(await client.listTools()).toEqual([]);
    proxy.forwardTo(plain.url);
    await waitForTool(client, 'it__echo');
    expect(textOfResult(await client.callTool('it__echo', { text: 'later' }))).toBe('later');
  },
);

/** Starts a server that gives every request the same response. */
async function startOther(status: number, kind: string, body: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { 'Content-Type': kind, Connection: 'close' }).end(body);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
