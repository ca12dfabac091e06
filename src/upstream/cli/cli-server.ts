import { Cancellation } from '../../core/lib/cancellation.ts';
import { Payload } from '../../core/lib/payload.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { LEGACY_VERSIONS, NEWEST_LEGACY_VERSION, RPC_ERROR_CODES } from '../../protocol/era.ts';
import { serializeError, serializeNotification, serializeResult } from '../../protocol/rpc-message.ts';
import type { ClientTransport, OutgoingMessage, TransportEvents } from '../../protocol/client-transport.ts';
import { FORGET_HELP_METHOD } from './forget-help-method.ts';

/** The tools of a program and the means to call them. */
export interface CliBackend {
  readonly info: JsonObject;
  /** Returns all tool definitions. The first call runs the program many times, for up to a minute. */
  list(): Promise<readonly JsonObject[]>;
  call(name: string, args: JsonObject, cancellation: Cancellation): Promise<JsonObject>;
  /** Makes the next `list` read the help texts again instead of the cache. */
  forget(): void;
  /** Ends the processes that run for `list`. */
  close(): Promise<void>;
}

/** A minimal MCP server in this process. It is its own transport: messages are passed by function calls. */
export class CliServer implements ClientTransport {
  readonly #backend: CliBackend;
  readonly #events: TransportEvents;
  readonly #running = new Map<
    number,
    { readonly cancellation: Cancellation; readonly done: Promise<void> }
  >();
  #closing: Promise<void> | undefined;

  constructor(backend: CliBackend, events: TransportEvents) {
    this.#backend = backend;
    this.#events = events;
  }

  send(message: OutgoingMessage): void {
    if (message.kind !== 'request' || this.#closing !== undefined) return;
    const cancellation = new Cancellation();
    const done = this.#respond(message, cancellation).finally(() => this.#running.delete(message.id));
    this.#running.set(message.id, { cancellation, done });
  }

  abandon(id: number): boolean {
    this.#running.get(id)?.cancellation.cancel(new GatewayError('CALL_CANCELLED', 'The call was cancelled.'));
    return true;
  }

  setProtocol(): void {
    // The server always speaks the legacy protocol.
  }

  /** Resolves when all processes have ended. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const running = [...this.#running];
    for (const [id] of running) this.abandon(id);
    this.#events.onClosed(new Error('The connection was closed.'));
    await Promise.all([this.#backend.close(), ...running.map(([, { done }]) => done)]);
  }

  async #respond(request: OutgoingMessage & { kind: 'request' }, cancellation: Cancellation): Promise<void> {
    const { id, method, params = {} } = request;
    let text: string;
    try {
      text = serializeResult(id, Payload.of(await this.#handle(method, params, cancellation)));
    } catch (error) {
      if (cancellation.reason !== undefined) return;
      const body = {
        code: RPC_ERROR_CODES.internalError,
        message: error instanceof Error ? error.message : String(error),
      };
      text = serializeError(id, error instanceof RpcError ? error.body : body);
    }
    if (cancellation.reason === undefined) this.#events.onMessage(text);
    // The request for the list was cancelled, for example by a timeout. The notification makes the gateway request the list again.
    else if (method === 'tools/list' && this.#closing === undefined)
      this.#events.onMessage(serializeNotification('notifications/tools/list_changed', undefined));
  }

  async #handle(method: string, params: JsonObject, cancellation: Cancellation): Promise<JsonObject> {
    await Promise.resolve(); // A transport must not respond before `send` has returned.
    switch (method) {
      case 'initialize': {
        const requested = String(params['protocolVersion']);
        return {
          protocolVersion: LEGACY_VERSIONS.includes(requested) ? requested : NEWEST_LEGACY_VERSION,
          capabilities: { tools: { listChanged: true } },
          serverInfo: this.#backend.info,
        };
      }
      case 'ping':
        return {};
      case FORGET_HELP_METHOD:
        this.#backend.forget();
        return {};
      case 'tools/list':
        return { tools: await this.#backend.list() };
      case 'tools/call': {
        const { name, arguments: args = {} } = params;
        if (typeof name !== 'string' || !isJsonObject(args))
          throw new RpcError({
            code: RPC_ERROR_CODES.invalidParams,
            message: 'tools/call requires a name, and arguments must be an object.',
          });
        return this.#backend.call(name, args, cancellation);
      }
      default:
        throw new RpcError({ code: RPC_ERROR_CODES.methodNotFound, message: `Unknown method: ${method}` });
    }
  }
}
