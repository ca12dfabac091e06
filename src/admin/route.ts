import type { Context, Hono } from 'hono';
import { Payload } from '../lib/payload.ts';
import type { Caller } from '../model/caller.ts';
import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { AdminContract, AdminRoute } from './contract/contract.ts';
import type { Proof } from './proof.ts';

/** Who asks is established by whoever hands the request over, from where it came in. */
export interface AdminEnv {
  Bindings: { readonly caller: Caller; readonly proof: Proof };
}
export type AdminApp = Hono<AdminEnv>;

/** What a route is given; `query` and `body` are unchecked, and read with the functions below. */
export interface Asked {
  readonly query: JsonObject;
  readonly body: JsonObject;
  readonly params: Readonly<Record<string, string>>;
  readonly caller: Caller;
  /** How the caller proved who it is, and whether a person sits there. */
  readonly proof: Proof;
  /** Aborted when whoever asks has gone away. */
  readonly signal: AbortSignal;
}

type Answer<Route extends AdminRoute> = AdminContract[Route]['answer'];

/** Adds a route of the contract; a payload is passed on as the text it came as. */
export function route<Route extends AdminRoute>(
  app: AdminApp,
  name: Route,
  answer: (asked: Asked) => Promise<Answer<Route> | Payload> | Answer<Route>,
): void {
  const [method = '', path = ''] = name.split(' ');
  app.on(method, path, async (context) => {
    const result = await answer(await askedIn(context));
    return jsonResponse(result instanceof Payload ? result.text : JSON.stringify(result));
  });
}

export async function askedIn(context: Context<AdminEnv>): Promise<Asked> {
  const { req, env } = context;
  return {
    query: req.query(),
    body: req.method === 'GET' ? {} : bodyOf(await req.text()),
    params: req.param(),
    caller: env.caller,
    proof: env.proof,
    signal: req.raw.signal,
  };
}

export function jsonResponse(text: string, status = 200): Response {
  return new Response(text, {
    status,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
  });
}

function bodyOf(text: string): JsonObject {
  if (text === '') return {};
  let value: unknown;
  try {
    // Numbers in arguments reach the server as they were written.
    value = Payload.ofText(text).value;
  } catch (error) {
    throw new GatewayError('USAGE', 'The body is not JSON.', { cause: error });
  }
  if (!isJsonObject(value)) throw new GatewayError('USAGE', 'The body must be a JSON object.');
  return value;
}

export function text(from: JsonObject, key: string): string {
  const value = from[key];
  if (typeof value !== 'string' || value === '') throw new GatewayError('USAGE', `"${key}" is missing.`);
  return value;
}

export function optionalText(from: JsonObject, key: string): string | undefined {
  return from[key] === undefined || from[key] === '' ? undefined : text(from, key);
}

export function optionalNumber(from: JsonObject, key: string): number | undefined {
  const value = from[key];
  if (value === undefined || value === '') return undefined;
  const number = Number(value);
  if (!Number.isFinite(number) || number < 0) throw new GatewayError('USAGE', `"${key}" must be a number.`);
  return number;
}

export function flag(from: JsonObject, key: string): boolean {
  const value = from[key];
  return value === true || value === 'true' || value === '1';
}

export function optionalObject(from: JsonObject, key: string): JsonObject | undefined {
  const value = from[key];
  if (value === undefined || isJsonObject(value)) return value;
  throw new GatewayError('USAGE', `"${key}" must be an object.`);
}
