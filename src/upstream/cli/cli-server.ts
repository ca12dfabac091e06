import { Cancellation } from '../../lib/cancellation.ts';
import { Payload } from '../../lib/payload.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import { LEGACY_VERSIONS, NEWEST_LEGACY, RPC } from '../../wire/era.ts';
import { errorText, notificationText, resultText } from '../../wire/message.ts';
import type { MessageStream, Outgoing, StreamEvents } from '../../wire/stream.ts';
import { FORGET_HELP } from './forget-help.ts';

/** What stands behind the conversation: tools, and a way to run one. */
export interface CliBackend {
  readonly info: JsonObject;
  /** All definitions; the first time it may take a while. */
  list(): Promise<readonly JsonObject[]>;
  call(name: string, args: JsonObject, cancellation: Cancellation): Promise<JsonObject>;
  /** The next list is found out, and not what is remembered. */
  forget(): void;
  /** Ends what runs for the list. */
  close(): Promise<void>;
}

/** A very small MCP server in this process, at the other end of a stream that is nothing but function calls. */
export class CliServer implements MessageStream {
  readonly #backend: CliBackend;
  readonly #events: StreamEvents;
  readonly #running = new Map<
    number,
    { readonly cancellation: Cancellation; readonly done: Promise<void> }
  >();
  #closing: Promise<void> | undefined;

  constructor(backend: CliBackend, events: StreamEvents) {
    this.#backend = backend;
    this.#events = events;
  }

  send(message: Outgoing): void {
    if (message.kind !== 'request' || this.#closing !== undefined) return;
    const cancellation = new Cancellation();
    const done = this.#answer(message, cancellation).finally(() => this.#running.delete(message.id));
    this.#running.set(message.id, { cancellation, done });
  }

  abandon(id: number): boolean {
    this.#running.get(id)?.cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The call was given up.'));
    return true;
  }

  negotiated(): void {
    // Both ends are here.
  }

  /** Resolves when nothing runs any more. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const running = [...this.#running];
    for (const [id] of running) this.abandon(id);
    this.#events.closed(new Error('The connection was closed.'));
    await Promise.all([this.#backend.close(), ...running.map(([, { done }]) => done)]);
  }

  async #answer(request: Outgoing & { kind: 'request' }, cancellation: Cancellation): Promise<void> {
    const { id, method, params = {} } = request;
    let text: string;
    try {
      text = resultText(id, Payload.of(await this.#result(method, params, cancellation)));
    } catch (error) {
      if (cancellation.reason !== undefined) return;
      const body = {
        code: RPC.internalError,
        message: error instanceof Error ? error.message : String(error),
      };
      text = errorText(id, error instanceof RpcError ? error.body : body);
    }
    if (cancellation.reason === undefined) this.#events.message(text);
    // Whoever waited for the list has gone meanwhile; now there is one.
    else if (method === 'tools/list' && this.#closing === undefined)
      this.#events.message(notificationText('notifications/tools/list_changed', undefined));
  }

  async #result(method: string, params: JsonObject, cancellation: Cancellation): Promise<JsonObject> {
    await Promise.resolve(); // No transport answers before `send` has returned.
    switch (method) {
      case 'initialize': {
        const wanted = String(params['protocolVersion']);
        return {
          protocolVersion: LEGACY_VERSIONS.includes(wanted) ? wanted : NEWEST_LEGACY,
          capabilities: { tools: { listChanged: true } },
          serverInfo: this.#backend.info,
        };
      }
      case 'ping':
        return {};
      case FORGET_HELP:
        this.#backend.forget();
        return {};
      case 'tools/list':
        return { tools: await this.#backend.list() };
      case 'tools/call': {
        const { name, arguments: args = {} } = params;
        if (typeof name !== 'string' || !isJsonObject(args))
          throw new RpcError({
            code: RPC.invalidParams,
            message: 'A call needs a name, and arguments as an object.',
          });
        return this.#backend.call(name, args, cancellation);
      }
      default:
        throw new RpcError({ code: RPC.methodNotFound, message: `Unknown method: ${method}` });
    }
  }
}
