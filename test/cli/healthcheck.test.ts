import { once } from 'node:events';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../support/command.ts';
import { startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

/** A program that answers over HTTP, and where it does. */
async function answering(
  listener: RequestListener,
): Promise<{ readonly url: string; readonly address: string } & Disposable> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    address,
    url: `http://${address}`,
    [Symbol.dispose]: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('healthcheck', () => {
  test('of the gateway that runs is silent in a pipe, with exit code 0', async () => {
    await using gateway = await startGateway({ mcpServers: {}, listen: 'http' });
    const home = { ...commandHome({}), home: gateway.home };
    const env = { TRUNKLINE_HOME: gateway.home };
    expect(await home.run(['healthcheck'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
    const url = new URL('/healthz', gateway.url).href;
    expect(await home.json(['healthcheck', '--json'], { env })).toEqual({ ok: true, url, status: 200 });
    expect((await home.run(['healthcheck', '--text'], { env })).stdout).toBe(`${url} answers.\n`);
    expect(await home.run(['healthcheck', new URL('/', gateway.url).href])).toMatchObject({ code: 0 });
  });

  test('without a gateway asks where one would listen, and makes no file', async () => {
    using other = await answering((request, response) => {
      response.writeHead(request.url === '/healthz' ? 204 : 404).end();
    });
    const home = commandHome({}, { http: { address: other.address } });
    expect(await home.run(['healthcheck'])).toMatchObject({ code: 0 });
    const env = { TRUNKLINE_HTTP: other.address.replace('127.0.0.1', '0.0.0.0') };
    expect(await commandHome({}).run(['healthcheck'], { env })).toMatchObject({ code: 0 });
  });

  test.each([500, 404, 302])('an answer with %i is exit code 4 and names it', async (status) => {
    using other = await answering((_request, response) => {
      response.writeHead(status, { Location: '/healthz' }).end('a long story');
    });
    const { code, stdout, stderr } = await commandHome({}).run(['healthcheck', `${other.url}/there`]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain(`${other.url}/there answered with ${status}. [GATEWAY_UNAVAILABLE]`);
  });

  test('a refused connection is exit code 4, and one that is never answered ends after five seconds', async () => {
    using silent = await answering(() => {});
    const home = commandHome({});
    const refused = await answering(() => {});
    refused[Symbol.dispose]();
    expect((await home.run(['healthcheck', refused.url])).stderr).toContain(
      'cannot be reached (ECONNREFUSED)',
    );
    const { code, stderr } = await home.run(['healthcheck', silent.url]);
    expect(code).toBe(4);
    expect(stderr).toContain('did not answer within 5 s');
  });

  test.each(['nonsense', 'file:///etc/passwd', 'http://me:secret@127.0.0.1/'])(
    '%s is no URL of a gateway',
    async (url) => {
      const { code, stderr } = await commandHome({}).run(['healthcheck', url]);
      expect(code).toBe(2);
      expect(stderr).not.toContain('secret');
    },
  );
});
