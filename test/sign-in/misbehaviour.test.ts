import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { eventually } from '../support/eventually.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { agree, openDesk, startProtectedServer, walk } from '../support/sign-in.ts';

checkLeaks();

const elsewhere = 'http://127.0.0.1:9/elsewhere';

const refusals: readonly (readonly [string, Readonly<Record<string, unknown>>, RegExp])[] = [
  [
    'names another issuer in its answer',
    { wrongIss: 'https://evil.example.com' },
    /names the issuer "https:\/\/evil/,
  ],
  [
    'speaks for another issuer in its metadata',
    { metadataIssuer: 'https://evil.example.com' },
    /speaks for the issuer/,
  ],
  [
    'says it is another resource',
    { prmResource: 'https://evil.example.com/mcp' },
    /would not be for this server/,
  ],
  ['does not say that it checks PKCE', { pkce: false }, /PKCE with S256/],
  ['sends its metadata from another origin', { metadataRedirect: elsewhere }, /redirects to another origin/],
  [
    'sends token requests to another origin',
    { tokenRedirect: elsewhere },
    /what is sent there is not for others/,
  ],
  ['has metadata without end', { metadataPadding: 2_000_000 }, /answers with too much/],
  ['gives a token answer without a token', { tokenAnswer: { token_type: 'Bearer' } }, /no access_token/],
  [
    'gives a token that no header can carry',
    { tokenAnswer: { access_token: 'a\r\nb' } },
    /no header can carry/,
  ],
  [
    'gives a token of another kind',
    { tokenAnswer: { access_token: 'a', token_type: 'mac' } },
    /of the type "mac"/,
  ],
  [
    'answers an error with 200',
    { tokenAnswer: { error: 'invalid_grant', error_description: 'Too late.' } },
    /Too late\. \(invalid_grant\)/,
  ],
  [
    'answers a page instead of a token',
    { tokenStatus: 502, tokenAnswer: '<html>Bad gateway</html>' },
    /HTTP 502/,
  ],
  ['does not want us', { registerStatus: 400 }, /This server does not like you.*"clientId"/s],
  ['registers us without an id', { registerAnswer: { client_name: 'x' } }, /without a client_id/],
  [
    'refuses the person',
    { authorizeError: { error: 'access_denied', error_description: 'Ask your <b>admin</b>.' } },
    /Ask your <b>admin<\/b>\. \(access_denied\)/,
  ],
];

test.each(refusals)(
  'a server that %s is refused, in its own words, and nothing is saved',
  async (_what, behaviour, message) => {
    await using server = await startProtectedServer(behaviour);
    await using desk = openDesk(server.url);
    await expect(desk.signIn()).rejects.toMatchObject({ message: expect.stringMatching(message) });
    expect(await desk.vault.load(desk.place)).toBeUndefined();
    expect((await desk.vault.noted(desk.place))?.problem).toMatch(message);
    expect(server.log.of('issued').length).toBeLessThanOrEqual(1);
  },
);

test('an answer without the issuer that was promised is not redeemed', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const open = async (url: URL): Promise<void> => {
    const answer = await fetch(url, { redirect: 'manual' });
    const back = new URL(answer.headers.get('location') ?? '');
    back.searchParams.delete('iss');
    await walk(back);
  };
  await expect(desk.signIn({ open })).rejects.toThrow(/does not name its issuer/);
  expect(server.log.of('token')).toEqual([]);
});

test('answers of 201 and slow answers are fine', async () => {
  await using server = await startProtectedServer({ tokenStatus: 201, slowMs: 150 });
  await using desk = openDesk(server.url);
  await expect(desk.signIn()).resolves.toMatchObject({ flow: 'browser' });
});

test('a missing expiry, scope and refresh token are fine', async () => {
  await using server = await startProtectedServer({ tokenAnswer: { access_token: 'bare' } });
  await using desk = openDesk(server.url);
  const tokens = await desk.signIn();
  expect(tokens).toMatchObject({ accessToken: 'bare' });
  expect(tokens.expiresAt).toBeUndefined();
  expect(tokens.refreshToken).toBeUndefined();
});

test('trouble that may pass is told as such', async () => {
  await using server = await startProtectedServer({ metadataStatus: 503 });
  await using desk = openDesk(server.url);
  await expect(desk.signIn()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
  await server.control({ metadataStatus: 200, registerStatus: 500 });
  await expect(desk.signIn()).rejects.toMatchObject({ code: 'UPSTREAM_UNAVAILABLE' });
});

test('a foreign answer at the callback neither ends the wait nor is believed', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  let page: Awaited<ReturnType<typeof walk>> | undefined;
  const open = async (url: URL): Promise<void> => {
    const callback = new URL(url.searchParams.get('redirect_uri') ?? '');
    callback.search = '?code=stolen&state=guessed';
    page = await walk(callback);
    await agree(url);
  };
  await expect(desk.signIn({ open })).resolves.toMatchObject({ flow: 'browser' });
  expect(page?.status).toBe(400);
  expect(page?.text).toContain('not the answer that is waited for');
  expect(server.log.of('token')).toHaveLength(1);
});

test('whoever never comes back is waited for only so long, and a forgotten registration is made anew', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const auth = { callbackPort: { first: 7462, last: 7479 } };
  await desk.signIn({ auth });
  await server.control({ act: 'forget-clients' });
  await expect(desk.signIn({ auth, timeoutMs: 300 })).rejects.toThrow(/Nobody came back/);
  await expect(desk.signIn({ auth })).resolves.toMatchObject({ flow: 'browser' });
  expect(server.log.of('register')).toHaveLength(2);
});

test('the page says how it went, and what a server says in it is text', async () => {
  const bold = { error: 'access_denied', error_description: '<script>alert(1)</script>' };
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
  const pages: string[] = [];
  const open = async (url: URL): Promise<void> => void pages.push((await walk(url)).text);
  await desk.signIn({ open });
  await server.control({ authorizeError: bold });
  await expect(desk.signIn({ open })).rejects.toThrow('alert(1)');
  expect(pages[0]).toContain('Signed in to it');
  await eventually(() => expect(pages[1]).toContain('&lt;script&gt;alert(1)'));
  expect(pages[1]).not.toContain('<script>');
});

test('a busy port is told, and a range goes on to the next', async () => {
  await using server = await startProtectedServer();
  await using desk = openDesk(server.url);
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
