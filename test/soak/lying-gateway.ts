import { RawClient } from '../support/raw-client.ts';
import type { JsonObject, Message, RawClientOptions } from '../support/raw-messages.ts';
import type { RawTransport } from '../support/raw-transports.ts';

/** One request of a client, and what an honest gateway says to it. */
interface Told {
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
  readonly tag: string;
  readonly honest: JsonObject;
}

/** What is said instead, as whole messages; undefined to be honest this time. */
export type Lie = (told: Told) => readonly JsonObject[] | undefined;

/** A client at a gateway in memory that says what a real one would, but for its lies. */
export function lyingGateway(
  lie: Lie,
): (options: RawClientOptions & { readonly open: false }) => Promise<RawClient> {
  return ({ open: _, ...options }) => RawClient.over(transport(lie), options);
}

function transport(lie: Lie): RawTransport {
  let take: (text: string) => void = () => {};
  return {
    kind: 'stdio',
    async start(deliver) {
      take = deliver;
    },
    async send(text) {
      const { id, method, params = {} } = JSON.parse(text) as Message;
      if (id === undefined || id === null || method === undefined) return;
      const args = (params['arguments'] ?? {}) as { readonly tag?: string };
      const tag = args.tag ?? '';
      const told = { id, method, params, tag, honest: honestly(method, params, tag) };
      const messages = lie(told) ?? [...news(told), { id, result: told.honest }];
      // Later, as from a pipe.
      setImmediate(() => {
        for (const message of messages) take(JSON.stringify({ jsonrpc: '2.0', ...message }));
      });
    },
    async close() {},
  };
}

function honestly(method: string, params: JsonObject, tag: string): JsonObject {
  if (method === 'initialize') return { protocolVersion: '2025-11-25', capabilities: {} };
  if (method === 'tools/list') return { tools: [{ name: 'steady__do' }] };
  if (method === 'resources/read') return { contents: [{ uri: params['uri'], text: 'now' }] };
  return method === 'tools/call' ? { content: [{ type: 'text', text: tag }] } : {};
}

function news({ params }: Told): readonly JsonObject[] {
  if (params['name'] !== 'steady__touch') return [];
  return [{ method: 'notifications/resources/updated', params: { uri: 'soak://alone-steady/changing' } }];
}
