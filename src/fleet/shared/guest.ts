import { Cancellation } from '../../lib/cancellation.ts';
import { Payload } from '../../lib/payload.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import { isJsonObject } from '../../model/json.ts';
import type { JsonObject } from '../../model/json.ts';
import type { ServerFacts } from '../../model/server-facts.ts';
import { watchedBy } from '../../model/watched.ts';
import type { Upstream } from '../../upstream/upstream.ts';
import { withoutEnvelope } from '../../wire/envelope.ts';
import type { Line } from '../../wire/stdio/frame-lines.ts';
import { errorText, notificationText, parseMessage, writtenResult } from '../../wire/message.ts';
import type { Message } from '../../wire/message.ts';
import type { Channel, ChannelEvents } from '../channel.ts';
import { problemOf } from '../problem.ts';
import { readGuest } from './about.ts';
import type { AboutHost } from './about.ts';
import { GuestClient } from './guest-client.ts';
import { GuestQuestions } from './guest-questions.ts';
import { GuestWishes } from './guest-wishes.ts';

type Request = Message & { readonly kind: 'request' };

interface GuestOptions {
  /** Unlike that of any other guest. */
  readonly id: string;
  readonly channel: Channel;
  /** What it was told of the server. */
  readonly facts: ServerFacts;
  /** The server, for as long as this gateway runs it; undefined when it does not, or is about to stop. */
  readonly upstream: () => Upstream | undefined;
  /** A request begins; tell when it is over. */
  readonly begin: () => () => void;
  readonly onClosed: () => void;
}

/** Another gateway that uses a server which this one runs: passes on what it asks, and what the server asks and tells its clients. */
export class Guest implements ChannelEvents {
  readonly facts: ServerFacts;
  readonly #options: GuestOptions;
  readonly #running = new Map<
    number,
    { readonly cancellation: Cancellation; readonly client?: GuestClient }
  >();
  readonly #questions = new GuestQuestions();
  readonly #wishes: GuestWishes;
  #isClosed = false;

  constructor(options: GuestOptions) {
    this.#options = options;
    this.facts = options.facts;
    this.#wishes = new GuestWishes(options.id);
  }

  said(about: unknown, body: Line): void {
    if (isJsonObject(about) && typeof about['left'] === 'number') {
      this.#running.get(about['left'])?.client?.onLeft?.();
      return;
    }
    const message = parseMessage(body);
    switch (message.kind) {
      case 'request':
        void this.#serve(message, about);
        return;
      case 'notification':
        if (message.method === 'notifications/cancelled') this.#cancel(message.params);
        else this.#notify(message.method, message.params);
        return;
      case 'result':
      case 'error':
        this.#questions.answered(message);
        return;
      default: // Nothing of ours.
    }
  }

  closed(error: Error): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const { cancellation } of this.#running.values()) cancellation.cancel(error);
    this.#questions.close(error);
    this.#wishes.forget(this.#options.upstream());
    this.#options.onClosed();
  }

  /** Sends it away; it looks for whoever runs the server by then. */
  close(reason: Error): void {
    this.#options.channel.close(reason);
    this.closed(reason);
  }

  listChanged(): void {
    this.#tell({}, 'notifications/tools/list_changed', undefined);
  }

  /** Of a resource or a task, where it wants to know of it. */
  news(params: JsonObject): void {
    if (!this.#wishes.has(watchedBy(params))) return;
    const isTask = typeof params['uri'] !== 'string';
    this.#tell({}, isTask ? 'notifications/tasks' : 'notifications/resources/updated', params);
  }

  async #serve(request: Request, about: unknown): Promise<void> {
    const { id } = request;
    if (typeof id !== 'number' || this.#isClosed) return;
    const upstream = this.#options.upstream();
    // Not a byte of it has reached the server: it can be sent to the next one who runs it.
    if (upstream === undefined) return this.#say({ unsent: id });
    const cancellation = new Cancellation();
    const client = this.#clientOf(id, about);
    this.#running.set(id, { cancellation, ...(client && { client }) });
    const over = this.#options.begin();
    try {
      const payload = await this.#answer(request, { upstream, cancellation, client });
      if (cancellation.reason === undefined) this.#say({ answers: id }, writtenResult(id, payload));
    } catch (error) {
      if (cancellation.reason !== undefined) return;
      if (error instanceof RpcError) this.#say({ answers: id }, errorText(id, error.body));
      else this.#say({ failed: id }, JSON.stringify(problemOf(error)));
    } finally {
      this.#running.delete(id);
      over();
    }
  }

  async #answer(
    { id, method, params = {} }: Request,
    how: {
      readonly upstream: Upstream;
      readonly cancellation: Cancellation;
      readonly client: GuestClient | undefined;
    },
  ): Promise<Payload> {
    const { upstream, cancellation, client } = how;
    const wished = this.#wishes.take(
      { id: Number(id), method, params },
      { upstream, cancellation, behind: client },
    );
    if (wished !== undefined) return Payload.of(await wished);
    const meta = params['_meta'];
    const token = isJsonObject(meta) ? meta['progressToken'] : undefined;
    const onProgress = (progress: JsonObject): void =>
      this.#tell({ during: Number(id) }, 'notifications/progress', { ...progress, progressToken: token });
    return upstream.request(method, withoutEnvelope(params), {
      cancellation,
      behind: client,
      ...(token !== undefined && { onProgress }),
    });
  }

  #notify(method: string, params: JsonObject | undefined): void {
    const connected = this.#options.upstream()?.connected(new Cancellation());
    connected?.then((connection) => connection.notify(method, params)).catch(() => {}); // Nobody waits for it.
  }

  #clientOf(id: number, about: unknown): GuestClient | undefined {
    const guest = readGuest(about);
    if (guest === undefined) return undefined;
    return new GuestClient(guest, {
      ask: (method, params, cancellation) => {
        if (this.#isClosed) throw gone();
        return this.#questions.ask({ method, params }, cancellation, (text) =>
          this.#say({ during: id }, text),
        );
      },
      tell: (method, params) => this.#tell({ during: id }, method, params),
    });
  }

  #cancel(params: JsonObject | undefined): void {
    const id = params?.['requestId'];
    if (typeof id !== 'number') return;
    const reason = typeof params?.['reason'] === 'string' ? params['reason'] : 'The client gave up.';
    this.#running.get(id)?.cancellation.cancel(new GatewayError('CALL_CANCELLED', reason));
  }

  #tell(about: AboutHost, method: string, params: JsonObject | undefined): void {
    this.#say(about, notificationText(method, params));
  }

  #say(about: AboutHost, body?: Parameters<Channel['say']>[1]): void {
    if (!this.#isClosed) this.#options.channel.say(about, body);
  }
}

function gone(): GatewayError {
  return new GatewayError('REPLICA_AWAY', 'The gateway of the client that would have to be asked is gone.');
}
