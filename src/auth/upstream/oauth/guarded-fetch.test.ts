import type { lookup as lookUp } from 'node:dns';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, test } from 'vitest';

import { guardedFetch } from './guarded-fetch.ts';

const { signal } = new AbortController();
const local = { upstream: new URL('http://127.0.0.1:1/mcp'), allowPrivate: false, signal };
// An address of the documentation range: public, and nobody is there.
const distant = { ...local, upstream: new URL('https://203.0.113.7/mcp') };

async function serving(listener: RequestListener): Promise<{ url: URL } & AsyncDisposable> {
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
  '%s is not https',
  async (url) => {
    await expect(guardedFetch(local)(new URL(url))).rejects.toThrow(/is not https/);
  },
);

test.each([
  'https://127.0.0.1/x',
  'http://localhost:1/x',
  'https://10.0.0.1/x',
  'https://[fd00::1]/x',
  'https://[::ffff:10.0.0.1]/',
])('a public server cannot send us to %s', async (url) => {
  await expect(guardedFetch(distant)(new URL(url))).rejects.toThrow(/private address.*allowPrivate/);
});

test.each([['10.0.0.1'], ['203.0.113.9', '169.254.169.254'], ['::ffff:127.0.0.1']])(
  'a name is judged by all that it resolves to: %s',
  async (...addresses) => {
    const resolved = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
    // Stands in for the resolver of the system, of which only this form is used.
    const lookup = ((_name: string, _options: object, done: (error: null, found: object) => void) =>
      done(null, resolved)) as unknown as typeof lookUp;
    const fetch = guardedFetch({ ...distant, lookup });
    await expect(fetch(new URL('https://as.example/x'))).rejects.toThrow(/private address/);
  },
);

test('the configuration can allow private addresses', async () => {
  await using server = await serving((_request, response) => void response.end('{}'));
  await expect(guardedFetch(distant)(server.url)).rejects.toThrow(/private/);
  const answer = await guardedFetch({ ...distant, allowPrivate: true })(server.url);
  expect(answer).toMatchObject({ status: 200, text: '{}' });
});

test('a GET follows redirects within its origin, a few', async () => {
  await using server = await serving((request, response) => {
    const left = Number(new URL(request.url ?? '', 'http://x').searchParams.get('left'));
    if (left > 0) response.writeHead(302, { location: `?left=${left - 1}` });
    response.end('done');
  });
  const at = (left: number): URL => new URL(`?left=${left}`, server.url);
  expect(await guardedFetch(local)(at(3))).toMatchObject({ text: 'done' });
  await expect(guardedFetch(local)(at(4))).rejects.toThrow(/too often/);
});

test('nothing follows a redirect elsewhere, and a POST none at all', async () => {
  let posts = 0;
  await using other = await serving((_request, response) => {
    posts++;
    response.end();
  });
  await using server = await serving((request, response) => {
    const here = request.url?.endsWith('same') === true;
    response.writeHead(307, { location: here ? '/there' : other.url.href }).end();
  });
  await expect(guardedFetch(local)(server.url)).rejects.toThrow(/another origin/);
  const post = { method: 'POST', body: 'secret=1' } as const;
  await expect(guardedFetch(local)(server.url, post)).rejects.toThrow(/not for others/);
  await expect(guardedFetch(local)(new URL('/same', server.url), post)).rejects.toThrow(/not for others/);
  expect(posts).toBe(0);
});

test('an answer has bounds in size and time', async () => {
  await using server = await serving((request, response) => {
    if (request.url === '/slow') return;
    const timer = setInterval(() => response.write('x'.repeat(1000)), 1);
    response.on('close', () => clearInterval(timer));
  });
  const fetch = guardedFetch({ ...local, maxBytes: 5000, timeoutMs: 150 });
  await expect(fetch(server.url)).rejects.toThrow(/too much/);
  await expect(fetch(new URL('/slow', server.url))).rejects.toThrow(/did not answer within/);
  // Who only wants the headers does not wait for what never ends.
  await expect(fetch(server.url, { headersOnly: true })).resolves.toMatchObject({ status: 200 });
});

test('who is not there is told as trouble that may pass', async () => {
  await expect(guardedFetch(local)(new URL('http://127.0.0.1:9/'))).rejects.toMatchObject({
    code: 'UPSTREAM_UNAVAILABLE',
  });
});
