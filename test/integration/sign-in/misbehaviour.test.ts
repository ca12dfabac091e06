import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import {
  approveSignIn,
  openSignInHarness,
  startProtectedServer,
  followRedirects,
} from '../../support/sign-in.ts';

checkLeaks();

const elsewhere = 'http://127.0.0.1:9/elsewhere';

const refusals: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  [
    'names another issuer in its response',
    { wrongIss: 'https://evil.example.com' },
    /names the issuer "https:\/\/evil/,
  ],
  [
    'names another issuer in its metadata',
    { metadataIssuer: 'https://evil.example.com' },
    /is for the issuer "https:\/\/evil/,
  ],
  [
    'claims to be another resource',
    { prmResource: 'https://evil.example.com/mcp' },
    /would not be valid for this server/,
  ],
  ['does not announce PKCE', { pkce: false }, /PKCE with S256/],
  [
    'redirects its metadata to another origin',
    { metadataRedirect: elsewhere },
    /redirects to another origin/,
  ],
  [
    'redirects token requests to another origin',
    { tokenRedirect: elsewhere },
    /must not receive the credentials/,
  ],
  ['sends too much metadata', { metadataPadding: 2_000_000 }, /more than 524288 bytes/],
  ['returns no access token', { tokenAnswer: { token_type: 'Bearer' } }, /no access_token/],
  [
    'returns a token that is invalid in a header',
    { tokenAnswer: { access_token: 'a\r\nb' } },
    /not allowed in a header/,
  ],
  [
    'returns a token of another type',
    { tokenAnswer: { access_token: 'a', token_type: 'mac' } },
    /unsupported type "mac"/,
  ],
  [
    'returns an error with status 200',
    { tokenAnswer: { error: 'invalid_grant', error_description: 'Too late.' } },
    /Too late\. \(invalid_grant\)/,
  ],
  [
    'returns an HTML page instead of a token',
    { tokenStatus: 502, tokenAnswer: '<html>Bad gateway</html>' },
    /HTTP 502/,
  ],
  ['rejects the client registration', { registerStatus: 400 }, /This server does not like you.*"clientId"/s],
  ['registers the client without an id', { registerAnswer: { client_name: 'x' } }, /without a client_id/],
  [
    'denies access to the person',
    { authorizeError: { error: 'access_denied', error_description: 'Ask your <b>admin</b>.' } },
    /Ask your <b>admin<\/b>\. \(access_denied\)/,
  ],
];

test.each(refusals)('sign-in: rejects a server that %s', async (_what, behaviour, message) => {
  await using server = await startProtectedServer(behaviour);
  await using desk = openSignInHarness(server.url);
  await expect(desk.signIn()).rejects.toMatchObject({ message: expect.stringMatching(message) });
  expect(await desk.vault.load(desk.signInId)).toBeUndefined();
  expect((await desk.vault.loadNote(desk.signInId))?.problem).toMatch(message);
  expect(server.log.of('issued').length).toBeLessThanOrEqual(1);
});

test('sign-in: rejects a callback without the announced issuer', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const open = async (url: URL): Promise<void> => {
    const answer = await fetch(url, { redirect: 'manual' });
    const back = new URL(answer.headers.get('location') ?? '');
    back.searchParams.delete('iss');
    await followRedirects(back);
  };
  await expect(desk.signIn({ open })).rejects.toThrow(/does not name its issuer/);
  expect(server.log.of('token')).toEqual([]);
});

test('sign-in: accepts status 201 and slow responses', async () => {
  await using server = await startProtectedServer({ tokenStatus: 201, slowMs: 150 });
  await using desk = openSignInHarness(server.url);
  await expect(desk.signIn()).resolves.toMatchObject({ flow: 'browser' });
});

test('sign-in: accepts a token response without expiry, scope and refresh token', async () => {
  await using server = await startProtectedServer({ tokenAnswer: { access_token: 'bare' } });
  await using desk = openSignInHarness(server.url);
  const tokens = await desk.signIn();
  expect(tokens).toMatchObject({ accessToken: 'bare' });
  expect(tokens.expiresAt).toBeUndefined();
  expect(tokens.refreshToken).toBeUndefined();
});

test('sign-in: reports 5xx responses as UPSTREAM_UNAVAILABLE', async () => {
  await using server = await startProtectedServer({ metadataStatus: 503 });
  await using desk = openSignInHarness(server.url);
  await expect(desk.signIn()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  await server.control({ metadataStatus: 200, registerStatus: 500 });
  await expect(desk.signIn()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
});

test('sign-in: ignores a forged callback and keeps waiting', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  let page: Awaited<ReturnType<typeof followRedirects>> | undefined;
  const open = async (url: URL): Promise<void> => {
    const callback = new URL(url.searchParams.get('redirect_uri') ?? '');
    callback.search = '?code=stolen&state=guessed';
    page = await followRedirects(callback);
    await approveSignIn(url);
  };
  await expect(desk.signIn({ open })).resolves.toMatchObject({ flow: 'browser' });
  expect(page?.status).toBe(400);
  expect(page?.text).toContain('This response was not expected');
  expect(server.log.of('token')).toHaveLength(1);
});

test('sign-in: times out without a callback and registers again when the server lost the client', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const auth = { callbackPort: { first: 7462, last: 7479 } };
  await desk.signIn({ auth });
  await server.control({ act: 'forget-clients' });
  await expect(desk.signIn({ auth, timeoutMs: 300 })).rejects.toThrow(/The browser did not return/);
  await expect(desk.signIn({ auth })).resolves.toMatchObject({ flow: 'browser' });
  expect(server.log.of('register')).toHaveLength(2);
});

test('sign-in: shows the outcome on its page with escaped server text', async () => {
  const bold = { error: 'access_denied', error_description: '<script>alert(1)</script>' };
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const pages: string[] = [];
  const open = async (url: URL): Promise<void> => void pages.push((await followRedirects(url)).text);
  await desk.signIn({ open });
  await server.control({ authorizeError: bold });
  await expect(desk.signIn({ open })).rejects.toThrow('alert(1)');
  expect(pages[0]).toContain('Signed in to it');
  await eventually(() => expect(pages[1]).toContain('&lt;script&gt;alert(1)'));
  expect(pages[1]).not.toContain('<script>');
});

test('callback port: is reported when busy, and a range continues with the next port', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const busy = createServer();
  await new Promise<void>((resolve) => busy.listen(0, '127.0.0.1', resolve));
  const { port } = busy.address() as AddressInfo;
  try {
    const fixed = { callbackPort: { first: port, last: port } };
    await expect(desk.signIn({ auth: fixed })).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' });
    const range = { callbackPort: { first: port, last: Math.min(port + 20, 65_535) } };
    await expect(desk.signIn({ auth: range })).resolves.toMatchObject({ flow: 'browser' });
  } finally {
    busy.close();
  }
});
