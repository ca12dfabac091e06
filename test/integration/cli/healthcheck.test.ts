import { once } from 'node:events';
import { readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';

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
  test('healthcheck: exits with 0 and prints nothing in a pipe for a running gateway', async () => {
    await using gateway = await startGateway({ mcpServers: {}, listen: 'http' });
    const home = { ...commandHome({}), home: gateway.home };
    const env = { TRUNKLINE_HOME: gateway.home };
    expect(await home.run(['healthcheck'], { env })).toEqual({ code: 0, stdout: '', stderr: '' });
    const url = new URL('/healthz', gateway.url).href;
    expect(await home.json(['healthcheck', '--json'], { env })).toEqual({ ok: true, url, status: 200 });
    expect((await home.run(['healthcheck', '--text'], { env })).stdout).toBe(`${url} answers.\n`);
    expect(await home.run(['healthcheck', new URL('/', gateway.url).href])).toMatchObject({ code: 0 });
  });

  test('healthcheck: asks the configured address when no gateway is recorded', async () => {
    using other = await answering((request, response) => {
      response.writeHead(request.url === '/healthz' ? 204 : 404).end();
    });
    const home = commandHome({}, { http: { address: other.address } });
    expect(await home.run(['healthcheck'])).toMatchObject({ code: 0 });
    const env = { TRUNKLINE_HTTP: other.address.replace('127.0.0.1', '0.0.0.0') };
    expect(await commandHome({}).run(['healthcheck'], { env })).toMatchObject({ code: 0 });
  });

  test('healthcheck: needs no config file and creates no file', async () => {
    using other = await answering((_request, response) => {
      response.writeHead(204).end();
    });
    const home = commandHome();
    rmSync(home.configFile);
    const env = { TRUNKLINE_HTTP: other.address };
    expect(await home.run(['healthcheck'], { env })).toMatchObject({ code: 0 });
    expect(readdirSync(home.home)).toEqual([]);
  });

  test.each([500, 404, 302])(
    'healthcheck: exits with 4 and names the status for a %i response',
    async (status) => {
      using other = await answering((_request, response) => {
        response.writeHead(status, { Location: '/healthz' }).end('a long story');
      });
      const { code, stdout, stderr } = await commandHome({}).run(['healthcheck', `${other.url}/there`]);
      expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
      expect(stderr).toContain(`${other.url}/there answered with ${status}. [GATEWAY_UNAVAILABLE]`);
    },
  );

  test('healthcheck: exits with 4 for a refused connection', async () => {
    const refused = await answering(() => {});
    refused[Symbol.dispose]();
    expect(await commandHome({}).run(['healthcheck', refused.url])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('cannot be reached (ECONNREFUSED)'),
    });
  });

  test('healthcheck: exits with 4 after 5 seconds without an answer', { tags: ['slow'] }, async () => {
    using silent = await answering(() => {});
    expect(await commandHome({}).run(['healthcheck', silent.url])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining('did not answer within 5 s'),
    });
  });

  test.each(['nonsense', 'file:///etc/passwd', 'http://me:secret@127.0.0.1/'])(
    'healthcheck: rejects the URL %s',
    async (url) => {
      const { code, stderr } = await commandHome({}).run(['healthcheck', url]);
      expect(code).toBe(2);
      expect(stderr).not.toContain('secret');
    },
  );
});
