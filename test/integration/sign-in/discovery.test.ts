import { expect, test } from 'vitest';

import { checkLeaks } from '../../support/leak-check.ts';
import { openSignInHarness, startProtectedServer } from '../../support/sign-in.ts';

checkLeaks();

type Behaviour = Readonly<Record<string, unknown>>;

const places: readonly (readonly [string, Behaviour, readonly string[]])[] = [
  ['named in the challenge', {}, []],
  ['at the well-known path of the server', { prmInChallenge: false }, []],
  ['at the well-known path of its origin', { prmInChallenge: false, prm: 'root' }, []],
  ['with an issuer that has a path', {}, ['--issuer-path', '/tenant']],
  [
    'of OpenID with the issuer path after the well-known path',
    { metadata: 'oidc-inserted' },
    ['--issuer-path', '/tenant'],
  ],
  [
    'of OpenID with the issuer path before the well-known path',
    { metadata: 'oidc-appended' },
    ['--issuer-path', '/tenant'],
  ],
  ['of OpenID without a path', { metadata: 'oidc-appended' }, []],
];

test.each(places)('discovery: finds the authorization server %s', async (_where, behaviour, args) => {
  await using server = await startProtectedServer(behaviour, args);
  await using desk = openSignInHarness(server.url);
  const tokens = await desk.signIn();
  const { issuer, resource } = await server.control({});
  expect(tokens).toMatchObject({ url: server.url, resource, server: { issuer }, flow: 'browser' });
  expect(tokens.account).toBe('ada@example.com');
  expect(tokens.refreshToken).toBeDefined();
  expect(server.log.of('refused')).toEqual([]);
  // The port and path are kept: all requests went to one of the two origins.
  const hosts = new Set(server.log.of('as').map(({ host }) => host));
  expect(hosts).toEqual(new Set([new URL(issuer).host]));
});

test('authorization request: uses PKCE S256, state and resource, and registers a native client', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  await desk.signIn();
  const { asked } = server.log.of('authorize')[0] as unknown as { asked: Record<string, string> };
  expect(asked).toMatchObject({ response_type: 'code', code_challenge_method: 'S256', resource: server.url });
  expect(asked['state']?.length).toBeGreaterThan(40);
  expect(asked['redirect_uri']).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback$/);
  expect(server.log.of('register')[0]?.['asked']).toMatchObject({
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
  });
  expect(server.log.of('token')[0]).toMatchObject({ grant: 'authorization_code', resource: server.url });
});

test('client registration: is reused for the same issuer and repeated for a new one', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  const auth = { callbackPort: { first: 7400, last: 7459 } };
  const first = await desk.signIn({ auth });
  const second = await desk.signIn({ auth });
  expect(server.log.of('register')).toHaveLength(1);
  expect(second.client?.id).toBe(first.client?.id);
  await server.control({ act: 'migrate' });
  const third = await desk.signIn({ auth });
  expect(server.log.of('register')).toHaveLength(2);
  expect(third.client?.id).not.toBe(first.client?.id);
  expect(third.server?.issuer).not.toBe(first.server?.issuer);
});

test('client registration: is skipped for a configured client, which authenticates with its secret', async () => {
  await using server = await startProtectedServer({ authMethods: ['client_secret_basic'] });
  await using desk = openSignInHarness(server.url);
  const redirect = 'http://127.0.0.1:7461/callback';
  await server.control({
    client: { client_id: 'mine', client_secret: 's:e c%r&et', redirect_uris: [redirect] },
  });
  const auth = { clientId: 'mine', clientSecret: 's:e c%r&et', callbackPort: { first: 7461, last: 7461 } };
  await desk.signIn({ auth });
  expect(server.log.of('register')).toEqual([]);
  expect(server.log.of('client-authentication')[0]).toMatchObject({
    method: 'client_secret_basic',
    id: 'mine',
  });
});

test('client registration: is skipped for a client metadata document where the server accepts it', async () => {
  await using server = await startProtectedServer({ cimd: true });
  await using desk = openSignInHarness(server.url);
  const clientMetadataUrl = 'https://example.com/trunkline.json';
  const tokens = await desk.signIn({ auth: { clientMetadataUrl } });
  expect(tokens.client?.id).toBe(clientMetadataUrl);
  expect(server.log.of('register')).toEqual([]);
  await server.control({ cimd: false });
  await desk.signIn({ auth: { clientMetadataUrl } });
  expect(server.log.of('register')).toHaveLength(1);
});

test('client registration: explains how to get a client id when it is impossible', async () => {
  await using server = await startProtectedServer({ register: false });
  await using desk = openSignInHarness(server.url);
  await expect(desk.signIn()).rejects.toMatchObject({
    code: 'SIGN_IN_FAILED',
    message: expect.stringMatching(/does not register clients.*redirect address http:\/\/127.*"clientId"/s),
  });
});

const scopes: readonly (readonly [string, Behaviour, object, string | undefined])[] = [
  ['the scopes of the challenge', { challengeScope: 'a b', prmScopes: ['c'] }, {}, 'a b'],
  ['the scopes of the resource metadata', { prmScopes: ['c', 'd'] }, {}, 'c d'],
  ['no scope when none is named', {}, {}, undefined],
  ['the configured scopes', { challengeScope: 'a b' }, { scopes: ['x'] }, 'x'],
  [
    'offline_access when the issuer supports it',
    { challengeScope: 'a', scopesSupported: ['a', 'offline_access'] },
    {},
    'a offline_access',
  ],
];

test.each(scopes)('authorization request: asks for %s', async (_which, behaviour, auth, expected) => {
  await using server = await startProtectedServer(behaviour);
  await using desk = openSignInHarness(server.url);
  await desk.signIn({ auth });
  const { asked } = server.log.of('authorize')[0] as unknown as { asked: Record<string, string> };
  expect(asked['scope']).toBe(expected);
});

test('configured issuer: is the only one accepted', async () => {
  await using server = await startProtectedServer();
  await using desk = openSignInHarness(server.url);
  await expect(desk.signIn({ auth: { issuer: 'http://127.0.0.1:9/other' } })).rejects.toThrow(
    /does not offer the configured issuer/,
  );
  const { issuer } = await server.control({});
  await expect(desk.signIn({ auth: { issuer } })).resolves.toMatchObject({ server: { issuer } });
});
