import { SignJWT, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { expect, test } from 'vitest';

import { IssuerUnreachable, issuerKeys } from './issuer-keys.ts';

const ISSUER = 'https://login.example.test/realm';

async function signer(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
  return { jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' }, token };
}

/** What is served where; everything else is not there. */
function serving(pages: Record<string, unknown>, asked: string[] = []): typeof fetch {
  return ((url: string) => {
    asked.push(url);
    const page = pages[url];
    return Promise.resolve(page === undefined ? new Response('', { status: 404 }) : Response.json(page));
  }) as typeof fetch;
}

test('finds the keys through the metadata, and new ones after a change', async () => {
  const [first, second] = [await signer('first'), await signer('second')];
  const pages: Record<string, unknown> = {
    [`${ISSUER}/.well-known/openid-configuration`]: {
      issuer: ISSUER,
      jwks_uri: 'https://keys.example.test/',
    },
    'https://keys.example.test/': { keys: [first.jwk] },
  };
  const keys = issuerKeys({ issuer: ISSUER, now: Date.now, fetch: serving(pages), pauseMs: 0 });
  await expect(jwtVerify(first.token, keys)).resolves.toBeDefined();
  pages['https://keys.example.test/'] = { keys: [second.jwk] };
  await expect(jwtVerify(second.token, keys)).resolves.toBeDefined();
  await expect(jwtVerify(first.token, keys)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
});

test('does not take the keys of another issuer', async () => {
  const { jwk, token } = await signer('a');
  const pages = {
    [`${ISSUER}/.well-known/openid-configuration`]: {
      issuer: 'https://evil.test',
      jwks_uri: 'https://evil.test/k',
    },
    'https://evil.test/k': { keys: [jwk] },
  };
  const keys = issuerKeys({ issuer: ISSUER, now: Date.now, fetch: serving(pages), pauseMs: 0 });
  await expect(jwtVerify(token, keys)).rejects.toBeInstanceOf(IssuerUnreachable);
});

test('asks an issuer that does not answer again only after the pause', async () => {
  const { jwk, token } = await signer('a');
  const asked: string[] = [];
  const pages: Record<string, unknown> = {};
  let now = 1_000_000;
  const jwksUrl = 'https://keys.example.test/';
  const keys = issuerKeys({
    ...{ issuer: ISSUER, jwksUrl, now: () => now, fetch: serving(pages, asked), pauseMs: 10_000 },
  });
  for (let at = 0; at < 5; at++)
    await expect(jwtVerify(token, keys)).rejects.toBeInstanceOf(IssuerUnreachable);
  expect(asked).toHaveLength(1);
  pages[jwksUrl] = { keys: [jwk] };
  now += 10_000;
  await expect(jwtVerify(token, keys)).resolves.toBeDefined();
});

test('reads no more than keys can need', async () => {
  const { token } = await signer('a');
  const jwksUrl = 'https://keys.example.test/';
  const fetch = serving({ [jwksUrl]: { keys: [], filler: 'x'.repeat(600_000) } });
  const keys = issuerKeys({ issuer: ISSUER, jwksUrl, now: Date.now, fetch });
  await expect(jwtVerify(token, keys)).rejects.toThrow('too much');
});
