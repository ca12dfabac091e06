import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { expect, it } from 'vitest';

import { SseResponse } from './sse-response.ts';

it('SSE response: keeps a message with line breaks in one event', async () => {
  const server = createServer((_, response) => {
    const stream = new SseResponse(response, { maxBufferedBytes: 1000, onSlowClient: () => {} });
    stream.start(['X-More', '1']);
    stream.send('{\n"a":\r\n1}');
    stream.end();
    stream.send('too late');
    stream.tick();
    stream.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const answer = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  expect(answer.headers.get('x-more')).toBe('1');
  expect(await answer.text()).toBe('event: message\ndata: {\ndata: "a":\ndata: 1}\n\n');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
