import { Buffer, isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { RpcErrorBody } from '../../model/errors.ts';
import { errorText } from '../message.ts';
import type { RequestId, Written } from '../message.ts';

export interface Accepts {
  readonly json: boolean;
  readonly events: boolean;
}

const BOTH: Accepts = { json: true, events: true };
const NEVER = /;\s*q=0(?:\.0*)?\s*$/;

/** What the client can read of the two forms an answer can have; lenient, since many clients say too little. */
export function readAccept(header: string | undefined): Accepts {
  if (header === undefined || header === 'application/json, text/event-stream') return BOTH;
  let json = false;
  let events = false;
  for (const part of header.toLowerCase().split(',')) {
    if (NEVER.test(part)) continue;
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

export type BodyProblem = 'too-large' | 'not-utf8';

/** Calls one of the two once, or neither when the client goes away in the middle. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  then: { readonly read: (text: string) => void; readonly refused: (problem: BodyProblem) => void },
): void {
  // Node has checked that it is a number and that no more comes.
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return then.refused('too-large');
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  const onData = (chunk: Buffer): void => {
    size += chunk.length;
    if (size > maxBytes) {
      request.off('data', onData).off('end', onEnd);
      then.refused('too-large');
    } else if (first === undefined) first = chunk;
    else if (more === undefined) more = [first, chunk];
    else more.push(chunk);
  };
  const onEnd = (): void => {
    const bytes = more === undefined ? first : Buffer.concat(more, size);
    if (bytes === undefined) then.read('');
    else if (isUtf8(bytes)) then.read(bytes.toString('utf8'));
    else then.refused('not-utf8');
  };
  request.on('data', onData).on('end', onEnd);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  answer: { readonly body: Written; readonly headers: readonly string[] },
): void {
  const { body, headers } = answer;
  response.writeHead(status, jsonHead(body, headers));
  if (typeof body === 'string') return endWith(response, body);
  response.cork();
  for (const part of body) response.write(part);
  response.end();
}

/** By one plain write: `end` with a text makes two parts of it, the second one empty, which takes 1 µs more to send. */
function endWith(response: ServerResponse, text: string): void {
  const { socket } = response;
  // Behind another response of its connection.
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
  sendJson(response, status, { body: errorText(error.id, error.body), headers: error.headers });
}

/**
 * Answers while the client is still sending. Closing at once would reset the connection before the client has read
 * why, so the rest is thrown away within a bound.
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
  response.writeHead(status, jsonHead(text, [...headers, 'Connection', 'close']));
  response.write(text);
  let left = maxBytes;
  request.on('data', (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) response.end();
  });
  request.on('end', () => response.end());
}

/** Calls once when the response is over, completed or not. */
export function whenClosed(response: ServerResponse, closed: () => void): void {
  if (response.destroyed) return process.nextTick(closed);
  if (response.socket !== null) {
    response.on('close', closed);
    return;
  }
  // Behind another response of its connection; Node tells only the first of them that the client is gone.
  const { socket } = response.req;
  const once = (): void => {
    socket.off('close', once);
    response.off('close', once);
    closed();
  };
  socket.on('close', once);
  response.on('close', once);
}

function jsonHead(body: Written, headers: readonly string[]): string[] {
  const bytes =
    typeof body === 'string' ? Buffer.byteLength(body) : body.reduce((sum, part) => sum + part.length, 0);
  const head = ['Content-Type', 'application/json', 'Content-Length', String(bytes)];
  return headers.length === 0 ? head : [...head, ...headers];
}
