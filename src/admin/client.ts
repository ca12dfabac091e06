import { Payload } from '../lib/payload.ts';
import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { AdminCall, AdminContract, AdminQuestion, AdminRoute } from './contract/contract.ts';
import { eventsIn } from './event-reader.ts';
import { errorOf } from './problem.ts';

/** How a request reaches the API: over a socket, or by a call in this very process. */
export type Send = (request: Request) => Promise<Response>;

type Parameters<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [key in Name]: string } & Parameters<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { readonly [key in Name]: string }
    : object;

/** What goes into a request: parts of the path, query and body, as far as the route has them. */
export type AdminInput<Route extends AdminRoute> = Parameters<Route> &
  (AdminContract[Route] extends { query: infer Query } ? Query : object) &
  (AdminContract[Route] extends { body: infer Body } ? Body : object);

export interface AskOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface CallOptions extends AskOptions {
  readonly onProgress?: (progress: JsonObject) => void;
  readonly onLog?: (message: JsonObject) => void;
  /** Answers a form of the server, as a result of `elicitation/create`; without it such questions are declined. */
  readonly onQuestion?: ((params: JsonObject) => Promise<JsonObject>) | undefined;
}

export interface AdminClient {
  /** Errors come back as they were: a GatewayError with its code, or the RpcError of a server. */
  ask<Route extends AdminRoute>(
    route: Route,
    input: AdminInput<Route>,
    options?: AskOptions,
  ): Promise<AdminContract[Route]['answer']>;
  /** The same for what servers answer, with the text as it came. */
  pass<Route extends AdminRoute>(
    route: Route,
    input: AdminInput<Route>,
    options?: AskOptions,
  ): Promise<Payload>;
  /** Calls a tool and hears of its progress. */
  call(call: AdminCall, options?: CallOptions): Promise<Payload>;
}

export function adminClient(send: Send): AdminClient {
  const pass = async (route: AdminRoute, input: object, options: AskOptions = {}): Promise<Payload> => {
    const response = await send(requestFor(route, input, options));
    return payloadOf(await response.text(), response.ok);
  };
  return {
    pass,
    // The contract is what the routes are compiled against.
    ask: async (route, input: object, options) => (await pass(route, input, options)).peek as never,
    async call(call, options = {}) {
      const { onQuestion } = options;
      const answer = async ({ id, params }: AdminQuestion): Promise<void> => {
        const result = (await onQuestion?.(params).catch(() => undefined)) ?? { action: 'cancel' };
        await pass('POST /api/answer', { id, result }, options);
      };
      const request = requestFor('POST /api/call', { ...call, asks: onQuestion !== undefined }, options);
      request.headers.set('accept', 'text/event-stream');
      const response = await send(request);
      if (!response.ok || response.body === null) return payloadOf(await response.text(), response.ok);
      for await (const { event, data } of eventsIn(response.body)) {
        if (event === 'progress') options.onProgress?.(JSON.parse(data) as JsonObject);
        else if (event === 'log') options.onLog?.(JSON.parse(data) as JsonObject);
        // Not awaited: what else the call tells must be heard; when the answer cannot be given, the call itself tells why.
        else if (event === 'question') answer(JSON.parse(data) as AdminQuestion).catch(() => {});
        else return payloadOf(data, event === 'result');
      }
      if (options.signal?.aborted === true)
        throw new GatewayError('CALL_CANCELLED', 'The call was given up.');
      throw new GatewayError('GATEWAY_LOST', 'The gateway ended before the call was answered.');
    },
  };
}

function requestFor(route: AdminRoute, input: object, { signal }: AskOptions): Request {
  const [method = '', pattern = ''] = route.split(' ');
  const rest = new Map<string, unknown>(Object.entries(input));
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(text(value));
  });
  const url = new URL(path, 'http://trunkline');
  const init = { method, ...(signal !== undefined && { signal }) };
  if (method !== 'GET') {
    const body = Payload.of(Object.fromEntries(rest)).text;
    return new Request(url, { ...init, body, headers: { 'content-type': 'application/json' } });
  }
  for (const [name, value] of rest) if (value !== undefined) url.searchParams.set(name, text(value));
  return new Request(url, init);
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function payloadOf(text: string, isOk: boolean): Payload {
  let payload: Payload;
  try {
    payload = Payload.ofText(text);
  } catch (error) {
    throw new GatewayError('INVARIANT', 'The gateway gave an answer that is not JSON.', { cause: error });
  }
  if (!isOk) throw errorOf(payload.peek);
  return payload;
}
