import { RawClient } from '../support/raw-client.ts';
import type { JsonObject, Message, RawClientOptions } from '../support/raw-messages.ts';
import type { RawTransport } from '../support/raw-transports.ts';

/** A request of a client, with the result that a correct gateway returns. */
interface ReceivedRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
  readonly tag: string;
  readonly honest: JsonObject;
}

/** Returns the messages to send instead of the correct ones, or undefined to behave correctly this time. */
export type IncorrectBehaviour = (told: ReceivedRequest) => readonly JsonObject[] | undefined;

/** Connects clients to an in-memory gateway that behaves correctly except where `lie` says otherwise. */
export function connectIncorrectGateway(
  lie: IncorrectBehaviour,
): (options: RawClientOptions & { readonly open: false }) => Promise<RawClient> {
  return ({ open: _, ...options }) => RawClient.over(transport(lie), options);
}

function transport(lie: IncorrectBehaviour): RawTransport {
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
      // Asynchronously, like a real pipe.
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

function news({ params }: ReceivedRequest): readonly JsonObject[] {
  if (params['name'] !== 'steady__touch') return [];
  return [{ method: 'notifications/resources/updated', params: { uri: 'soak://alone-steady/changing' } }];
}
