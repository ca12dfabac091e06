import { describe, expect, test } from 'vitest';

import {
  answerJson,
  startLocalServer,
  request,
  resultFor,
  openTransport,
} from './local-server.test-support.ts';

describe('redirects', () => {
  test('redirect: is followed within the origin, and a trailing slash is remembered', async () => {
    const server = await startLocalServer((got, response) => {
      if (got.path === '/mcp') response.writeHead(307, { Location: '/mcp/' }).end();
      else answerJson(response, resultFor(got.body.id));
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.messages.length === 1);
    transport.send(request(2));
    await events.until(() => events.messages.length === 2);
    expect(server.received.map((got) => got.path)).toEqual(['/mcp', '/mcp/', '/mcp/']);
  });

  test('redirect: fails after three in a row', async () => {
    const server = await startLocalServer((got, response) => {
      response.writeHead(307, { Location: `${got.path}x` }).end('moved');
    });
    const { transport, events } = openTransport(server.url);
    transport.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ status: 307 });
    expect(server.received).toHaveLength(4);
  });

  test.each([307, 302])(
    'redirect: is refused to another origin with %i, and nothing is sent there',
    async (status) => {
      const other = await startLocalServer((got, response) => answerJson(response, resultFor(got.body.id)));
      const server = await startLocalServer((_got, response) => {
        response.writeHead(status, { Location: other.url }).end();
      });
      const { transport, events } = openTransport(server.url, {
        headers: () => ({ Authorization: 'secret' }),
      });
      transport.send(request(1));
      await events.until(() => events.failures.length === 1);
      expect(events.failures[0]?.error).toMatchObject({ status });
      expect(other.received).toEqual([]);
    },
  );
});
