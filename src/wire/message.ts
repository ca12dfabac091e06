import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { RpcErrorBody } from '../model/errors.ts';
import { parseExact, stringifyExact } from '../lib/exact-json.ts';
import { Payload } from '../lib/payload.ts';
import type { Line } from './stdio/frame-lines.ts';

/** Ids of a peer are kept as they came; beyond 2^53 they are exact-number stand-ins. */
export type RequestId = string | number;

export type Message =
  | {
      readonly kind: 'request';
      readonly id: RequestId;
      readonly method: string;
      readonly params: JsonObject | undefined;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: JsonObject | undefined }
  | { readonly kind: 'result'; readonly id: RequestId; readonly payload: Payload }
  | { readonly kind: 'error'; readonly id: RequestId | null; readonly error: RpcErrorBody }
  | { readonly kind: 'invalid'; readonly id: RequestId | null; readonly problem: string };

/** What one line or one body holds: one message, a batch, or something that is not JSON. */
export type Parsed =
  | Message
  | { readonly kind: 'batch'; readonly messages: readonly Message[] }
  | { readonly kind: 'garbage' };

const RESULT_FIRST = '{"result":';
const RESULT_FIRST_TAIL = ',"jsonrpc":"2.0","id":';
const ID_FIRST = '{"jsonrpc":"2.0","id":';
const ID_FIRST_RESULT = ',"result":';
/** The longest beginning or end of an answer that is not its result. */
const HEAD_BYTES = 64;
const CLOSING_BRACE = 125;
const PLAIN_METHOD = /^[\w/]+$/;

export function parseMessage(line: Line): Parsed {
  const fast = typeof line === 'string' ? parseResult(line) : largeResult(line);
  if (fast !== undefined) return fast;
  const text = line.toString();
  let value: unknown;
  try {
    value = parseExact(text);
  } catch {
    return { kind: 'garbage' };
  }
  if (Array.isArray(value)) return { kind: 'batch', messages: value.map(readMessage) };
  return readMessage(value);
}

/**
 * The two spellings of an answer that servers really write. Only the result is parsed, which proves that it is one
 * whole value with nothing smuggled in behind it, and its text is kept so that it need not be written anew.
 */
function parseResult(text: string): Message | undefined {
  if (text.startsWith(ID_FIRST)) {
    const at = text.indexOf(',', ID_FIRST.length);
    const id = plainInteger(text, ID_FIRST.length, at);
    if (id === undefined || !text.startsWith(ID_FIRST_RESULT, at) || !text.endsWith('}')) return undefined;
    return resultOf(id, () => Payload.ofText(text.slice(at + ID_FIRST_RESULT.length, -1)));
  }
  if (text.startsWith(RESULT_FIRST)) {
    const at = text.lastIndexOf(RESULT_FIRST_TAIL);
    if (at < 0 || !text.endsWith('}')) return undefined;
    const id = plainInteger(text, at + RESULT_FIRST_TAIL.length, text.length - 1);
    if (id === undefined) return undefined;
    return resultOf(id, () => Payload.ofText(text.slice(RESULT_FIRST.length, at)));
  }
  return undefined;
}

/** The same for a line that was not decoded; what is decoded of it is its head and its tail. */
function largeResult(line: Buffer): Message | undefined {
  if (line.at(-1) !== CLOSING_BRACE) return undefined;
  const head = line.toString('latin1', 0, HEAD_BYTES);
  if (head.startsWith(ID_FIRST)) {
    const at = head.indexOf(',', ID_FIRST.length);
    const id = plainInteger(head, ID_FIRST.length, at);
    if (id === undefined || !head.startsWith(ID_FIRST_RESULT, at)) return undefined;
    return resultOf(id, () => Payload.ofBytes(line.subarray(at + ID_FIRST_RESULT.length, -1)));
  }
  if (!head.startsWith(RESULT_FIRST)) return undefined;
  const tail = line.toString('latin1', line.length - HEAD_BYTES);
  const at = tail.lastIndexOf(RESULT_FIRST_TAIL);
  const id = at < 0 ? undefined : plainInteger(tail, at + RESULT_FIRST_TAIL.length, tail.length - 1);
  if (id === undefined) return undefined;
  const end = line.length - HEAD_BYTES + at;
  return resultOf(id, () => Payload.ofBytes(line.subarray(RESULT_FIRST.length, end)));
}

function resultOf(id: number, payload: () => Payload): Message | undefined {
  try {
    return { kind: 'result', id, payload: payload() };
  } catch {
    return undefined; // Not one value: the careful way decides what it is.
  }
}

function plainInteger(text: string, from: number, to: number): number | undefined {
  if (to <= from || to - from > 15) return undefined;
  if (text.charCodeAt(from) === 48 && to - from > 1) return undefined; // Not JSON.
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

function readMessage(value: unknown): Message {
  if (!isJsonObject(value)) return { kind: 'invalid', id: null, problem: 'a message must be an object' };
  const id = readId(value['id']);
  if (value['jsonrpc'] !== '2.0') return { kind: 'invalid', id, problem: 'jsonrpc must be "2.0"' };
  const method = value['method'];
  if (typeof method === 'string') {
    const params = value['params'];
    if (params !== undefined && !isJsonObject(params)) {
      return { kind: 'invalid', id, problem: 'params must be an object' };
    }
    if (!('id' in value)) return { kind: 'notification', method, params };
    if (id === null) return { kind: 'invalid', id, problem: 'id must be a string or a number' };
    return { kind: 'request', id, method, params };
  }
  if ('method' in value) return { kind: 'invalid', id, problem: 'method must be a string' };
  const error = value['error'] ?? undefined;
  if (error !== undefined) return { kind: 'error', id, error: readError(error) };
  if (id !== null && 'result' in value) return { kind: 'result', id, payload: Payload.of(value['result']) };
  return { kind: 'invalid', id, problem: 'neither a request nor an answer' };
}

/** Whoever waits for the answer must be told, however badly the error is written. */
function readError(error: unknown): RpcErrorBody {
  const body: JsonObject = isJsonObject(error) ? error : { message: error };
  const { code, message } = body;
  return {
    ...body,
    code: typeof code === 'number' ? code : -32603,
    message: typeof message === 'string' ? message : 'error without a message',
  };
}

function readId(value: unknown): RequestId | null {
  return typeof value === 'string' || typeof value === 'number' ? value : null;
}

export function requestText(id: RequestId, method: string, params: JsonObject | undefined): string {
  const rest = params === undefined ? '' : `,"params":${stringifyExact(params)}`;
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${methodText(method)}${rest}}`;
}

/** Without the engine's quoting where there is nothing to escape: a quarter of what writing a small request takes. */
function methodText(method: string): string {
  return PLAIN_METHOD.test(method) ? `"${method}"` : JSON.stringify(method);
}

export function notificationText(method: string, params: JsonObject | undefined): string {
  const rest = params === undefined ? '' : `,"params":${stringifyExact(params)}`;
  return `{"jsonrpc":"2.0","method":${methodText(method)}${rest}}`;
}

export function resultText(id: RequestId, payload: Payload): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${payload.text}}`;
}

function idText(id: RequestId): string {
  return typeof id === 'number' ? String(id) : stringifyExact(id);
}

/** A message on its way out: large ones are bytes, in parts that belong together. */
export type Written = string | readonly Buffer[];

export function writtenResult(id: RequestId, payload: Payload): Written {
  const { bytes } = payload;
  if (bytes === undefined) return resultText(id, payload);
  const head = `{"jsonrpc":"2.0","id":${stringifyExact(id)},"result":${bytes.before}`;
  return [Buffer.from(head), bytes.rest, CLOSE];
}

export function textOf(written: Written): string {
  return typeof written === 'string' ? written : Buffer.concat(written).toString('utf8');
}

const CLOSE = Buffer.from('}');

export function errorText(id: RequestId | null, error: RpcErrorBody): string {
  return `{"jsonrpc":"2.0","id":${stringifyExact(id)},"error":${stringifyExact(error)}}`;
}
