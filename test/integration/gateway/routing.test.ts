import { expect } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { type NamedClient, openManyClients, manyCapabilities } from '../../support/many-clients.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { everyLeg, overHttp, scenario, type ScenarioCell } from '../../support/scenario.ts';

checkLeaks();

const CLIENTS = 50;
const STEPS = 5;
const KINDS = ['elicitation/create', 'roots/list', 'sampling/createMessage'];
const entries = { one: { limits: { concurrency: 200, waiting: 1000 } } };
const updated = 'notifications/resources/updated';

const told = ({ client }: NamedClient, method: string): readonly JsonObject[] =>
  client.notifications.all.filter((one) => one.method === method).map(({ params }) => params);

// Over HTTP every upstream call has its own stream, so log messages can be assigned to a call as well.
scenario(
  'routing: sends progress and log messages of three clients only to their own client',
  { downstream: ['http/legacy'], upstream: overHttp },
  (cell) => expectOwnMessages(cell, 3),
);

scenario(
  'routing: sends progress and log messages of 50 clients only to their own client',
  { slow: true, downstream: ['http/legacy'], upstream: everyLeg },
  (cell) => expectOwnMessages(cell, CLIENTS),
);

scenario(
  'routing: sends server requests to the right one of 50 clients and returns its answers',
  { slow: true, downstream: ['http/legacy'], upstream: ['http/legacy', 'http/modern', 'stdio/modern'] },
  async (cell) => {
    await using line = await cell.open({ one: ['talks-to-all'] }, { entries });
    const everybody = await openManyClients(line.gateway, CLIENTS);
    const answered = await Promise.all(everybody.map((one) => one.call('one__ask')));
    for (const [at, one] of everybody.entries()) {
      const { who, questions: asked } = one;
      expect(JSON.parse(answered[at] ?? '')).toEqual({
        who,
        answers: {
          form: { action: 'accept', content: { name: who } },
          model: { role: 'assistant', model: 'm', content: { type: 'text', text: who } },
          roots: { roots: [{ uri: `file:///${who}` }] },
        },
      });
      expect(asked.map(({ method }) => method).toSorted()).toEqual(KINDS);
      expect(asked.filter((question) => question.for !== who && question.method !== 'roots/list')).toEqual(
        [],
      );
    }
    await closed(everybody);
  },
);

scenario(
  'routing: subscribes once per resource and notifies exactly the subscribers of 50 clients',
  { downstream: ['http/legacy'], upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['talks-to-all'] }, { entries });
    const everybody = await openManyClients(line.gateway, CLIENTS);
    const wanted = (at: number): readonly string[] => [`news:///${at % 5}`, 'news:///9'];
    await everybody[0]?.client.listTools();
    await Promise.all(everybody.map(({ client }, at) => client.listen(wanted(at))));
    const uris = ['news:///0', 'news:///1', 'news:///2', 'news:///3', 'news:///4', 'news:///9'];
    await eventually(() => expect(subscribedUpstream(line.logs['one']!.all())).toEqual(uris));
    // A resource without subscribers changes, too.
    for (const uri of [...uris, 'news:///7']) await everybody[0]?.call('one__touch', { uri });
    const heard = (one: NamedClient) => told(one, updated).map(({ uri }) => uri);
    await eventually(() => expect(everybody.map(heard)).toEqual(everybody.map((_, at) => wanted(at))));
    // There is one subscription per resource, and it ends with its last listener.
    expect(line.logs['one']?.of('subscribe').length).toBe(cell.upstream.endsWith('modern') ? 0 : uris.length);
    await closed(everybody);
    await eventually(() => expect(subscribedUpstream(line.logs['one']!.all())).toEqual([]));
  },
);

scenario(
  'routing: cancels exactly the calls that their clients cancel, with 50 clients',
  { downstream: ['http/legacy'], upstream: everyLeg },
  async (cell) => {
    await using line = await cell.open({ one: ['talks-to-all'] }, { entries, config: { shutdown: '50ms' } });
    const everybody = await openManyClients(line.gateway, CLIENTS);
    const controllers = everybody.map(() => new AbortController());
    const waiting = everybody.map(({ client, who }, at) =>
      client.callTool('one__wait', { who }, { signal: controllers[at]!.signal, withinMs: 20_000 }).then(
        () => 'answered',
        () => 'ended',
      ),
    );
    await eventually(() => expect(line.logs['one']?.of('call')).toHaveLength(CLIENTS), { withinMs: 10_000 });
    const given = everybody.filter((_, at) => at % 2 === 0).map(({ who }) => who);
    for (const [at, controller] of controllers.entries()) if (at % 2 === 0) controller.abort();
    const gaveUp = () =>
      line.logs['one']
        ?.of('gave-up')
        .map(({ who }) => String(who))
        .toSorted();
    await eventually(() => expect(gaveUp()).toEqual(given.toSorted()));
    // All other calls still wait, and further calls are served.
    expect(await Promise.all(everybody.map((one) => one.call('one__talk', { steps: 1 })))).toHaveLength(
      CLIENTS,
    );
    expect(gaveUp()).toEqual(given.toSorted());
    for (const controller of controllers) controller.abort();
    expect(await Promise.all(waiting)).toEqual(everybody.map(() => 'ended'));
    await closed(everybody);
  },
);

async function closed(everybody: readonly NamedClient[]): Promise<void> {
  // No client received a response to a request of another.
  expect(everybody.flatMap(({ client }) => client.strays.all)).toEqual([]);
  await Promise.all(everybody.map((one) => one[Symbol.asyncDispose]()));
}

/** Returns the URIs that the server considers subscribed, from the requests it received. */
function subscribedUpstream(events: readonly JsonObject[]): readonly string[] {
  const uris = new Map<string, number>();
  for (const { event, uri, asked } of events) {
    if (event === 'subscribe') uris.set(String(uri), (uris.get(String(uri)) ?? 0) + 1);
    if (event === 'unsubscribe') uris.delete(String(uri));
    if (event !== 'listen') continue;
    uris.clear();
    for (const one of ((asked as JsonObject)['resourceSubscriptions'] ?? []) as string[])
      uris.set(one, (uris.get(one) ?? 0) + 1);
  }
  expect([...uris.values()].filter((count) => count > 1)).toEqual([]);
  return [...uris.keys()].toSorted();
}

/** Lets many clients call at once, and expects that each receives only its own progress and log messages. */
async function expectOwnMessages(cell: ScenarioCell, clients: number): Promise<void> {
  // The first client supports as much as the others, so the server is not started again for them.
  const options = { entries, capabilities: manyCapabilities };
  await using line = await cell.open({ one: ['talks-to-all'] }, options);
  const everybody = await openManyClients(line.gateway, clients);
  // All clients use the same progress token, so the gateway must replace it.
  const talked = everybody.map((one) => one.call('one__talk', { steps: STEPS }, { progressToken: 1 }));
  expect(await Promise.all(talked)).toEqual(everybody.map(({ who }) => `for ${who}`));
  for (const one of everybody) {
    const expected = Array.from({ length: STEPS }, (_, at) => [1, at + 1, `for ${one.who}`]);
    const progress = told(one, 'notifications/progress');
    expect(
      progress.map(({ progressToken, progress: step, message }) => [progressToken, step, message]),
    ).toEqual(expected);
    const logged = told(one, 'notifications/message').map(({ data }) => data);
    expect(logged.filter((data) => (data as JsonObject)['for'] !== one.who)).toEqual([]);
    // If all calls share one stream, a log message can be assigned only while there is a single call.
    if (cell.upstream.startsWith('http')) expect(logged).toHaveLength(STEPS);
  }
  expect(line.logs['one']?.of('started')).toHaveLength(1);
  expect(line.logs['one']?.of('call')).toHaveLength(clients);
  await closed(everybody);
}
