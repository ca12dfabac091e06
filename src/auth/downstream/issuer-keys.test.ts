import { SignJWT, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { expect, test } from 'vitest';

import { IssuerUnreachableError, createIssuerKeySource } from './issuer-keys.ts';

const ISSUER = 'https://login.example.test/realm';

async function signer(kid: string) {
  const { publicKey, privateKey } = await generateKeyPair('ES256');
  const token = await new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).sign(privateKey);
  return { jwk: { ...(await exportJWK(publicKey)), kid, alg: 'ES256' }, token };
}

/** Serves the given pages and 404 for everything else. */
function fetchFrom(pages: Record<string, unknown>, requests: string[] = []): typeof fetch {
  return ((url: string) => {
    requests.push(url);
    const page = pages[url];
    return Promise.resolve(page === undefined ? new Response('', { status: 404 }) : Response.json(page));
  }) as typeof fetch;
}

test('issuer keys: are discovered through the metadata and fetched again after a key rotation', async () => {
  const [first, second] = [await signer('first'), await signer('second')];
  const pages: Record<string, unknown> = {
    [`${ISSUER}/.well-known/openid-configuration`]: {
      issuer: ISSUER,
      jwks_uri: 'https://keys.example.test/',
    },
    'https://keys.example.test/': { keys: [first.jwk] },
  };
  const keys = createIssuerKeySource({ issuer: ISSUER, now: Date.now, fetch: fetchFrom(pages), pauseMs: 0 });
  await expect(jwtVerify(first.token, keys)).resolves.toBeDefined();
  pages['https://keys.example.test/'] = { keys: [second.jwk] };
  await expect(jwtVerify(second.token, keys)).resolves.toBeDefined();
  await expect(jwtVerify(first.token, keys)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
});

test('issuer keys: are rejected when the metadata names another issuer', async () => {
  const { jwk, token } = await signer('a');
  const pages = {
    [`${ISSUER}/.well-known/openid-configuration`]: {
      issuer: 'https://evil.test',
      jwks_uri: 'https://evil.test/k',
    },
    'https://evil.test/k': { keys: [jwk] },
  };
  const keys = createIssuerKeySource({ issuer: ISSUER, now: Date.now, fetch: fetchFrom(pages), pauseMs: 0 });
  await expect(jwtVerify(token, keys)).rejects.toBeInstanceOf(IssuerUnreachableError);
});

test('issuer keys: are requested again from an unreachable issuer only after a pause', async () => {
  const { jwk, token } = await signer('a');
  const requests: string[] = [];
  const pages: Record<string, unknown> = {};
  let now = 1_000_000;
  const jwksUrl = 'https://keys.example.test/';
  const keys = createIssuerKeySource({
    issuer: ISSUER,
    jwksUrl,
    now: () => now,
    fetch: fetchFrom(pages, requests),
    pauseMs: 10_000,
  });
  for (let attempt = 0; attempt < 5; attempt++)
    await expect(jwtVerify(token, keys)).rejects.toBeInstanceOf(IssuerUnreachableError);
  expect(requests).toHaveLength(1);
  pages[jwksUrl] = { keys: [jwk] };
  now += 10_000;
  await expect(jwtVerify(token, keys)).resolves.toBeDefined();
});

test('issuer keys: are rejected when the response is too large', async () => {
  const { token } = await signer('a');
  const jwksUrl = 'https://keys.example.test/';
  const fetch = fetchFrom({ [jwksUrl]: { keys: [], filler: 'x'.repeat(600_000) } });
  const keys = createIssuerKeySource({ issuer: ISSUER, jwksUrl, now: Date.now, fetch });
  await expect(jwtVerify(token, keys)).rejects.toThrow('larger than 524288 bytes');
});

test('issuer keys: are given up at the deadline when the body never ends, even if fetch ignores its signal', async () => {
  const { token } = await signer('a');
  let cancelled = 0;
  // Node 20.20 forgets the signal of a request with `redirect: 'error'` when garbage is collected after the headers have arrived.
  const fetchForgetfully = (() => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{')),
      cancel: () => void (cancelled += 1),
    });
    return Promise.resolve(new Response(body));
  }) as typeof fetch;
  const jwksUrl = 'https://keys.example.test/';
  const options = { issuer: ISSUER, jwksUrl, now: Date.now, timeoutMs: 20 };
  const keys = createIssuerKeySource({ ...options, fetch: fetchForgetfully });
  await expect(jwtVerify(token, keys)).rejects.toBeInstanceOf(IssuerUnreachableError);
  expect(cancelled).toBe(1);
});
