import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { describe, expect, test } from 'vitest';

import {
  type HttpResponse,
  addKey,
  sendRequest,
  runCommandFor,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  OauthFlow as Flow,
  REDIRECT,
  approveInBrowser,
  cookieOf,
  parseTokens,
  transactionOf,
} from '../../support/oauth-flow.ts';

checkLeaks();

const CONFIG = { auth: { authorizationServer: { allowPrivate: true } } };

describe('authorization server', () => {
  test('authorization server: issues tokens to the SDK client after a person consents with a key', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const key = await addKey(gateway, 'anna');
    let tokens: unknown;
    let sentTo: URL | undefined;
    let verifier = '';
    let information: unknown;
    const provider = {
      redirectUrl: REDIRECT,
      clientMetadata: { client_name: 'SDK', redirect_uris: [REDIRECT], token_endpoint_auth_method: 'none' },
      state: () => 'some-state',
      clientInformation: () => information,
      saveClientInformation: (value: unknown) => void (information = value),
      tokens: () => tokens,
      saveTokens: (value: unknown) => void (tokens = value),
      redirectToAuthorization: (url: URL) => void (sentTo = url),
      saveCodeVerifier: (text: string) => void (verifier = text),
      codeVerifier: () => verifier,
    } as OAuthClientProvider;
    const transport = new StreamableHTTPClientTransport(new URL(gateway.url), { authProvider: provider });
    await expect(new Client({ name: 'sdk', version: '1' }).connect(transport as never)).rejects.toThrow(
      'Unauthorized',
    );
    const back = new URL(await approveInBrowser(sentTo?.href ?? '', key));
    expect(back.searchParams.get('state')).toBe('some-state');
    expect(back.searchParams.get('iss')).toBe(new URL(gateway.url).origin);
    await transport.finishAuth(back.searchParams.get('code') ?? '');
    const again = new StreamableHTTPClientTransport(new URL(gateway.url), { authProvider: provider });
    const client = new Client({ name: 'sdk', version: '1' });
    await client.connect(again);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('plain__echo');
    await client.close();
    // The key itself is not a token, because the configuration does not enable keys.
    expect(await listToolNamesAt(gateway.url, { key })).toBe(401);
  });

  test('authorization server: accepts codes and refresh tokens once and revokes all tokens on reuse', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const key = await addKey(gateway, 'anna');
    const flow = await Flow.begin(gateway);
    const code = await flow.code(key);
    expect((await flow.collect(code, { code_verifier: 'x'.repeat(43) })).status).toBe(400);
    const second = await flow.code(key);
    const first = parseTokens(await flow.collect(second));
    expect(await listToolNamesAt(gateway.url, { key: first.access_token })).toContain('plain__echo');
    const next = parseTokens(await flow.refresh(first.refresh_token));
    expect(await listToolNamesAt(gateway.url, { key: next.access_token })).toContain('plain__echo');
    expect((await flow.refresh(first.refresh_token)).status).toBe(400);
    // Both the thief and the legitimate client lose access.
    expect(await listToolNamesAt(gateway.url, { key: next.access_token })).toBe(401);
    expect((await flow.refresh(next.refresh_token)).status).toBe(400);
    const third = await flow.code(key);
    const other = parseTokens(await flow.collect(third));
    expect((await flow.collect(third)).status).toBe(400);
    expect(await listToolNamesAt(gateway.url, { key: other.access_token })).toBe(401);
  });

  test('authorization server: revokes tokens when the key behind them is revoked', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const key = await addKey(gateway, 'anna');
    const flow = await Flow.begin(gateway);
    const tokens = parseTokens(await flow.collect(await flow.code(key)));
    expect(await runCommandFor(gateway, 'keys', 'revoke', 'anna')).toMatchObject({ code: 0 });
    expect(await listToolNamesAt(gateway.url, { key: tokens.access_token })).toBe(401);
    expect((await flow.refresh(tokens.refresh_token)).status).toBe(400);
  });

  test('authorization server: binds tokens to the requested resource', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const key = await addKey(gateway, 'anna');
    const flow = await Flow.begin(gateway);
    const one = new URL('/mcp/s/plain', gateway.url).href;
    const tokens = parseTokens(await flow.collect(await flow.code(key, { resource: one })));
    expect(await listToolNamesAt(one, { key: tokens.access_token })).toContain('echo');
    expect(await listToolNamesAt(gateway.url, { key: tokens.access_token })).toBe(401);
    const away = await sendRequest(flow.address({ resource: 'https://elsewhere.test/mcp' }));
    expect(away.headers.location).toContain('error=invalid_target');
  });

  test('authorization server: escapes client names and protects the consent page from forgery', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const key = await addKey(gateway, 'anna');
    const flow = await Flow.begin(gateway, { client_name: '<img src=x onerror=alert(1)>\u202E"&' });
    const page = await sendRequest(flow.address());
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('<img');
    expect(page.text).not.toContain('\u202E');
    expect(page.text).toContain('&lt;img src=x onerror=alert(1)&gt;');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toContain('unsafe');
    expect(page.headers['x-frame-options']).toBe('DENY');
    expect(page.headers['set-cookie']?.[0]).toMatch(/HttpOnly; SameSite=Strict/);
    const form = `transaction=${transactionOf(page)}&decision=allow&key=${key}`;
    const own = { cookie: cookieOf(page), 'content-type': 'application/x-www-form-urlencoded' };
    const send = (headers: Record<string, string>, body = form): Promise<HttpResponse> =>
      sendRequest(new URL('/oauth/authorize', gateway.url), { headers, body });
    expect((await send({ ...own, cookie: '' })).status).toBe(403);
    expect((await send({ ...own, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await send({ ...own, origin: 'http://localhost:3000' })).status).toBe(403);
    expect((await send({ ...own, 'content-type': 'text/plain' })).status).toBe(403);
    const wrong = await send(own, form.replace(key, 'tl_wrong'));
    expect(wrong.status).toBe(403);
    expect(wrong.text).toContain('This key is wrong');
    expect((await send(own)).status).toBe(302);
    // A transaction ends with the decision.
    expect((await send(own)).status).toBe(403);
  });

  test('authorization server: shows the host of a redirect first and its address without characters that mislead', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const site = 'https://evil.test/\u202Emoc.knab.www//:sptth\u0000\u200B/callback';
    const app = 'evil-app:\u202Ekcab';
    const client_name = `Bank\u201D is verified. \u201CZ${'\u0301'.repeat(60)}\u3164\u034F`;
    const flow = await Flow.begin(gateway, { redirect_uris: [site, app], client_name });
    const { text } = await sendRequest(flow.address({ redirect_uri: site }));
    expect(text).toContain('goes to <code>evil.test</code>');
    expect(text).toContain('https://evil.test/%E2%80%AEmoc.knab.www//:sptth%00%E2%80%8B/callback');
    expect(text).not.toMatch(/\u0000|\u200B|\u202E|\u3164|\u034F|\p{M}{7}/u);
    // The name cannot end its quotes and continue as our text.
    expect(text.match(/[\u201C\u201D]/g)).toHaveLength(2);
    const program = await sendRequest(flow.address({ redirect_uri: app }));
    expect(program.text).toContain('a program that opens <code>evil-app:</code> addresses');
    expect(program.text).not.toContain('\u202E');
  });

  test.each([
    ['javascript:alert(1)'],
    ['data:text/html,x'],
    ['http://evil.test/callback'],
    ['https://user:pass@app.test/'],
    ['https://app.test/#fragment'],
    ['not an address'],
  ])('authorization server: rejects the redirect URI %s', async (uri) => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const body = JSON.stringify({ redirect_uris: [uri] });
    expect((await sendRequest(new URL('/oauth/register', gateway.url), { body })).status).toBe(400);
    const flow = await Flow.begin(gateway);
    const page = await sendRequest(flow.address({ redirect_uri: uri }));
    expect(page.status).toBe(400);
    expect(page.headers.location).toBeUndefined();
  });

  test.each([
    [{ code_challenge_method: 'plain' }, 'invalid_request'],
    [{ code_challenge: '' }, 'invalid_request'],
    [{ response_type: 'token' }, 'unsupported_response_type'],
  ])('authorization server: rejects an authorization request with %j', async (changes, error) => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const { status, headers } = await sendRequest((await Flow.begin(gateway)).address(changes));
    expect(status).toBe(302);
    expect(headers.location).toContain(`error=${error}`);
  });

  test('authorization server: redirects errors to a site only after a person consented to its client', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const key = await addKey(gateway, 'anna');
    const site = 'https://evil.test/landing?a=b';
    const flow = await Flow.begin(gateway, { redirect_uris: [site, 'evil-app:open'] });
    for (const redirect_uri of [site, 'evil-app:open'])
      for (const wrong of [
        { response_type: 'token' },
        { code_challenge: '' },
        { resource: 'https://a.test/' },
      ]) {
        const page = await sendRequest(flow.address({ redirect_uri, ...wrong }));
        expect(page.status, page.text).toBe(400);
        expect(page.headers.location).toBeUndefined();
        expect(page.headers['refresh']).toBeUndefined();
        expect(page.text).not.toContain('http-equiv');
        // The person may follow a link that shows where it leads.
        expect(page.text).toContain(new URL(redirect_uri).host || 'evil-app:open');
      }
    const agreed = await approveInBrowser(flow.address({ redirect_uri: site }), key);
    expect(agreed).toContain('https://evil.test/landing?a=b&code=');
    const { status, headers } = await sendRequest(
      flow.address({ redirect_uri: site, response_type: 'token' }),
    );
    expect(status).toBe(302);
    expect(headers.location).toContain('error=unsupported_response_type');
  });

  test('authorization server: opens no consent page for an image or a frame of another site', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const flow = await Flow.begin(gateway);
    for (const dest of ['image', 'iframe', 'empty', 'script']) {
      const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': dest };
      const page = await sendRequest(flow.address(), { headers });
      expect(page.status, dest).toBe(403);
      expect(page.headers['set-cookie']).toBeUndefined();
    }
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-dest': 'document' };
    expect((await sendRequest(flow.address(), { headers })).status).toBe(200);
  });

  test('authorization server: limits the number and size of client registrations', async () => {
    await using gateway = await startGatewayWithAuth(CONFIG);
    const body = JSON.stringify({ redirect_uris: [REDIRECT] });
    const register = async (): Promise<number> =>
      (await sendRequest(new URL('/oauth/register', gateway.url), { body })).status;
    const answers: number[] = [];
    for (let at = 0; at < 35; at++) answers.push(await register());
    expect(answers.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 201));
    expect(answers.slice(30)).toEqual(Array.from({ length: 5 }, () => 429));
    const big = JSON.stringify({ redirect_uris: [REDIRECT], client_name: 'x'.repeat(100_000) });
    expect((await sendRequest(new URL('/oauth/register', gateway.url), { body: big })).status).toBe(413);
  });

  test('authorization server: reads client metadata documents, from private networks only if allowed', async () => {
    let asked = 0;
    const server = createServer((request, response) => {
      asked++;
      const client_id = `http://127.0.0.1:${port}/client`;
      const document = { client_id, client_name: 'Documented', redirect_uris: [REDIRECT] };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.url === '/client' ? document : { ...document, client_id: 'x' }));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      await using gateway = await startGatewayWithAuth(CONFIG);
      const flow = await Flow.begin(gateway);
      const at = (path: string) =>
        sendRequest(flow.address({ client_id: `http://127.0.0.1:${port}${path}` }));
      const page = await at('/client');
      expect(page.text).toContain('Documented');
      expect(page.text).toContain(`127.0.0.1:${port}`);
      expect((await at('/liar')).status).toBe(400);
      const before = asked;
      await using careful = await startGatewayWithAuth({ auth: { authorizationServer: {} } });
      const other = await Flow.begin(careful);
      expect(
        (await sendRequest(other.address({ client_id: `http://127.0.0.1:${port}/client` }))).status,
      ).toBe(400);
      expect(asked).toBe(before);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
