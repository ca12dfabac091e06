import type { IncomingMessage } from 'node:http';

import { isJsonObject } from '../../model/json.ts';
import { isSuccess } from './http-exchange.ts';
import { errorText, parseMessage } from '../message.ts';
import { ForeignAnswerError, HttpStatusError } from '../stream.ts';

/** The message that a whole HTTP answer is, or the error that it is instead. */
export function readAnswer(id: number, answer: IncomingMessage, text: string): string | Error {
  const status = answer.statusCode ?? 0;
  if (isSuccess(answer)) {
    const message = answerText(id, text);
    if (message !== undefined) return message;
    const kind = text === '' ? 'nothing' : (answer.headers['content-type'] ?? 'text of no named type');
    return new ForeignAnswerError(`HTTP ${status} with ${kind}`);
  }
  const isRefusal = isRefusalOfRequest(status);
  // Whoever signs in needs the headers of these; a JSON-RPC error inside adds nothing.
  const message = status === 401 || status === 403 ? undefined : errorFor(id, text, isRefusal);
  return message ?? new HttpStatusError(status, answer.headers, text);
}

/** Other statuses speak of the endpoint or of the hour, whatever error without an id comes along. */
function isRefusalOfRequest(status: number): boolean {
  return status >= 400 && status < 500 && status !== 405 && status !== 408 && status !== 429;
}

/**
 * The text to pass on if this is the answer to that request. The spellings that servers really write are recognised
 * without parsing, because whoever gets the message parses it again.
 */
export function answerText(id: number, text: string): string | undefined {
  const head = `{"jsonrpc":"2.0","id":${id},"`;
  if (text.startsWith(head)) {
    if (text.startsWith('result":', head.length) || text.startsWith('error":', head.length)) return text;
  } else if (text.startsWith('{"result":') && text.endsWith(`,"jsonrpc":"2.0","id":${id}}`)) {
    return text;
  } else if (text.startsWith('{"method":') || text.startsWith('{"jsonrpc":"2.0","method":')) {
    return undefined;
  }
  return parsedAnswer(id, text);
}

function parsedAnswer(id: number, text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined; // Not JSON, so not an answer.
  }
  const messages: unknown[] = Array.isArray(value) ? value : [value];
  const isAnswer = messages.some(
    // Some servers give numbers back as text.
    (message) => isJsonObject(message) && !('method' in message) && String(message['id']) === String(id),
  );
  return isAnswer ? text : errorFor(id, text, true);
}

/** A server that refuses a request before reading it answers with an error that has no id. */
function errorFor(id: number, text: string, mayLackId: boolean): string | undefined {
  const parsed = parseMessage(text);
  if (parsed.kind !== 'error') return undefined;
  if (parsed.id === null) return mayLackId ? errorText(id, parsed.error) : undefined;
  return String(parsed.id) === String(id) ? text : undefined;
}

/**
 * Whether the server has forgotten our session. The protocol says 404, unless it is an answer to this very request;
 * servers written after the SDK's example say 400 with an implementation error that has no id.
 */
export function isSessionGone(id: number | undefined, answer: IncomingMessage, text: string): boolean {
  const status = answer.statusCode;
  if (status !== 404 && status !== 400) return false;
  const parsed = parseMessage(text);
  if (status === 404)
    return parsed.kind !== 'error' || parsed.id === null || String(parsed.id) !== String(id);
  return parsed.kind === 'error' && parsed.id === null && parsed.error.code === -32000;
}
