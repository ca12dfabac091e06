import { Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

import { withEnvelope, modernHeaders } from './modern-envelope.ts';
import type { Era, JsonObject } from './raw-messages.ts';
import { openHttp, readBody } from './raw-transports.ts';

interface McpHttpRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

interface McpHttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Sends one HTTP request on its own connection, and returns the response whatever its status. */
export async function sendMcpRequest(url: string, question: McpHttpRequest = {}): Promise<McpHttpResponse> {
  const response = await openMcpResponse(url, question);
  return { status: response.statusCode ?? 0, headers: response.headers, text: await readBody(response) };
}

/** Sends a request and resolves with the head of the response; the caller reads the body. */
export function openMcpResponse(
  url: string,
  { method, headers, body }: McpHttpRequest = {},
): Promise<IncomingMessage> {
  return openHttp({
    url,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: { 'content-type': 'application/json', accept, ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    agent: new Agent(),
  });
}

const accept = 'application/json, text/event-stream';

/** Returns the first request of a client of this era. */
export function firstMcpRequest(era: Era): McpHttpRequest {
  const method = era === 'modern' ? 'server/discover' : 'initialize';
  const info = { name: 'asking', version: '1.0.0' };
  const legacy = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: info };
  const params: JsonObject = era === 'modern' ? withEnvelope({}, {}) : legacy;
  return {
    body: { jsonrpc: '2.0', id: 1, method, params },
    headers: era === 'modern' ? modernHeaders(method, params) : {},
  };
}

/** Opens a legacy session and returns its id. */
export async function openLegacySession(url: string): Promise<string> {
  const { headers } = await sendMcpRequest(url, firstMcpRequest('legacy'));
  const id = headers['mcp-session-id'];
  if (typeof id !== 'string') throw new Error('There is no session id.');
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
  await sendMcpRequest(url, { body: initialized, headers: { 'mcp-session-id': id } });
  return id;
}
