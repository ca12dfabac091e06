import { describe, expect, it } from 'vitest';

import { eventually } from '../../../test/support/eventually.ts';
import { TestRoutes } from '../../../test/support/mcp-routes.ts';
import { Payload } from '../../core/lib/payload.ts';
import type { IncomingRequest } from '../../protocol/client-connection.ts';

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };
const changed = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' };

function reporting(request: IncomingRequest): void {
  request.notify('notifications/progress', { progress: 1 });
  request.notify('notifications/progress', { progress: 2 });
  request.sendResult(Payload.of({ done: true }));
}

describe('JSON-RPC batches', () => {
  const batch = [call, changed, { ...call, id: 2 }, { id: 3 }];

  it('batch: is answered in a session of 2025-03-26', async () => {
    await using test = await TestRoutes.start();
    const session = await test.session('2025-03-26');
    const { status, headers, messages } = await test.post(batch, session);
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(messages).toMatchObject([
      { id: 1, result: {} },
      { id: 2, result: {} },
      { id: 3, error: { code: -32600 } },
    ]);
    expect(test.connections[0]?.notifications).toHaveLength(1);
    expect((await test.post([changed], session)).status).toBe(202);
  });

  it('batch: becomes a stream that starts with the responses given so far', async () => {
    await using test = await TestRoutes.start({ report: reporting });
    const session = await test.session('2025-03-26');
    const { messages } = await test.post(
      [call, { ...call, id: 2, method: 'report' }, { ...call, id: 3 }],
      session,
    );
    expect(messages.map(({ id, params }) => id ?? params)).toEqual([
      1,
      { progress: 1 },
      { progress: 2 },
      2,
      3,
    ]);
  });

  it('batch: is answered without the requests that were cancelled', async () => {
    const held: IncomingRequest[] = [];
    await using test = await TestRoutes.start({ slow: (request) => void held.push(request) });
    const session = await test.session('2025-03-26');
    const answer = test.post([call, { ...call, id: 2, method: 'slow' }], session);
    await eventually(() => held.length === 1);
    await test.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } }, session);
    expect((await answer).messages).toMatchObject([{ id: 1 }]);
  });

  it('batch: is rejected in other versions, when empty and when too large', async () => {
    await using test = await TestRoutes.start();
    const refused = { status: 400, messages: [{ id: null, error: { code: -32600 } }] };
    expect(await test.post(batch, await test.session('2025-06-18'))).toMatchObject(refused);
    expect(await test.post(batch, { 'mcp-protocol-version': '2026-07-28' })).toMatchObject(refused);
    const session = await test.session('2025-03-26');
    expect(await test.post([], session)).toMatchObject(refused);
    expect(
      await test.post(
        Array.from({ length: 101 }, () => call),
        session,
      ),
    ).toMatchObject(refused);
  });
});
