import type { ServerResponse } from 'node:http';
import { sendJson } from '../../wire/http/http-server.ts';

/** In the same words whether there is nothing, or nothing for whoever asks. */
export function nothing(response: ServerResponse, headers: readonly string[] = []): void {
  sendJson(response, 404, { body: '{"error":"There is nothing here; MCP is at /mcp."}', headers });
}

export function plain(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, [
    'Content-Type',
    'text/plain',
    'Content-Length',
    String(Buffer.byteLength(text)),
  ]);
  response.end(text);
}
