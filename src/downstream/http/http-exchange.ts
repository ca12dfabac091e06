import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Caller } from '../../core/caller.ts';
import type { Logger } from '../../observability/log.ts';
import { RPC_ERROR_CODES } from '../../protocol/era.ts';
import {
  isJsonType,
  readBody,
  refuseWhileSending,
  sendJson,
  sendRpcError,
} from '../../protocol/http/http-io.ts';
import { parseMessage, serializeError } from '../../protocol/rpc-message.ts';
import type { RpcMessage, RequestId } from '../../protocol/rpc-message.ts';
import type { ResponseLimits } from '../../protocol/http/sse-response.ts';
import type { OpenResponses } from './open-responses.ts';
import type { ConnectSession } from '../sessions/session-store.ts';
import type { Session } from '../sessions/session.ts';
import type { Sessions } from '../sessions/sessions.ts';

/** One HTTP request with its response. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  /** Headers to add to the response, such as those of CORS, as a flat list of names and values. */
  readonly headers: readonly string[];
}

export interface AuthenticatedExchange extends HttpExchange {
  readonly caller: Caller;
}

/** The dependencies of the streamable HTTP and the SSE endpoint. */
export interface EndpointDeps {
  readonly connect: ConnectSession;
  readonly sessions: Sessions;
  readonly open: OpenResponses;
  readonly limits: ResponseLimits;
  maxBodyBytes: number;
  readonly log: Logger;
}

export type PostedMessage =
  | Exclude<RpcMessage, { kind: 'invalid' }>
  | { readonly kind: 'batch'; readonly messages: readonly RpcMessage[] };

/** The only protocol version that has batches. */
const BATCH_VERSION = '2025-03-26';
const MAX_BATCH = 100;
/** A longer message is handled one turn of the event loop after it was parsed, so that other requests can run in between. */
const LARGE_MESSAGE_CHARS = 256 * 1024;

/** Reads the body of a POST and parses it; answers with an error if it is not a message. */
export function readMessage(
  exchange: AuthenticatedExchange,
  deps: EndpointDeps,
  onMessage: (message: PostedMessage, text: string) => void,
): void {
  const { request, response, headers } = exchange;
  if (!isJsonType(request.headers['content-type'])) {
    return sendRefusal(exchange, 415, 'The Content-Type of a message must be application/json.');
  }
  const { maxBodyBytes } = deps;
  readBody(request, maxBodyBytes, {
    onText: (text) => {
      const parsed = parseMessage(text);
      if (parsed.kind === 'garbage') sendNotJson(exchange);
      else if (parsed.kind === 'invalid') {
        sendRefusal(exchange, 400, `Not a JSON-RPC message: ${parsed.problem}.`, parsed.id);
      } else if (text.length > LARGE_MESSAGE_CHARS) setImmediate(() => onMessage(parsed, text));
      else onMessage(parsed, text);
    },
    onProblem: (problem) => {
      if (problem === 'not-utf8') return sendNotJson(exchange);
      const message = `A message may have at most ${maxBodyBytes} bytes. Send less, or raise http.maxBodyBytes.`;
      refuseWhileSending(request, response, {
        status: 413,
        text: serializeError(null, { code: RPC_ERROR_CODES.invalidRequest, message }),
        headers,
        maxBytes: maxBodyBytes,
      });
    },
  });
}

/** Returns why a batch must be rejected, or undefined if it is allowed. */
export function findBatchProblem(messages: readonly RpcMessage[], session: Session): string | undefined {
  if (session.protocol !== BATCH_VERSION)
    return `Only protocol version ${BATCH_VERSION} has batches; send one message per request.`;
  if (messages.length === 0) return 'A batch must not be empty.';
  return messages.length > MAX_BATCH ? `A batch may have at most ${MAX_BATCH} messages.` : undefined;
}

/** Rejects a request with an HTTP status. The body is a JSON-RPC error, because clients can show its message. */
export function sendRefusal(
  { response, headers }: HttpExchange,
  status: number,
  message: string,
  id: RequestId | null = null,
): void {
  sendRpcError(response, status, { id, body: { code: RPC_ERROR_CODES.invalidRequest, message }, headers });
}

export function sendBusy({ response, headers }: AuthenticatedExchange, id: RequestId | null = null): void {
  const body = {
    code: RPC_ERROR_CODES.internalError,
    message: 'All sessions are in use. Try again in a few seconds.',
  };
  sendRpcError(response, 503, { id, body, headers: [...headers, 'Retry-After', '5'] });
}

export function sendMethodNotAllowed({ response, headers }: AuthenticatedExchange, allowed: string): void {
  const body = { code: RPC_ERROR_CODES.invalidRequest, message: `Only ${allowed} is possible here.` };
  sendRpcError(response, 405, { id: null, body, headers: [...headers, 'Allow', allowed] });
}

/** Sends the same 404 whether the path does not exist or has nothing for this caller, so that it reveals nothing. */
export function sendNotFound(response: ServerResponse, headers: readonly string[] = []): void {
  sendJson(response, 404, { body: '{"error":"Not found. MCP is served at /mcp."}', headers });
}

export function sendText(response: ServerResponse, status: number, text: string): void {
  const length = String(Buffer.byteLength(text));
  response.writeHead(status, ['Content-Type', 'text/plain', 'Content-Length', length]);
  response.end(text);
}

function sendNotJson({ response, headers }: AuthenticatedExchange): void {
  const body = { code: RPC_ERROR_CODES.parseError, message: 'The body is not JSON.' };
  sendRpcError(response, 400, { id: null, body, headers });
}
