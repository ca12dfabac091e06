import { isJsonObject } from '../../src/core/json.ts';
import type { JsonObject } from '../../src/core/json.ts';
import type { Era } from '../../src/core/server-facts.ts';
import type {
  ClientTransport,
  OutgoingMessage,
  TransportEvents,
} from '../../src/protocol/client-transport.ts';

/** One message as the server received it. */
export interface ReceivedMessage {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Handles a message: returning a value answers the request, undefined leaves it unanswered. */
export type MemoryServerScript = (heard: ReceivedMessage, server: MemoryServer) => JsonObject | undefined;

/** A server whose message stream consists of function calls. */
export class MemoryServer {
  readonly received: ReceivedMessage[] = [];
  readonly texts: string[] = [];
  readonly agreed: { readonly era: Era; readonly protocol: string }[] = [];
  readonly abandoned: number[] = [];
  /** Whether abandoning a request notifies the server, as it does over HTTP. */
  canAbandon = false;
  closes = 0;
  readonly #script: MemoryServerScript;
  #events: TransportEvents | undefined;

  constructor(script: MemoryServerScript = () => undefined) {
    this.#script = script;
  }

  /** Opens the transport; pass it to `Peer.over`. */
  readonly open = (events: TransportEvents): Promise<ClientTransport> => {
    this.#events = events;
    return Promise.resolve({
      send: (message) => this.#hear(message),
      abandon: (id) => {
        this.abandoned.push(id);
        return this.canAbandon;
      },
      setProtocol: (era, protocol) => void this.agreed.push({ era, protocol }),
      close: () => {
        this.closes++;
        this.#events?.onClosed(new Error('The stream was closed.'));
        return Promise.resolve();
      },
    });
  };

  /** Sends a message, or any text. */
  send(message: JsonObject | string): void {
    this.#events?.onMessage(
      typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message }),
    );
  }

  answer(id: number | string | undefined, result: unknown): void {
    this.send({ id, result });
  }

  /** Fails one request; the stream stays open. */
  fail(id: number, error: Error): void {
    this.#events?.onRequestFailed(id, error);
  }

  crash(error = new Error('The server closed its standard output.')): void {
    this.#events?.onClosed(error);
  }

  /** The received methods in order. */
  get methods(): readonly (string | undefined)[] {
    return this.received.map(({ method }) => method);
  }

  last(method: string): ReceivedMessage {
    const found = this.received.findLast((heard) => heard.method === method);
    if (found === undefined) throw new Error(`The server did not hear ${method}.`);
    return found;
  }

  #hear(message: OutgoingMessage): void {
    this.texts.push(message.text);
    const heard = JSON.parse(message.text) as ReceivedMessage;
    this.received.push(heard);
    const answer = this.#script(heard, this);
    if (answer === undefined || heard.id === undefined) return;
    // Asynchronously, because no transport answers before `send` has returned.
    queueMicrotask(() =>
      this.send(
        isJsonObject(answer['error']) ? { id: heard.id, ...answer } : { id: heard.id, result: answer },
      ),
    );
  }
}
