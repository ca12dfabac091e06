import { expect } from 'vitest';

import { rpcErrorOf } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
const acknowledged = 'notifications/subscriptions/acknowledged';

/** Opens a subscription and returns the part that the server accepted. */
async function listening(client: RawClient, notifications: JsonObject): Promise<unknown> {
  const answer = client.notifications.next(({ method }) => method === acknowledged);
  void client.request('subscriptions/listen', { notifications }, { withinMs: 600_000 }).catch(() => {});
  return (await answer).params['notifications'];
}

const news = (client: RawClient): readonly JsonObject[] =>
  client.notifications.all
    .filter(({ method }) => method === 'notifications/tasks')
    .map(({ params }) => params);

scenario(
  'task: sends notifications of a modern task only to clients that subscribed to it',
  {
    downstream: ['http/modern', 'stdio/modern'],
    upstream: ['stdio/modern', 'http/modern'],
    pairing: 'every',
  },
  async (cell) => {
    await using line = await cell.open({ one: ['dialect'] }, { capabilities });
    const { client } = line;
    const begin = async (): Promise<string> =>
      String(((await client.callTool('one__begin')) as unknown as JsonObject)['taskId']);
    const [followed, other] = [await begin(), await begin()];
    const taskIds = [followed, 'of nobody', followed, 7];
    expect(await listening(client, { taskIds })).toEqual({ taskIds: [followed] });
    const log = line.logs['one']!;
    const asked = (): unknown[] => log.of('listen').map((event) => (event['asked'] as JsonObject)['taskIds']);
    await eventually(() => expect(asked()).toContainEqual([followed]));
    for (const taskId of [other, followed]) await client.callTool('one__finish', { taskId });
    await eventually(() => expect(news(client)).toHaveLength(1));
    expect(news(client)[0]).toMatchObject({
      taskId: followed,
      status: 'completed',
      _meta: { 'io.modelcontextprotocol/subscriptionId': expect.anything() as unknown },
    });
    expect(await rpcErrorOf(client.request('tasks/get', { taskId: 'of nobody' }))).toMatchObject({
      code: -32602,
    });
    if (cell.downstream !== 'http/modern') return;
    // Other callers are not notified; another listener of the same task is.
    const second = await line.another({ capabilities });
    expect(await listening(second, { toolsListChanged: true })).toEqual({ toolsListChanged: true });
    const third = await line.another({ capabilities });
    expect(await listening(third, { taskIds: [followed] })).toEqual({ taskIds: [followed] });
    await client.callTool('one__finish', { taskId: followed });
    await eventually(() => expect([news(client).length, news(third).length]).toEqual([2, 1]));
    expect(news(second)).toEqual([]);
    // The server received one subscription for all listeners.
    expect(asked().filter((ids) => ids !== undefined)).toEqual([[followed]]);
  },
);
