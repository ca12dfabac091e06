import type { lookup as dnsLookup } from 'node:dns';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { createGuardedFetch } from './guarded-fetch.ts';

const { signal } = new AbortController();
const local = { upstream: new URL('http://127.0.0.1:1/mcp'), allowPrivate: false, signal };
// The address is in a range for documentation, so it counts as public but cannot be reached.
const distant = { ...local, upstream: new URL('https://203.0.113.7/mcp') };

async function startServer(listener: RequestListener): Promise<{ url: URL } & AsyncDisposable> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: new URL(`http://127.0.0.1:${port}/here`),
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

test.each(['http://as.example/x', 'ftp://as.example/x', 'file:///etc/passwd'])(
  'guarded fetch: rejects %s because it is not https',
  async (url) => {
    await expect(createGuardedFetch(local)(new URL(url))).rejects.toThrow(/does not use https/);
  },
);

test.each([
  'https://127.0.0.1/x',
  'http://localhost:1/x',
  'https://10.0.0.1/x',
  'https://[fd00::1]/x',
  'https://[::ffff:10.0.0.1]/',
])('guarded fetch: rejects the private address %s for a public server', async (url) => {
  await expect(createGuardedFetch(distant)(new URL(url))).rejects.toThrow(/private address.*allowPrivate/);
});

/** Returns a replacement for the system resolver, which implements only the overload that the code uses. */
function resolveTo(...addresses: readonly string[]): typeof dnsLookup {
  const resolved = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  return ((_name: string, _options: object, done: (error: null, found: object) => void) =>
    done(null, resolved)) as unknown as typeof dnsLookup;
}

test.each(['https://10.0.0.1/x', 'http://127.0.0.1:1/x', 'https://as.example/x'])(
  'guarded fetch: rejects the private address %s if the server has a private address among public ones',
  async (url) => {
    const lookup = resolveTo('203.0.113.9', '10.0.0.7');
    const fetch = createGuardedFetch({ ...local, upstream: new URL('https://mcp.example/mcp'), lookup });
    await expect(fetch(new URL(url))).rejects.toThrow(/private address.*allowPrivate/);
  },
);

test.each(['http://127.0.0.1:1/x', 'http://localhost:1/x', 'https://[::1]/x'])(
  'guarded fetch: rejects %s on this machine for a server whose name resolves only to private addresses',
  async (url) => {
    const lookup = resolveTo('10.0.0.7');
    const fetch = createGuardedFetch({ ...local, upstream: new URL('https://mcp.example/mcp'), lookup });
    await expect(fetch(new URL(url))).rejects.toThrow(/on this machine.*allowPrivate/);
  },
);

test.each([['10.0.0.1'], ['203.0.113.9', '169.254.169.254'], ['::ffff:127.0.0.1']])(
  'guarded fetch: rejects a host name that resolves to a private address: %s',
  async (...addresses) => {
    const fetch = createGuardedFetch({ ...distant, lookup: resolveTo(...addresses) });
    await expect(fetch(new URL('https://as.example/x'))).rejects.toThrow(/private address/);
  },
);

test('guarded fetch: allows private addresses when configured', async () => {
  await using server = await startServer((_request, response) => void response.end('{}'));
  await expect(createGuardedFetch(distant)(server.url)).rejects.toThrow(/private/);
  const response = await createGuardedFetch({ ...distant, allowPrivate: true })(server.url);
  expect(response).toMatchObject({ status: 200, text: '{}' });
});

test('guarded fetch: follows at most three redirects of a GET within its origin', async () => {
  await using server = await startServer((request, response) => {
    const left = Number(new URL(request.url ?? '', 'http://x').searchParams.get('left'));
    if (left > 0) response.writeHead(302, { location: `?left=${left - 1}` });
    response.end('done');
  });
  const at = (left: number): URL => new URL(`?left=${left}`, server.url);
  expect(await createGuardedFetch(local)(at(3))).toMatchObject({ text: 'done' });
  await expect(createGuardedFetch(local)(at(4))).rejects.toThrow(/more than 3 times/);
});

test('guarded fetch: follows no redirect to another origin and none at all for a POST', async () => {
  let posts = 0;
  await using other = await startServer((_request, response) => {
    posts++;
    response.end();
  });
  await using server = await startServer((request, response) => {
    const here = request.url?.endsWith('same') === true;
    response.writeHead(307, { location: here ? '/there' : other.url.href }).end();
  });
  await expect(createGuardedFetch(local)(server.url)).rejects.toThrow(/another origin/);
  const post = { method: 'POST', body: 'secret=1' } as const;
  await expect(createGuardedFetch(local)(server.url, post)).rejects.toThrow(/must not receive/);
  await expect(createGuardedFetch(local)(new URL('/same', server.url), post)).rejects.toThrow(
    /must not receive/,
  );
  expect(posts).toBe(0);
});

test('guarded fetch: limits the size of a response and the time it takes', async () => {
  await using server = await startServer((request, response) => {
    if (request.url === '/slow') return;
    const timer = setInterval(() => response.write('x'.repeat(1000)), 1);
    response.on('close', () => clearInterval(timer));
  });
  const fetch = createGuardedFetch({ ...local, maxBytes: 5000, timeoutMs: 150 });
  await expect(fetch(server.url)).rejects.toThrow(/more than 5000 bytes/);
  await expect(fetch(new URL('/slow', server.url))).rejects.toThrow(/did not respond within/);
  // A headers-only request does not wait for an endless body.
  await expect(fetch(server.url, { headersOnly: true })).resolves.toMatchObject({ status: 200 });
});

test('guarded fetch: reports a refused connection as UPSTREAM_UNAVAILABLE', async () => {
  await expect(createGuardedFetch(local)(new URL('http://127.0.0.1:9/'))).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
  });
});
