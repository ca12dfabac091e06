import { RpcError } from '../core/errors.ts';
import { isJsonObject } from '../core/json.ts';
import type { JsonObject } from '../core/json.ts';
import { Payload } from '../core/lib/payload.ts';
import { RPC_ERROR_CODES } from '../protocol/era.ts';

/**
 * A client of the gateway sees one server instead of many, so every question names the server that asks it. The gateway writes the first
 * line and marks every line of the server's text, so that the text cannot imitate the first line or a question of the gateway itself:
 *
 *   Server "github" asks:
 *   > Which repository?
 */

/** The maximum length of a server's text that a person is shown; a longer text could scroll the first line out of view. */
const MAX_SHOWN_CHARS = 20_000;
const MAX_SHOWN_LINES = 100;
/** All character sequences that a program may display as a line break. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/g;
const BLANK_LINES = /\n\s*\n/g;
/** Control characters except tabs and line breaks, characters that change the text direction, and invisible characters. */
const DECEPTIVE_CHARACTERS =
  /[\u0000-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

/** Returns the params of a question with the name of the server that asks it. */
export function nameAskingServer(
  method: string,
  params: JsonObject | undefined,
  server: string,
): JsonObject | undefined {
  switch (method) {
    case 'elicitation/create':
      return { ...params, message: attributeMessage(params?.['message'], server) };
    case 'sampling/createMessage':
      return { ...params, systemPrompt: attributePrompt(params?.['systemPrompt'], server) };
    default:
      return params;
  }
}

/** Names the server in the questions that a result, or the state of a task, contains. */
export function nameServerInResult(payload: Payload, server: string): Payload {
  if (!isJsonObject(payload.outline) || payload.outline['inputRequests'] === undefined) return payload;
  return Payload.of(nameServerInInputRequests(payload.value as JsonObject, server)); // It is an object, as `outline` shows.
}

export function nameServerInInputRequests(body: JsonObject, server: string): JsonObject {
  const { inputRequests } = body;
  if (!isJsonObject(inputRequests)) return body;
  const named = Object.entries(inputRequests).map(([key, question]) => [
    key,
    nameInQuestion(question, server),
  ]);
  return { ...body, inputRequests: Object.fromEntries(named) as JsonObject };
}

/** Names the server in the pages that must be visited before a call is repeated. */
export function nameServerInError(error: RpcError, server: string): RpcError {
  const { body } = error;
  if (body.code !== RPC_ERROR_CODES.urlElicitationRequired || !isJsonObject(body.data)) return error;
  const { elicitations } = body.data;
  if (!Array.isArray(elicitations)) return error;
  const named = elicitations.map((page: unknown) =>
    isJsonObject(page) ? nameAskingServer('elicitation/create', page, server) : page,
  );
  return new RpcError({ ...body, data: { ...body.data, elicitations: named } });
}

function nameInQuestion(question: unknown, server: string): unknown {
  if (!isJsonObject(question)) return question;
  const { method, params } = question;
  const named = nameAskingServer(String(method), isJsonObject(params) ? params : undefined, server);
  return named === undefined ? question : { ...question, params: named };
}

function attributeMessage(message: unknown, server: string): string {
  const origin = `Server "${server}" asks:`;
  if (typeof message !== 'string' || message === '') return origin;
  const text = message
    .slice(0, MAX_SHOWN_CHARS)
    .replaceAll(DECEPTIVE_CHARACTERS, '')
    .replaceAll(LINE_BREAK, '\n')
    .replaceAll(BLANK_LINES, '\n\n');
  const lines = text.trim().split('\n');
  const isCut = message.length > MAX_SHOWN_CHARS || lines.length > MAX_SHOWN_LINES;
  const marked = lines.slice(0, MAX_SHOWN_LINES).map((line) => `> ${line}`);
  return [origin, ...marked, ...(isCut ? ['(The rest of the text is not shown.)'] : [])].join('\n');
}

/** Keeps the server's own prompt unchanged, because a model reads it, not a person. */
function attributePrompt(prompt: unknown, server: string): string {
  const origin = `This request comes from server "${server}", not from the user or Trunkline.`;
  return typeof prompt === 'string' && prompt !== '' ? `${origin}\n\n${prompt}` : origin;
}
