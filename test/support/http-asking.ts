import { Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

import { enveloped, modernHeaders } from './modern-envelope.ts';
import type { Era, JsonObject } from './raw-messages.ts';
import { open, textOf } from './raw-transports.ts';

interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** One HTTP exchange on a connection of its own, whatever the answer is. */
export async function ask(url: string, question: Question = {}): Promise<Answer> {
  const response = await begin(url, question);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await textOf(response) };
}

/** The same up to the head of the answer; the rest stays unread until somebody reads it. */
export function begin(url: string, { method, headers, body }: Question = {}): Promise<IncomingMessage> {
  return open({
    url,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', accept, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    agent: new Agent(),
  });
}

const accept = 'application/json, text/event-stream';

/** A first request of a client of that era. */
export function opening(era: Era): Question {
  const method = era === 'modern' ? 'server/discover' : 'initialize';
  const info = { name: 'asking', version: '1.0.0' };
  const legacy = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info };
  const params: JsonObject = era === 'modern' ? enveloped({}, {}) : legacy;
  return {
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: era === 'modern' ? modernHeaders(method, params) : {},
  };
}

/** The id of a new legacy session. */
export async function openSession(url: string): Promise<string> {
  const { headers } = await ask(url, opening('legacy'));
  const id = headers['mcp-session-id'];
  if (typeof id !== 'string') throw new Error('There is no session id.');
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  await ask(url, { body: initialized, headers: { 'mcp-session-id': id } });
  return id;
}
