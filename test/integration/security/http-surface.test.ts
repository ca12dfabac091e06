import { readFileSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { startGateway } from '../../support/gateway.ts';
import {
  addKey,
  sendRequest,
  initializeBody,
  plainServer,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

describe('gateway without authentication', () => {
  test('no authentication: serves requests without a key and rejects wrong keys', async () => {
    await using gateway = await startGatewayWithAuth({});
    expect(await listToolNamesAt(gateway.url)).toContain('plain__echo');
    for (const key of ['tl_wrong', 'anything'])
      expect(await listToolNamesAt(gateway.url, { key }), key).toBe(401);
  });

  test.each(['0.0.0.0:0', '[::]:0', '192.0.2.1:0'])(
    'no authentication: refuses to listen on %s and explains how to add keys',
    async (address) => {
      const starting = startGateway({
        mcpServers: { plain: plainServer },
        listen: 'http',
        args: ['--http', address],
      });
      await expect(starting).rejects.toThrow(/"auth": \{ "keys": true \}.*trunkline keys add NAME/);
    },
  );

  test.each([
    [{ keyz: true }, 'did you mean "keys"?'],
    [{}, 'enables no authentication method'],
    [{ keys: false }, 'enables no authentication method'],
    [{ keys: true, apiKey: 'x' }, 'is not a known key'],
    [{ jwt: { issuer: 'https://a.test', audience: 'x', algorithms: ['HS256'] } }, 'algorithms'],
    [{ jwt: { issuer: 'https://a.test', audience: 'x', algorithms: ['none'] } }, 'algorithms'],
    [{ jwt: { issuer: 'http://a.test', audience: 'x' } }, 'must begin with https://'],
    [{ jwt: { issuer: 'https://a.test' } }, 'audience'],
    [{ forwarded: { from: [] } }, 'forwarded.from'],
    [{ forwarded: { from: ['everywhere'] } }, 'must be an address or a network'],
    [{ forwarded: { from: ['10.0.0.0/8'], profile: 'gone' } }, 'there is no profile "gone"'],
  ])('auth config: prevents startup with %j', async (auth, says) => {
    await expect(startGatewayWithAuth({ auth })).rejects.toThrow(says);
  });
});

describe('admin API over HTTP', () => {
  test('admin API: accepts only the admin key, which grants no other access', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true } });
    const file = join(gateway.home, 'state', 'run', 'admin.key');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const admin = readFileSync(file, 'utf8').trim();
    const status = new URL('/api/status', gateway.url);
    const key = await addKey(gateway, 'anna');
    for (const shown of [undefined, key, 'tladmin_wrong', ''])
      expect((await sendRequest(status, shown === undefined ? {} : { key: shown })).status, shown).toBe(401);
    expect((await sendRequest(status, { key: admin })).status).toBe(200);
    expect(await listToolNamesAt(gateway.url, { key: admin })).toBe(401);
    for (const headers of [{ host: 'evil.test' }, { origin: 'https://evil.test' }])
      expect((await sendRequest(status, { key: admin, headers })).status, JSON.stringify(headers)).toBe(403);
    const stop = new URL('/api/stop', gateway.url);
    expect((await sendRequest(stop, { key, body: '{}' })).status).toBe(401);
    await gateway.stop();
    expect(() => statSync(file)).toThrow('ENOENT');
  });

  test('admin API: sends no CORS headers, even to origins that may use MCP', async () => {
    const http = { allowedOrigins: ['https://app.test'] };
    await using gateway = await startGatewayWithAuth({ http });
    const headers = { origin: 'https://app.test', 'access-control-request-method': 'GET' };
    const preflight = await sendRequest(new URL('/api/status', gateway.url), { method: 'OPTIONS', headers });
    expect(preflight.headers).not.toHaveProperty('access-control-allow-origin');
    expect(preflight.status).toBe(401);
  });
});

describe('request checks', () => {
  test('public URL: accepts its own host and only configured origins', async () => {
    const http = { publicUrl: 'https://mcp.example.test', allowedOrigins: ['https://app.test'] };
    await using gateway = await startGatewayWithAuth({ auth: { keys: true }, http });
    const key = await addKey(gateway, 'anna');
    const status = async (headers: Record<string, string>): Promise<number> =>
      (await sendRequest(gateway.url, { key, headers, body: initializeBody })).status;
    const host = 'mcp.example.test';
    expect(await status({ host })).toBe(200);
    expect(await status({ host, origin: 'https://mcp.example.test' })).toBe(200);
    expect(await status({ host, origin: 'https://app.test' })).toBe(200);
    for (const origin of ['http://localhost:3000', 'https://evil.test', 'null', 'http://mcp.example.test'])
      expect(await status({ host, origin }), origin).toBe(403);
    for (const wrong of ['evil.test', 'mcp.example.test.evil.test', 'xmcp.example.test'])
      expect(await status({ host: wrong }), wrong).toBe(403);
    const wanted = { 'access-control-request-headers': 'authorization, mcp-session-id' };
    const preflight = (origin: string) =>
      sendRequest(gateway.url, { method: 'OPTIONS', headers: { host, origin, ...wanted } });
    const { headers } = await preflight('https://app.test');
    expect(headers['access-control-allow-origin']).toBe('https://app.test');
    expect(headers['access-control-allow-headers']).toMatch(
      /Authorization.*Mcp-Session-Id.*MCP-Protocol-Version/,
    );
    const local = await sendRequest(gateway.url, {
      method: 'OPTIONS',
      headers: { origin: 'http://localhost:3000' },
    });
    expect(local.headers).not.toHaveProperty('access-control-allow-origin');
    const refused = await sendRequest(gateway.url, {
      headers: { host, origin: 'https://app.test' },
      body: initializeBody,
    });
    expect(refused.headers['access-control-expose-headers']).toContain('WWW-Authenticate');
  });

  test('cross-site request: opens no session without an Origin header', async () => {
    await using gateway = await startGatewayWithAuth({ http: { maxSessions: 2, allowedHosts: ['gw.test'] } });
    const open = (path: string, headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const all = { accept: 'image/avif,*/*;q=0.8', ...headers };
        const request = httpRequest(
          new URL(path, gateway.url),
          { agent: false, headers: all },
          (response) => {
            resolve(response.statusCode ?? 0);
            response.on('error', () => {}); // It is closed at the end of the test.
            opened.push(response);
          },
        );
        request.on('error', reject).end();
      });
    const opened: IncomingMessage[] = [];
    try {
      for (const path of ['/sse', '/mcp', '/mcp/s/plain', '/messages?sessionId=x'])
        expect(await open(path, { 'sec-fetch-site': 'cross-site' }), path).toBe(403);
      // A page of a sibling domain is not ours; a page of this machine may send requests to loopback.
      expect(await open('/sse', { 'sec-fetch-site': 'same-site', host: 'gw.test' })).toBe(403);
      const posted = await sendRequest(gateway.url, {
        headers: { 'sec-fetch-site': 'cross-site' },
        body: initializeBody,
      });
      expect(posted.status).toBe(403);
      expect(posted.text).toContain('another site');
      expect(await open('/sse', { 'sec-fetch-site': 'same-origin' })).toBe(200);
      expect(await open('/sse', {})).toBe(200);
    } finally {
      for (const response of opened) response.destroy();
    }
  });

  test('request: is rejected with duplicate Authorization, Host or Origin headers', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true } });
    const key = await addKey(gateway, 'anna');
    const { hostname, port } = new URL(gateway.url);
    const raw = (...headers: string[]): Promise<string> =>
      new Promise((resolve, reject) => {
        const socket = connect(Number(port), hostname);
        let text = '';
        socket.on('data', (chunk) => (text += String(chunk))).on('error', reject);
        socket.on('close', () => resolve(text.split('\r\n')[0] ?? ''));
        const head = [`POST /mcp HTTP/1.1`, `Host: ${hostname}`, ...headers, 'Connection: close'];
        const size = `Content-Length: ${initializeBody.length}`;
        socket.write([...head, 'Content-Type: application/json', size, '', initializeBody].join('\r\n'));
      });
    const authorization = `Authorization: Bearer ${key}`;
    expect(await raw(authorization)).toContain(' 200 ');
    expect(await raw(authorization, 'Authorization: Bearer x')).toContain(' 400 ');
    expect(await raw(authorization, 'Host: evil.test')).toContain(' 400 ');
    // Node joins these, and what comes out is no origin.
    expect(await raw(authorization, 'Origin: http://localhost', 'Origin: http://localhost')).toContain(
      ' 403 ',
    );
  });
});
