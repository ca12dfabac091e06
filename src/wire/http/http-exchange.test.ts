import { describe, expect, test } from 'vitest';

import { answerJson, localServer, request, resultFor, streamTo } from './local-server.test-support.ts';

describe('a redirect', () => {
  test('within the origin is followed with the body, and a mere slash is remembered', async () => {
    const server = await localServer((got, response) => {
      if (got.path === '/mcp') response.writeHead(307, { Location: '/mcp/' }).end();
      else answerJson(response, resultFor(got.body.id));
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.messages.length === 1);
    stream.send(request(2));
    await events.until(() => events.messages.length === 2);
    expect(server.received.map((got) => got.path)).toEqual(['/mcp', '/mcp/', '/mcp/']);
  });

  test('that goes on for ever ends after three', async () => {
    const server = await localServer((got, response) => {
      response.writeHead(307, { Location: `${got.path}x` }).end('moved');
    });
    const { stream, events } = streamTo(server.url);
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ status: 307 });
    expect(server.received).toHaveLength(4);
  });

  test.each([307, 302])('to another origin with %i is refused and nothing is sent there', async (status) => {
    const other = await localServer((got, response) => answerJson(response, resultFor(got.body.id)));
    const server = await localServer((_got, response) => {
      response.writeHead(status, { Location: other.url }).end();
    });
    const { stream, events } = streamTo(server.url, { headers: () => ({ Authorization: 'secret' }) });
    stream.send(request(1));
    await events.until(() => events.failures.length === 1);
    expect(events.failures[0]?.error).toMatchObject({ status });
    expect(other.received).toEqual([]);
  });
});
