import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import type { RpcErrorBody } from '../core/errors.ts';
import { parseExact, stringifyExact } from '../core/lib/exact-json.ts';
import { Payload } from '../core/lib/payload.ts';
import type { RawMessage } from './stdio/line-reader.ts';

/** The id as the other side sent it. An integer beyond 2^53 is a placeholder of `exact-json.ts`, which preserves its digits. */
export type RequestId = string | number;

export type RpcMessage =
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

/** The content of one line or one HTTP body: a message, a batch, or something that is not JSON. */
export type ParsedMessage =
  | RpcMessage
  | { readonly kind: 'batch'; readonly messages: readonly RpcMessage[] }
  | { readonly kind: 'garbage' };

// The two layouts of a response that are recognised without parsing the whole text.
const RESULT_FIRST = '{"result":';
const RESULT_FIRST_TAIL = ',"jsonrpc":"2.0","id":';
const ID_FIRST = '{"jsonrpc":"2.0","id":';
const ID_FIRST_RESULT = ',"result":';
/** Everything in a large response except its result must fit into this many bytes at each end. */
const HEAD_BYTES = 64;
const CLOSING_BRACE = 125;
const CLOSE = Buffer.from('}');
const PLAIN_METHOD = /^[\w/]+$/;

/** Parses one line or one HTTP body. Never throws: invalid messages are returned as `invalid`, other text as `garbage`. */
export function parseMessage(raw: RawMessage): ParsedMessage {
  const result = typeof raw === 'string' ? parseTextResult(raw) : parseLargeResult(raw);
  if (result !== undefined) return result;
  const text = raw.toString();
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
 * Recognises the two common layouts of a response. Only the result is parsed, which proves that it is a single JSON value with nothing
 * hidden after it. The text of the result is kept, so that it need not be serialized again.
 */
function parseTextResult(text: string): RpcMessage | undefined {
  if (text.startsWith(ID_FIRST)) {
    const at = text.indexOf(',', ID_FIRST.length);
    const id = parseInteger(text, ID_FIRST.length, at);
    if (id === undefined || !text.startsWith(ID_FIRST_RESULT, at) || !text.endsWith('}')) return undefined;
    return resultMessage(id, () => Payload.ofText(text.slice(at + ID_FIRST_RESULT.length, -1)));
  }
  if (text.startsWith(RESULT_FIRST)) {
    const at = text.lastIndexOf(RESULT_FIRST_TAIL);
    if (at < 0 || !text.endsWith('}')) return undefined;
    const id = parseInteger(text, at + RESULT_FIRST_TAIL.length, text.length - 1);
    if (id === undefined) return undefined;
    return resultMessage(id, () => Payload.ofText(text.slice(RESULT_FIRST.length, at)));
  }
  return undefined;
}

/** Does the same as `parseTextResult` for an undecoded line; decodes only the head and the tail. */
function parseLargeResult(line: Buffer): RpcMessage | undefined {
  if (line.at(-1) !== CLOSING_BRACE) return undefined;
  const head = line.toString('latin1', 0, HEAD_BYTES);
  if (head.startsWith(ID_FIRST)) {
    const at = head.indexOf(',', ID_FIRST.length);
    const id = parseInteger(head, ID_FIRST.length, at);
    if (id === undefined || !head.startsWith(ID_FIRST_RESULT, at)) return undefined;
    return resultMessage(id, () => Payload.ofBytes(line.subarray(at + ID_FIRST_RESULT.length, -1)));
  }
  if (!head.startsWith(RESULT_FIRST)) return undefined;
  const tail = line.toString('latin1', line.length - HEAD_BYTES);
  const at = tail.lastIndexOf(RESULT_FIRST_TAIL);
  const id = at < 0 ? undefined : parseInteger(tail, at + RESULT_FIRST_TAIL.length, tail.length - 1);
  if (id === undefined) return undefined;
  const end = line.length - HEAD_BYTES + at;
  return resultMessage(id, () => Payload.ofBytes(line.subarray(RESULT_FIRST.length, end)));
}

function resultMessage(id: number, payload: () => Payload): RpcMessage | undefined {
  try {
    return { kind: 'result', id, payload: payload() };
  } catch {
    return undefined; // Not a single JSON value; the general parser decides what it is.
  }
}

/** Parses a non-negative integer of at most 15 digits, which is always exact; returns undefined for anything else. */
function parseInteger(text: string, from: number, to: number): number | undefined {
  if (to <= from || to - from > 15) return undefined;
  if (text.charCodeAt(from) === 48 && to - from > 1) return undefined; // JSON allows no leading zero.
  let value = 0;
  for (let at = from; at < to; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return undefined;
    value = value * 10 + digit;
  }
  return value;
}

function readMessage(value: unknown): RpcMessage {
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
  return { kind: 'invalid', id, problem: 'neither a request nor a response' };
}

/** Accepts a malformed error, because the caller must get an outcome in any case. */
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

export function serializeRequest(id: RequestId, method: string, params: JsonObject | undefined): string {
  const rest = params === undefined ? '' : `,"params":${stringifyExact(params)}`;
  return `{"jsonrpc":"2.0","id":${formatId(id)},"method":${formatMethod(method)}${rest}}`;
}

/** Avoids `JSON.stringify` for names without special characters, which saves a quarter of the time to serialize a small request. */
function formatMethod(method: string): string {
  return PLAIN_METHOD.test(method) ? `"${method}"` : JSON.stringify(method);
}

export function serializeNotification(method: string, params: JsonObject | undefined): string {
  const rest = params === undefined ? '' : `,"params":${stringifyExact(params)}`;
  return `{"jsonrpc":"2.0","method":${formatMethod(method)}${rest}}`;
}

export function serializeResult(id: RequestId, payload: Payload): string {
  return `{"jsonrpc":"2.0","id":${formatId(id)},"result":${payload.text}}`;
}

function formatId(id: RequestId): string {
  return typeof id === 'number' ? String(id) : stringifyExact(id);
}

/** A serialized message; a large one consists of several buffers. */
export type EncodedMessage = string | readonly Buffer[];

/** Serializes a response. A result that is stored as bytes is not copied into a string. */
export function encodeResult(id: RequestId, payload: Payload): EncodedMessage {
  const { bytes } = payload;
  if (bytes === undefined) return serializeResult(id, payload);
  const head = `{"jsonrpc":"2.0","id":${stringifyExact(id)},"result":${bytes.before}`;
  return [Buffer.from(head), bytes.rest, CLOSE];
}

export function flattenMessage(encoded: EncodedMessage): string {
  return typeof encoded === 'string' ? encoded : Buffer.concat(encoded).toString('utf8');
}

export function serializeError(id: RequestId | null, error: RpcErrorBody): string {
  return `{"jsonrpc":"2.0","id":${stringifyExact(id)},"error":${stringifyExact(error)}}`;
}
