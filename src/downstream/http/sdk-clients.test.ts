import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';
import { sdkV1Client, sdkV2Client } from '../../../test/support/sdk-clients.ts';
import { Payload } from '../../core/lib/payload.ts';
import { isJsonObject } from '../../core/json.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

const capabilities = { tools: { listChanged: true } };
const serverInfo = { name: 'fake', version: '1' };
const tool = { name: 'echo', inputSchema: { type: 'object' } };
const cacheable = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

function call(request: IncomingRequest): void {
  const meta = request.params?.['_meta'];
  const progressToken = isJsonObject(meta) ? meta['progressToken'] : undefined;
  if (progressToken !== undefined)
    request.notify('notifications/progress', { progressToken, progress: 1, total: 2 });
  // The SDK loses a progress notification that arrives together with the response.
  setTimeout(() => {
    request.sendResult(Payload.of({ resultType: 'complete', content: [{ type: 'text', text: 'hello' }] }));
  }, 20);
}

const answers: Record<string, (request: IncomingRequest) => void> = {
  initialize: (request) => {
    const protocolVersion = request.params?.['protocolVersion'];
    request.sendResult(Payload.of({ protocolVersion, capabilities, serverInfo }));
  },
  'server/discover': (request) => {
    const supportedVersions = ['2026-07-28'];
    request.sendResult(
      Payload.of({
        ...cacheable,
        supportedVersions,
        capabilities,
        _meta: { 'io.modelcontextprotocol/serverInfo': serverInfo },
      }),
    );
  },
  'tools/list': (request) => request.sendResult(Payload.of({ ...cacheable, tools: [tool] })),
  'tools/call': call,
};
const content = [{ type: 'text', text: 'hello' }];

describe('official SDK clients', () => {
  it('SDK v1 client: lists, calls with progress and receives list changes in a session', async () => {
    await using test = await TestRoutes.start(answers);
    const client = await sdkV1Client({ url: test.url });
    expect((await client.listTools()).tools).toMatchObject([tool]);
    const progress: unknown[] = [];
    const result = await client.callTool({ name: 'echo' }, undefined, {
      onprogress: (one) => void progress.push(one),
    });
    expect(result.content).toEqual(content);
    expect(progress).toEqual([{ progress: 1, total: 2 }]);
    let changes = 0;
    client.fallbackNotificationHandler = () => {
      changes++;
      return Promise.resolve();
    };
    await eventually(() => {
      test.connections[0]?.channel.notify('notifications/tools/list_changed', undefined);
      return changes > 0;
    });
    await client.close();
  });

  it('SDK v1 client: cancels a call', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({
      ...answers,
      'tools/call': (request) => void held.push(request),
    });
    const client = await sdkV1Client({ url: test.url });
    const stop = new AbortController();
    const called = client.callTool({ name: 'echo' }, undefined, { signal: stop.signal });
    await eventually(() => held.length === 1);
    stop.abort();
    await expect(called).rejects.toThrow('aborted');
    await eventually(() => held[0]?.cancellation.reason !== undefined);
    await client.close();
  });

  it.each(['v1', 'v2'] as const)('SDK %s client: lists and calls over HTTP+SSE', async (sdk) => {
    await using test = await TestRoutes.start(answers);
    const target = { sse: new URL('/sse', test.listener.url).href };
    const client = sdk === 'v1' ? await sdkV1Client(target) : await sdkV2Client(target, { era: 'legacy' });
    expect((await client.listTools()).tools).toMatchObject([tool]);
    expect((await client.callTool({ name: 'echo' })).content).toEqual(content);
    await client.close();
    await eventually(() => test.connections[0]?.closed === 1);
  });

  it.each(['legacy', 'modern'] as const)(
    'SDK v2 client: lists and calls with progress in the %s protocol',
    async (era) => {
      await using test = await TestRoutes.start(answers);
      const client = await sdkV2Client({ url: test.url }, { era });
      expect((await client.listTools()).tools).toMatchObject([tool]);
      const progress: unknown[] = [];
      const onprogress = (one: unknown): void => void progress.push(one);
      const result = await client.callTool({ name: 'echo' }, { onprogress });
      expect(result.content).toEqual(content);
      expect(progress).toHaveLength(1);
      await client.close();
    },
  );

  it('SDK v2 client: cancels a modern request by closing its stream', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({
      ...answers,
      'tools/call': (request) => void held.push(request),
    });
    const client = await sdkV2Client({ url: test.url }, { era: 'modern' });
    const stop = new AbortController();
    const called = client.callTool({ name: 'echo' }, { signal: stop.signal });
    await eventually(() => held.length === 1);
    stop.abort();
    await expect(called).rejects.toThrow('aborted');
    await eventually(() => held[0]?.cancellation.reason !== undefined);
    await client.close();
  });
});
