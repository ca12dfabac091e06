import { Buffer, isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { ChunkCollector } from '../../core/lib/chunk-collector.ts';
import type { RpcErrorBody } from '../../core/errors.ts';
import { serializeError } from '../rpc-message.ts';
import type { RequestId, EncodedMessage } from '../rpc-message.ts';

export interface AcceptedTypes {
  readonly json: boolean;
  readonly events: boolean;
}

const BOTH: AcceptedTypes = { json: true, events: true };
const ZERO_QUALITY = /;\s*q=0(?:\.0*)?\s*$/;

/** Returns which of the two response types the client accepts. A missing header means both. */
export function readAccept(header: string | undefined): AcceptedTypes {
  if (header === undefined || header === 'application/json, text/event-stream') return BOTH;
  let json = false;
  let events = false;
  for (const part of header.toLowerCase().split(',')) {
    if (ZERO_QUALITY.test(part)) continue;
    const type = mediaType(part);
    if (type === '*/*') return BOTH;
    if (type === 'application/json' || type === 'application/*') json = true;
    if (type === 'text/event-stream' || type === 'text/*') events = true;
  }
  return { json, events };
}

export function isJsonType(header: string | undefined): boolean {
  if (header === undefined) return false;
  return header === 'application/json' || mediaType(header.toLowerCase()) === 'application/json';
}

function mediaType(text: string): string {
  const end = text.indexOf(';');
  return (end < 0 ? text : text.slice(0, end)).trim();
}

/** Why a request body was rejected. */
type BodyProblem = 'too-large' | 'not-utf8';

/** Reads a request body. Calls `onText` or `onProblem` once, or neither if the client disconnects before the end. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  handler: { readonly onText: (text: string) => void; readonly onProblem: (problem: BodyProblem) => void },
): void {
  // Node has validated Content-Length and ensures that the body is not longer.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return handler.onProblem('too-large');
  let first: Buffer | undefined;
  let all: ChunkCollector | undefined;
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > maxBytes) {
      request.off('data', onData).off('end', onEnd);
      handler.onProblem('too-large');
    } else if (first === undefined) first = chunk;
    else {
      if (all === undefined) (all = new ChunkCollector()).add(first);
      all.add(chunk);
    }
  };
  const onEnd = (): void => {
    const bytes = all?.take() ?? first;
    if (bytes === undefined) handler.onText('');
    else if (isUtf8(bytes)) handler.onText(bytes.toString('utf8'));
    else handler.onProblem('not-utf8');
  };
  request.on('data', onData).on('end', onEnd);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  content: { readonly body: EncodedMessage; readonly headers: readonly string[] },
): void {
  const { body, headers } = content;
  response.writeHead(status, jsonHeaders(body, headers));
  if (typeof body === 'string') return endWith(response, body);
  response.cork();
  for (const part of body) response.write(part);
  response.end();
}

/** Ends the response with one plain write, because `end(text)` writes a second, empty part, which takes 1 µs more. */
function endWith(response: ServerResponse, text: string): void {
  const { socket } = response;
  // A pipelined response has no socket while it waits behind another response on its connection.
  if (socket === null) return void response.end(text);
  socket.cork();
  response.write(text);
  socket.uncork();
  response.end();
}

export function sendEmpty(response: ServerResponse, status: number, headers: readonly string[]): void {
  response.writeHead(status, status === 204 ? [...headers] : ['Content-Length', '0', ...headers]);
  response.end();
}

export function sendRpcError(
  response: ServerResponse,
  status: number,
  error: { readonly id: RequestId | null; readonly body: RpcErrorBody; readonly headers: readonly string[] },
): void {
  sendJson(response, status, { body: serializeError(error.id, error.body), headers: error.headers });
}

/**
 * Sends an error while the client is still sending its body. Closing at once would reset the connection before the client has read the
 * error, so up to `maxBytes` of the rest are read and dropped.
 */
export function refuseWhileSending(
  request: IncomingMessage,
  response: ServerResponse,
  refusal: {
    readonly status: number;
    readonly text: string;
    readonly headers: readonly string[];
    readonly maxBytes: number;
  },
): void {
  const { status, text, headers, maxBytes } = refusal;
  response.writeHead(status, jsonHeaders(text, [...headers, 'Connection', 'close']));
  response.write(text);
  let left = maxBytes;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) response.end();
  });
  request.on('end', () => response.end());
}

/** Calls `onClosed` once when the response has ended, whether it was completed or not. */
export function onResponseClosed(response: ServerResponse, onClosed: () => void): void {
  if (response.destroyed) return process.nextTick(onClosed);
  if (response.socket !== null) {
    response.on('close', onClosed);
    return;
  }
  // A pipelined response waits behind another response on its connection. Node reports a disconnect only to the first response.
  const { socket } = response.req;
  const once = (): void => {
    socket.off('close', once);
    response.off('close', once);
    onClosed();
  };
  socket.on('close', once);
  response.on('close', once);
}

function jsonHeaders(body: EncodedMessage, headers: readonly string[]): string[] {
  const bytes =
    typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, part) => sum + part.length, 0);
  const head = ['Content-Type', 'application/json', 'Content-Length', String(bytes)];
  return headers.length === 0 ? head : [...head, ...headers];
}
