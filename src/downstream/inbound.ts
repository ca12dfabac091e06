import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Caller } from '../model/caller.ts';
import type { Logger } from '../observe/log.ts';
import { RPC } from '../wire/era.ts';
import { isJsonType, readBody, refuseWhileSending, sendRpcError } from '../wire/http/http-server.ts';
import { errorText, parseMessage } from '../wire/message.ts';
import type { Message, RequestId } from '../wire/message.ts';
import type { StreamLimits } from '../wire/http/sse-server.ts';
import type { OpenResponses } from './open-responses.ts';
import type { Connect } from './sessions/kept-session.ts';
import type { Session } from './sessions/session.ts';
import type { Sessions } from './sessions/sessions.ts';

/** One HTTP request at the door. */
export interface Arriving {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly path: string;
  /** Go with every response: who may read it across origins. */
  readonly headers: readonly string[];
}

/** One that passed it. */
export interface Inbound extends Arriving {
  readonly caller: Caller;
}

/** What the endpoints share. */
export interface EndpointDeps {
  readonly connect: Connect;
  readonly sessions: Sessions;
  readonly open: OpenResponses;
  readonly limits: StreamLimits;
  maxBodyBytes: number;
  readonly log: Logger;
}

export type Posted =
  | Exclude<Message, { kind: 'invalid' }>
  | { readonly kind: 'batch'; readonly messages: readonly Message[] };

/** The only revision that had batches. */
const BATCH_VERSION = '2025-03-26';
const MAX_BATCH = 100;

/** Reads and parses the body of a POST; refuses what is no message. */
export function readPosted(
  inbound: Inbound,
  deps: EndpointDeps,
  then: (message: Posted, text: string) => void,
): void {
  const { request, response, headers } = inbound;
  if (!isJsonType(request.headers['content-type'])) {
    return refuse(inbound, 415, 'The Content-Type of a message must be application/json.');
  }
  const { maxBodyBytes } = deps;
  readBody(request, maxBodyBytes, {
    read: (text) => {
      const parsed = parseMessage(text);
      if (parsed.kind === 'garbage') refuseText(inbound);
      else if (parsed.kind === 'invalid') {
        refuse(inbound, 400, `Not a JSON-RPC message: ${parsed.problem}.`, parsed.id);
      } else then(parsed, text);
    },
    refused: (problem) => {
      if (problem === 'not-utf8') return refuseText(inbound);
      const body = { code: RPC.invalidRequest, message: `A message may have at most ${maxBodyBytes} bytes.` };
      refuseWhileSending(request, response, {
        status: 413,
        text: errorText(null, body),
        headers,
        maxBytes: maxBodyBytes,
      });
    },
  });
}

/** Undefined when the batch may be worked on. */
export function batchProblem(messages: readonly Message[], session: Session): string | undefined {
  if (session.protocol !== BATCH_VERSION) return `Batches exist in protocol version ${BATCH_VERSION} only.`;
  if (messages.length === 0) return 'A batch must not be empty.';
  return messages.length > MAX_BATCH ? `A batch may hold at most ${MAX_BATCH} messages.` : undefined;
}

/** A refusal for reasons of HTTP; its body is JSON-RPC because that is what clients can show. */
export function refuse(
  inbound: Arriving,
  status: number,
  message: string,
  id: RequestId | null = null,
): void {
  const { response, headers } = inbound;
  sendRpcError(response, status, { id, body: { code: RPC.invalidRequest, message }, headers });
}

export function refuseBusy(inbound: Inbound, id: RequestId | null = null): void {
  const body = { code: RPC.internalError, message: 'All sessions are in use.' };
  sendRpcError(inbound.response, 503, { id, body, headers: [...inbound.headers, 'Retry-After', '5'] });
}

export function refuseMethod(inbound: Inbound, allowed: string): void {
  const body = { code: RPC.invalidRequest, message: `Only ${allowed} is possible here.` };
  sendRpcError(inbound.response, 405, { id: null, body, headers: [...inbound.headers, 'Allow', allowed] });
}

function refuseText(inbound: Inbound): void {
  const body = { code: RPC.parseError, message: 'The body is not JSON.' };
  sendRpcError(inbound.response, 400, { id: null, body, headers: inbound.headers });
}
