import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';

import { parse } from 'jsonc-parser';
import { expect, test } from 'vitest';

import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { addKey } from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { needs } from '../../support/needs.ts';
import { temporaryFolder } from '../../support/test-run.ts';
import { unusedPort } from '../../support/unused-port.mjs';

needs('nginx');

checkLeaks();

const guide = readFileSync(new URL('../../../docs/team.md', import.meta.url), 'utf8');
const block = (name: string): string =>
  new RegExp(`<!-- test: ${name} -->\\n\`\`\`\\w*\\n([^]*?)\\n\`\`\``).exec(guide)?.[1] ?? '';

const LIST =
  '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}';

/** Sends a request to nginx under the public name. */
function send(port: number, path: string, key?: string) {
  return new Promise<{ readonly status: number | undefined; readonly text: string }>((resolve, reject) => {
    const sent = request(
      {
        host: '127.0.0.1',
        port,
        path,
        method: key === undefined ? 'GET' : 'POST',
        servername: 'mcp.example.com',
        rejectUnauthorized: false,
        headers: {
          Host: 'mcp.example.com',
          ...(key !== undefined && {
            Authorization: `Bearer ${key}`,
            'Content-Type': 'application/json',
            'MCP-Protocol-Version': '2026-07-28',
            'Mcp-Method': 'tools/list',
          }),
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode, text }));
      },
    ).on('error', reject);
    sent.end(key === undefined ? undefined : LIST);
  });
}

/** Starts nginx with the server of the guide, with a certificate of its own. */
async function startNginxOfGuide(port: number, gateway: URL): Promise<AsyncDisposable> {
  const folder = temporaryFolder('team-guide');
  const certificate = join(folder, 'certificate.pem');
  const key = join(folder, 'certificate.key');
  const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1';
  const made = spawnSync('openssl', [
    ...request.split(' '),
    '-subj',
    '/CN=mcp.example.com',
    '-out',
    certificate,
    '-keyout',
    key,
  ]);
  expect(made.status).toBe(0);
  const server = block('nginx')
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('/etc/ssl/mcp.example.com.pem', certificate)
    .replace('/etc/ssl/mcp.example.com.key', key)
    .replace('127.0.0.1:7332', gateway.host);
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, `pid ${join(folder, 'pid')};\nevents {}\nhttp {\naccess_log off;\n${server}\n}\n`);
  const child = spawn('nginx', ['-e', 'stderr', '-c', file, '-g', 'daemon off;'], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}

test('docs/team.md: the configuration and the nginx server give people with keys access over TLS', async () => {
  const config = parse(block('config')) as {
    readonly http: object;
    readonly auth: object;
    readonly profiles: object;
  };
  const { http, auth, profiles } = config;
  await using gateway = await startGateway({
    mcpServers: { files: fixture('plain') },
    config: { auth, profiles, http: { ...http, address: `127.0.0.1:${await unusedPort()}` } },
    listen: 'configured',
  });
  const port = await unusedPort();
  await using _nginx = await startNginxOfGuide(port, new URL(gateway.url));
  await eventually(async () => expect(await send(port, '/healthz')).toEqual({ status: 200, text: 'ok' }));
  expect((await send(port, '/mcp')).status).toBe(401);
  expect((await send(port, '/api/status')).status).toBe(404);
  expect((await send(port, '/metrics')).status).toBe(404);

  const anna = await addKey(gateway, 'anna');
  const ci = await addKey(gateway, 'ci', '--profile', 'reading', '--expires', '90d');
  await eventually(async () => expect((await send(port, '/mcp', anna)).text).toContain('files__slow'));
  const { status, text } = await send(port, '/mcp', ci);
  expect(status).toBe(200);
  expect(text).not.toContain('files__slow');
});
