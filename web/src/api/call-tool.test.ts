import { expect, test, vi } from 'vitest';

import { createApi } from './api.ts';
import { callTool } from './call-tool.ts';

function apiThatStreams(...chunks: readonly string[]) {
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
      controller.close();
    },
  });
  return createApi({ fetch: async () => new Response(body), onSignedOut: () => {} });
}

const { signal } = new AbortController();

test('tool call: delivers progress events and returns the result for any chunking', async () => {
  const api = apiThatStreams(
    ': hello\n\nevent: prog',
    'ress\r\ndata: {"progress":1}\r\n',
    '\r\nevent: result\ndata: {"content":[]}\n\n',
  );
  const onEvent = vi.fn<(event: object) => void>();
  expect(await callTool(api, { name: 'a' }, { signal, onEvent })).toMatchObject({
    result: { content: [] },
    text: '{"content":[]}',
  });
  expect(onEvent.mock.calls).toEqual([[{ event: 'progress', data: { progress: 1 } }]]);
});

test('tool call: rejects with the error of the call', async () => {
  const error = { code: 'CALL_TIMEOUT', message: 'It took too long.', details: {} };
  const api = apiThatStreams(`event: error\ndata: ${JSON.stringify({ error })}\n\n`);
  await expect(callTool(api, { name: 'a' }, { signal })).rejects.toMatchObject({
    code: 'CALL_TIMEOUT',
    message: 'It took too long.',
  });
});

test('tool call: rejects when the stream ends early', async () => {
  const api = apiThatStreams('event: progress\ndata: {}\n\n');
  await expect(callTool(api, { name: 'a' }, { signal })).rejects.toMatchObject({ code: 'GATEWAY_LOST' });
});
