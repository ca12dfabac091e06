import type { IncomingMessage } from 'node:http';

import { isJsonObject } from '../../core/json.ts';
import { isSuccess } from './http-client-request.ts';
import { serializeError, parseMessage } from '../rpc-message.ts';
import { UnexpectedResponseError, HttpStatusError } from '../client-transport.ts';

/** Returns the JSON-RPC message in a complete HTTP response, or an error if it holds none. */
export function parseHttpResponse(id: number, response: IncomingMessage, text: string): string | Error {
  const status = response.statusCode ?? 0;
  if (isSuccess(response)) {
    const message = findResponseText(id, text);
    if (message !== undefined) return message;
    const kind = text === '' ? 'nothing' : (response.headers['content-type'] ?? 'text of an unnamed type');
    return new UnexpectedResponseError(`HTTP ${status} with ${kind}`);
  }
  const isRefusal = isRequestRefusal(status);
  // The sign-in needs the headers of a 401 or 403, so a JSON-RPC error in its body is ignored.
  const message = status === 401 || status === 403 ? undefined : findErrorText(id, text, isRefusal);
  return message ?? new HttpStatusError(status, response.headers, text);
}

/** Returns whether a status refuses this request. Other statuses concern the endpoint or are temporary, even if the body is an error. */
function isRequestRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 405 && status !== 408 && status !== 429;
}

/**
 * Returns the text if it is the response to this request. Common layouts are recognised without parsing, because the receiver of the
 * message parses it again.
 */
export function findResponseText(id: number, text: string): string | undefined {
  const head = `{"jsonrpc":"2.0","id":${id},"`;
  if (text.startsWith(head)) {
    if (text.startsWith('result":', head.length) || text.startsWith('error":', head.length)) return text;
  } else if (text.startsWith('{"result":') && text.endsWith(`,"jsonrpc":"2.0","id":${id}}`)) {
    return text;
  } else if (text.startsWith('{"method":') || text.startsWith('{"jsonrpc":"2.0","method":')) {
    return undefined;
  }
  return parseResponseText(id, text);
}

function parseResponseText(id: number, text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // Not JSON, so not a response.
  }
  const messages: unknown[] = Array.isArray(value) ? value : [value];
  const isResponse = messages.some(
    // Some servers send numeric ids back as strings.
    (message) => isJsonObject(message) && !('method' in message) && String(message['id']) === String(id),
  );
  return isResponse ? text : findErrorText(id, text, true);
}

/** Returns the error response in a text. `mayLackId` also accepts an error without an id, from a server that did not read the id. */
function findErrorText(id: number, text: string, mayLackId: boolean): string | undefined {
  const parsed = parseMessage(text);
  if (parsed.kind !== 'error') return undefined;
  if (parsed.id === null) return mayLackId ? serializeError(id, parsed.error) : undefined;
  return String(parsed.id) === String(id) ? text : undefined;
}

/**
 * Returns whether the server has forgotten the session. The protocol defines status 404 for that. A 404 whose body is the error response
 * to this request has another meaning. Servers based on the SDK's example send 400 with error -32000 and no id.
 */
export function isSessionLostResponse(
  id: number | undefined,
  response: IncomingMessage,
  text: string,
): boolean {
  const status = response.statusCode;
  if (status !== 404 && status !== 400) return false;
  const parsed = parseMessage(text);
  if (status === 404)
    return parsed.kind !== 'error' || parsed.id === null || String(parsed.id) !== String(id);
  return parsed.kind === 'error' && parsed.id === null && parsed.error.code === -32000;
}
