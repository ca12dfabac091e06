import { spawn } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import { fileURLToPath } from 'node:url';

import { type GatewayOptions, type RunningGateway, startGateway } from './gateway.ts';

export interface HttpResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface HttpRequestOptions {
  readonly method?: string;
  readonly key?: string;
  /** An array sends a header more than once. */
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly body?: string;
}

const built = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
export const plainServer = {
  command: process.execPath,
  args: [fileURLToPath(new URL('./servers/plain.mjs', import.meta.url))],
};

/** Sends one HTTP request with exactly these headers. */
export function sendRequest(url: string | URL, options: HttpRequestOptions = {}): Promise<HttpResponse> {
  const { key, body, headers = {}, method = body === undefined ? 'GET' : 'POST' } = options;
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      url,
      {
        method,
        agent: false,
        headers: {
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
        response.on('error', reject).on('end', () => {
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        });
      },
    );
    request.on('error', reject).end(body);
  });
}

export const initializeBody = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'caller', version: '1' } },
});

/** Opens a session and returns the names of its tools, or the status if the session was refused. */
export async function listToolNamesAt(
  url: string,
  options: HttpRequestOptions = {},
): Promise<readonly string[] | number> {
  const opened = await sendRequest(url, { ...options, body: initializeBody });
  if (opened.status !== 200) return opened.status;
  const headers = { ...options.headers, 'mcp-session-id': String(opened.headers['mcp-session-id']) };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list', params: {} });
  const listed = await sendRequest(url, { ...options, headers, body });
  const { result } = JSON.parse(listed.text) as { result: { tools: { name: string }[] } };
  return result.tools.map(({ name }) => name);
}

/** Starts a gateway over HTTP; `config` contains its authentication settings. */
export function startGatewayWithAuth(
  config: Readonly<Record<string, unknown>>,
  options: Partial<GatewayOptions> = {},
): Promise<RunningGateway> {
  return startGateway({ mcpServers: { plain: plainServer }, listen: 'http', config, ...options });
}

/** Runs a command with the configuration of a gateway, and returns its output. */
export function runCommandFor(
  gateway: Pick<RunningGateway, 'home' | 'configFile' | 'env'>,
  ...words: string[]
) {
  return new Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }>(
    (resolve) => {
      const child = spawn(process.execPath, [built, ...words, '--config', gateway.configFile, '--text'], {
        env: { ...process.env, ...gateway.env, TRUNKLINE_HOME: gateway.home },
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.on('data', (chunk: Buffer) => (stdout += String(chunk)));
      child.stderr.on('data', (chunk: Buffer) => (stderr += String(chunk)));
      child.on('close', (code) => resolve({ code, stdout, stderr }));
    },
  );
}

export async function addKey(gateway: RunningGateway, ...words: string[]): Promise<string> {
  const { code, stdout, stderr } = await runCommandFor(gateway, 'keys', 'add', ...words);
  if (code !== 0) throw new Error(`No key was made:\n${stderr}`);
  return stdout.trim();
}
