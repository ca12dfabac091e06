import type { FixtureEvent } from '../../support/fixture-log.ts';
import { type StdioEntry, fixture, fixtureLog } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import type { JsonObject } from '../../support/raw-messages.ts';
import { HttpSender } from './http-sender.ts';
import type { ServerCall } from './requests.ts';
import type { ClientKind, ServerName } from './traffic.ts';
import type { ReceivedCall, TrafficTarget } from './traffic-target.ts';

const HTTP: readonly ClientKind[] = ['http', 'http-batching', 'sse', 'http-modern'];

/** Opens the built gateway over HTTP or stdio, with servers as its child processes. */
export async function openProcessTarget(over: 'http' | 'stdio'): Promise<TrafficTarget> {
  const entries = {
    one: { ...fixture('plain', '--era', 'legacy'), passMeta: ['example.com/*'] },
    two: { ...fixture('plain', '--era', 'modern'), passMeta: ['example.com/*'] },
  };
  const config = { startup: { listWait: '60s' }, shutdown: '100ms' };
  const gateway = await startGateway({ mcpServers: entries, listen: over, config });
  // The first list waits until every server is listed, so the other clients see all names.
  const first = await gateway.client();
  await first.listTools();
  const heard = (): readonly ReceivedCall[] => [
    ...heardBy('one', entries.one),
    ...heardBy('two', entries.two),
  ];
  if (over === 'stdio') {
    const from = first.rawLines.length;
    return {
      kinds: ['stdio'],
      send: (_number, { text }) => void first.sendText(text),
      hangUp: () => {},
      received: () => first.rawLines.slice(from),
      heard,
      async [Symbol.asyncDispose]() {
        await first.close();
        await gateway[Symbol.asyncDispose]();
      },
    };
  }
  const http = new HttpSender(gateway.url, HTTP);
  for (const [at, kind] of HTTP.entries())
    await http.open(at, kind === 'http-batching' ? '2025-03-26' : '2025-11-25');
  return {
    kinds: HTTP,
    send: (number, sent) => http.send(number, sent),
    hangUp: (number) => http.hangUp(number),
    received: (client) => http.received(client),
    heard,
    async [Symbol.asyncDispose]() {
      http.close();
      await first.close();
      await gateway[Symbol.asyncDispose]();
    },
  };
}

function heardBy(server: ServerName, entry: StdioEntry): readonly ReceivedCall[] {
  const events = fixtureLog(entry).all();
  const cancelled = new Set(events.filter(({ event }) => event === 'cancelled').map(({ id }) => id));
  return events.flatMap((event) => {
    const call = callOf(event);
    if (call === undefined) return [];
    const { meta } = event;
    return [
      {
        server,
        ...call,
        isCancelled: cancelled.has(event['id'] ?? 'no id'),
        // Servers log the metadata of tool calls only.
        meta: (meta as JsonObject | undefined) ?? { 'example.com/tag': call.tag },
      },
    ];
  });
}

function callOf(event: FixtureEvent): Pick<ServerCall, 'kind' | 'tag'> | undefined {
  const args = (event['arguments'] ?? {}) as JsonObject;
  switch (event.event) {
    case 'call':
      return { kind: event['tool'] as ServerCall['kind'], tag: String(args['text'] ?? args['tag']) };
    case 'prompt':
      return { kind: 'prompt', tag: String(args['name']) };
    case 'read':
      return { kind: 'read', tag: String(event['uri']).split('/').at(-1) ?? '' };
    case 'complete':
      return { kind: 'complete', tag: String((event['argument'] as JsonObject)['value']) };
    default:
      return undefined;
  }
}
