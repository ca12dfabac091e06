import { Payload } from '../core/lib/payload.ts';
import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import type { AdminCall, AdminContract, AdminQuestion, AdminRoute } from './contract/contract.ts';
import { readServerSentEvents } from './read-server-sent-events.ts';
import { fromAdminProblem } from './admin-problem.ts';

/**
 * A typed client of the admin API.
 *
 *     const client = createAdminClient((request) => fetch(request));
 *     const { servers } = await client.request('GET /api/status', {});
 */
export interface AdminClient {
  /** Sends a request. Rejects with the original error: a GatewayError with its code, or the RpcError of a server. */
  request<Route extends AdminRoute>(
    route: Route,
    input: AdminInput<Route>,
    options?: AdminRequestOptions,
  ): Promise<AdminContract[Route]['response']>;
  /** Like `request`, but returns the response with its original text. */
  requestPayload<Route extends AdminRoute>(
    route: Route,
    input: AdminInput<Route>,
    options?: AdminRequestOptions,
  ): Promise<Payload>;
  /** Calls a tool and reports its progress. */
  callTool(call: UndefinedAllowed<AdminCall>, options?: AdminCallOptions): Promise<Payload>;
}

/** Sends a request to the API: over a socket, or by calling the routes in this process. */
export type SendRequest = (request: Request) => Promise<Response>;

/** The path parameters, query and body of a route, merged into one object. */
export type AdminInput<Route extends AdminRoute> = PathParameters<Route> &
  (AdminContract[Route] extends { query: infer Query } ? UndefinedAllowed<Query> : object) &
  (AdminContract[Route] extends { body: infer Body } ? UndefinedAllowed<Body> : object);

/** Optional members may also be undefined, because requests omit undefined values. */
type UndefinedAllowed<Input> = {
  [Key in keyof Input]: object extends Pick<Input, Key> ? Input[Key] | undefined : Input[Key];
};

type PathParameters<Path> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? { readonly [key in Name]: string } & PathParameters<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? { readonly [key in Name]: string }
    : object;

export interface AdminRequestOptions {
  readonly signal?: AbortSignal | undefined;
}

export interface AdminCallOptions extends AdminRequestOptions {
  readonly onProgress?: (progress: JsonObject) => void;
  readonly onLog?: (message: JsonObject) => void;
  /** Called with the params of `elicitation/create` when the server requests input; resolves with the result. Without it, such requests are declined. */
  readonly onQuestion?: ((params: JsonObject) => Promise<JsonObject>) | undefined;
}

export function createAdminClient(send: SendRequest): AdminClient {
  const requestPayload: AdminClient['requestPayload'] = async (route, input, options = {}) => {
    const response = await send(createRequest(route, input, options));
    return readPayload(await response.text(), response.ok);
  };
  return {
    requestPayload,
    // The routes are compiled against the same contract, so the response has the type of the route.
    request: async (route, input, options) => (await requestPayload(route, input, options)).peek as never,
    async callTool(call, options = {}) {
      const { onProgress, onLog, onQuestion, signal } = options;
      const answer = async ({ id, params }: AdminQuestion): Promise<void> => {
        const result = (await onQuestion?.(params).catch(() => undefined)) ?? { action: 'cancel' };
        await requestPayload('POST /api/answer', { id, result }, options);
      };
      const request = createRequest('POST /api/call', { ...call, asks: onQuestion !== undefined }, options);
      request.headers.set('accept', 'text/event-stream');
      const response = await send(request);
      if (!response.ok || response.body === null) return readPayload(await response.text(), response.ok);
      for await (const { event, data } of readServerSentEvents(response.body)) {
        if (event === 'progress') onProgress?.(JSON.parse(data) as JsonObject);
        else if (event === 'log') onLog?.(JSON.parse(data) as JsonObject);
        // Not awaited, because further events arrive meanwhile. An error is ignored here: the gateway then fails the call and says why.
        else if (event === 'question') answer(JSON.parse(data) as AdminQuestion).catch(() => {});
        else return readPayload(data, event === 'result');
      }
      if (signal?.aborted === true) throw new GatewayError('CALL_CANCELLED', 'The call was cancelled.');
      throw new GatewayError(
        'GATEWAY_LOST',
        'The gateway stopped before it returned the result of the call.',
      );
    },
  };
}

function createRequest(route: AdminRoute, input: object, options: AdminRequestOptions): Request {
  const signal = options.signal ?? null;
  const [method = '', pattern = ''] = route.split(' ');
  const rest = new Map<string, unknown>(Object.entries(input));
  const path = pattern.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(formatValue(value));
  });
  const url = new URL(path, 'http://trunkline');
  if (method !== 'GET') {
    const body = Payload.of(Object.fromEntries(rest)).text;
    return new Request(url, { method, signal, body, headers: { 'content-type': 'application/json' } });
  }
  for (const [name, value] of rest) if (value !== undefined) url.searchParams.set(name, formatValue(value));
  return new Request(url, { method, signal });
}

function formatValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readPayload(text: string, isOk: boolean): Payload {
  let payload: Payload;
  try {
    payload = Payload.ofText(text);
  } catch (error) {
    throw new GatewayError('INVARIANT', 'The gateway sent a response that is not JSON.', { cause: error });
  }
  if (!isOk) throw fromAdminProblem(payload.peek);
  return payload;
}
