import type { Context, Hono } from 'hono';
import { Payload } from '../core/lib/payload.ts';
import type { Caller } from '../core/caller.ts';
import { GatewayError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { AdminAuthentication } from './admin-authentication.ts';
import type { AdminContract, AdminRoute } from './contract/contract.ts';

/** The environment of the routes. The listener that accepts a request authenticates it and supplies these values. */
export interface AdminEnv {
  Bindings: { readonly caller: Caller; readonly authentication: AdminAuthentication };
}
export type AdminApp = Hono<AdminEnv>;

/** The input of a route handler. `query` and `body` are not validated; read them with the functions below. */
export interface AdminRequest {
  readonly query: JsonObject;
  readonly body: JsonObject;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
  readonly authentication: AdminAuthentication;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

type RouteResponse<Route extends AdminRoute> = AdminContract[Route]['response'];

/**
 * Adds a route of the contract. A handler that returns a `Payload` responds with its original text.
 *
 *     addRoute(app, 'GET /api/health', () => ({ version, pid }));
 */
export function addRoute<Route extends AdminRoute>(
  app: AdminApp,
  name: Route,
  handler: (request: AdminRequest) => Promise<RouteResponse<Route> | Payload> | RouteResponse<Route>,
): void {
  const [method = '', path = ''] = name.split(' ');
  app.on(method, path, async (context) => {
    const result = await handler(await readRequest(context));
    return jsonResponse(result instanceof Payload ? result.text : JSON.stringify(result));
  });
}

export async function readRequest(context: Context<AdminEnv>): Promise<AdminRequest> {
  const { req, env } = context;
  return {
    query: req.query(),
    body: req.method === 'GET' ? {} : parseBody(await req.text()),
    params: req.param(),
    caller: env.caller,
    authentication: env.authentication,
    signal: req.raw.signal,
  };
}

function parseBody(text: string): JsonObject {
  if (text === '') return {};
  let value: unknown;
  try {
    // A payload keeps the digits of numbers, so tool arguments reach the server as they were written.
    value = Payload.ofText(text).value;
  } catch (error) {
    throw new GatewayError('USAGE', 'The request body is not valid JSON.', { cause: error });
  }
  if (!isJsonObject(value)) throw new GatewayError('USAGE', 'The request body must be a JSON object.');
  return value;
}

export function jsonResponse(text: string, status = 200): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}

export function eventStreamResponse(body: ReadableStream<Uint8Array>): Response {
  return new Response(body, {
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
  });
}

export function acceptsEventStream({ req }: Context<AdminEnv>): boolean {
  return (req.header('accept') ?? '').includes('text/event-stream');
}

export function requireText(input: JsonObject, key: string): string {
  const value = input[key];
  if (typeof value !== 'string' || value === '') throw new GatewayError('USAGE', `"${key}" is missing.`);
  return value;
}

export function readText(input: JsonObject, key: string): string | undefined {
  return input[key] === undefined || input[key] === '' ? undefined : requireText(input, key);
}

export function readNumber(input: JsonObject, key: string): number | undefined {
  const value = input[key];
  if (value === undefined || value === '') return undefined;
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0)
    throw new GatewayError('USAGE', `"${key}" must be a number of at least 0.`);
  return number;
}

export function readFlag(input: JsonObject, key: string): boolean {
  const value = input[key];
  return value === true || value === 'true' || value === '1';
}

export function readObject(input: JsonObject, key: string): JsonObject | undefined {
  const value = input[key];
  if (value === undefined || isJsonObject(value)) return value;
  throw new GatewayError('USAGE', `"${key}" must be an object.`);
}
