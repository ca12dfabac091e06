import { connect } from 'node:net';
import { expect, test } from 'vitest';

import { DashboardBrowser } from '../../support/dashboard-browser.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { sendMcpRequest } from '../../support/mcp-requests.ts';

const start = () => startGateway({ mcpServers: { files: fixture('plain') }, listen: 'http' });

test('dashboard pages: need no sign-in, and have a strict CSP without inline or external code', async () => {
  await using gateway = await start();
  const browser = new DashboardBrowser(gateway.url);
  for (const path of [
    '/',
    '/servers',
    '/tools',
    '/approvals',
    '/clients',
    '/activity',
    '/access',
    '/servers/files',
  ]) {
    const page = await browser.visit(path);
    expect(page.status, path).toBe(200);
    expect(page.text).toMatch(/^<!doctype html>/i);
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; media-src data: blob:; connect-src 'self'; font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    });
    // No inline code, which the policy would block.
    expect(page.text).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>|<style|\son\w+=/i);
    expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//);
  }
});

test('dashboard pages: tell a browser that a page does not exist, and programs nothing more than that', async () => {
  await using gateway = await start();
  const browser = new DashboardBrowser(gateway.url);
  const page = await browser.visit('/no-such-page', { accept: 'text/html,*/*' });
  expect(page.status).toBe(404);
  expect(page.text).toMatch(/^<!doctype html>/i);
  for (const path of ['/no-such-page', '/register', '/.well-known/oauth-authorization-server']) {
    const answer = await browser.visit(path, { accept: 'application/json' });
    expect(answer.status, path).toBe(404);
    expect(answer.text).not.toMatch(/<html/i);
  }
});

test('dashboard assets: may be cached forever, and an unchanged page returns 304', async () => {
  await using gateway = await start();
  const browser = new DashboardBrowser(gateway.url);
  const page = await browser.visit('/');
  const assets = [...page.text.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(assets.length).toBeGreaterThan(0);
  for (const path of assets) {
    const asset = await browser.visit(path);
    expect(asset.status, path).toBe(200);
    expect(asset.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  }
  const again = await browser.visit('/', { 'if-none-match': page.headers.etag ?? '' });
  expect(again).toMatchObject({ status: 304, text: '' });
  expect((await sendMcpRequest(browser.origin, { method: 'HEAD' })).text).toBe('');
});

const NOWHERE = [
  '/../package.json',
  '/assets/../../package.json',
  '/assets/..%2f..%2fpackage.json',
  '/%2e%2e/%2e%2e/etc/passwd',
  '/assets/%00',
  '//etc/passwd',
  '/..\\..\\package.json',
  '/main.js',
];

test('dashboard files: reject path traversal and files outside the build', async () => {
  await using gateway = await start();
  for (const target of NOWHERE) {
    const answer = await asTyped(gateway.url, target);
    expect(answer, target).toMatch(/^HTTP\/1\.1 40[04] /);
    expect(answer, target).not.toMatch(/root:|"trunkline"/);
  }
});

/** Uses a raw socket, since every HTTP library would normalise the path. */
function asTyped(url: string, target: string): Promise<string> {
  const { hostname, port, host } = new URL(url);
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), hostname, () =>
      socket.write(`GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    );
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  });
}

test('dashboard pages: reject POST requests, and MCP stays available at its own path', async () => {
  await using gateway = await start();
  const { origin } = new URL(gateway.url);
  expect(
    (await sendMcpRequest(`${origin}/`, { body: { jsonrpc: '2.0', id: 1, method: 'ping' } })).status,
  ).toBe(404);
  const client = await gateway.client();
  expect(await client.request('tools/list')).toBeDefined();
});
