import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';

import {
  DashboardBrowser,
  readAdminKey,
  createSignInLink,
  openSignedInBrowser,
} from '../../support/dashboard-browser.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { startGateway } from '../../support/gateway.ts';
import { sendMcpRequest } from '../../support/mcp-requests.ts';

const start = (more: { home?: string; args?: readonly string[]; config?: object } = {}) =>
  startGateway({
    mcpServers: { files: fixture('plain') },
    listen: 'http',
    ...more,
    config: { ...more.config },
  });

describe('dashboard sign-in', () => {
  test('sign-in link: signs in one browser once, with an HttpOnly and SameSite=Strict cookie', async () => {
    await using gateway = await start();
    const browser = new DashboardBrowser(gateway.url);
    expect((await browser.fetch('GET', '/api/session')).status).toBe(401);
    const url = await createSignInLink(gateway);
    const entered = await browser.visit(url);
    expect(entered).toMatchObject({
      status: 303,
      headers: { location: '/', 'referrer-policy': 'no-referrer' },
    });
    const [cookie = ''] = entered.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^trunkline_\d+=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
    expect((await browser.fetch('GET', '/api/session')).json).toMatchObject({
      by: 'session',
      isPerson: true,
      caller: 'dashboard',
    });
    const second = new DashboardBrowser(gateway.url);
    expect((await second.visit(url)).status).toBe(403);
    expect(second.cookie).toBeUndefined();
  });

  test('sign-in link: redirects only to pages of the dashboard', async () => {
    await using gateway = await start();
    const enter = async (to: string): Promise<unknown> => {
      const url = `${await createSignInLink(gateway)}&to=${encodeURIComponent(to)}`;
      return (await new DashboardBrowser(gateway.url).visit(url)).headers['location'];
    };
    expect(await enter('/approvals?server=files')).toBe('/approvals?server=files');
    for (const to of [
      '//evil.example',
      'https://evil.example',
      String.raw`/\evil.example`,
      '/api/status',
      '/a\r\nx: y',
    ])
      expect(await enter(to)).toBe('/');
  });

  test('sign-in link: survives prefetch and HEAD requests, and cannot be created by a browser', async () => {
    await using gateway = await start();
    const browser = new DashboardBrowser(gateway.url);
    const url = await createSignInLink(gateway);
    expect((await browser.visit(url, { 'sec-purpose': 'prefetch;prerender' })).status).toBe(403);
    expect((await sendMcpRequest(url, { method: 'HEAD' })).status).toBe(403);
    expect((await browser.visit(url)).status).toBe(303);
    expect((await browser.fetch('POST', '/api/session/link', {})).status).toBe(400);
    expect(
      (await sendMcpRequest(`${browser.origin}/api/session/link`, { method: 'POST', body: {} })).status,
    ).toBe(401);
  });

  test('admin key: signs in at any time; wrong keys are rejected, and rate-limited after five', async () => {
    await using gateway = await start();
    const [browser, thief] = [new DashboardBrowser(gateway.url), new DashboardBrowser(gateway.url)];
    const signed = await browser.fetch('POST', '/api/session', { key: ` ${readAdminKey(gateway.home)}\n` });
    expect(signed).toMatchObject({ status: 200, json: { by: 'session', isPerson: true } });
    expect((await browser.fetch('GET', '/api/status')).status).toBe(200);
    const statuses = [];
    for (let attempt = 0; attempt < 6; attempt++)
      statuses.push((await thief.fetch('POST', '/api/session', { key: `tladmin_${attempt}` })).status);
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    // The right key works from everywhere, or anyone could lock out the operator.
    const late = new DashboardBrowser(gateway.url);
    expect((await late.fetch('POST', '/api/session', { key: readAdminKey(gateway.home) })).status).toBe(200);
    expect((await late.fetch('GET', '/api/status')).status).toBe(200);
    // Existing sessions stay signed in.
    expect((await browser.fetch('GET', '/api/status')).status).toBe(200);
    const long = { key: 'x'.repeat(5000) };
    expect((await thief.fetch('POST', '/api/session', long)).json).toMatchObject({
      error: { code: 'USAGE' },
    });
  });

  test('admin key: never counts as a person, even with an X-Trunkline-Person header', async () => {
    await using gateway = await start();
    const headers = { authorization: `Bearer ${readAdminKey(gateway.home)}`, 'x-trunkline-person': '1' };
    const { text } = await sendMcpRequest(new URL('/api/session', gateway.url).href, { headers });
    expect(JSON.parse(text)).toEqual({ by: 'key', isPerson: false, caller: 'admin' });
    const wrong = { ...headers, authorization: 'Bearer tladmin_wrong' };
    expect((await sendMcpRequest(new URL('/api/session', gateway.url).href, { headers: wrong })).status).toBe(
      401,
    );
  });

  test('admin key: may refuse but not accept a server that it added', async () => {
    await using gateway = await start({ config: { startup: { listWait: '60s' } } });
    const headers = { authorization: `Bearer ${readAdminKey(gateway.home)}`, 'x-trunkline-person': '1' };
    const send = async (path: string, body?: object) => {
      const { status, text } = await sendMcpRequest(new URL(path, gateway.url).href, {
        headers,
        ...(body !== undefined && { body }),
      });
      return { status, json: JSON.parse(text) as Readonly<Record<string, unknown>> };
    };
    await send('/api/servers', { servers: { mine: { command: 'x' } } });
    const { held } = (await send('/api/approvals')).json as { held: readonly { server: string }[] };
    const items = held.filter(({ server }) => server === 'mine');
    expect(items).toHaveLength(1);
    const refusal = { status: 403, json: { error: { code: 'ARGUMENTS_REFUSED' } } };
    expect(await send('/api/approvals', { decision: 'accept', items })).toMatchObject(refusal);
    expect(await send('/api/approve', { decision: 'accept', call: 'any' })).toMatchObject(refusal);
    expect((await send('/api/servers/mine/refresh', {})).status).toBe(403);
    expect((await send('/api/approvals', { decision: 'refuse', items })).status).toBe(200);
    const browser = await openSignedInBrowser(gateway);
    const accepted = await browser.fetch('POST', '/api/approvals', { decision: 'accept', items });
    expect(accepted.status).toBe(200);
  });

  test('sign-out: ends the session and closes its event stream', async () => {
    await using gateway = await start();
    const browser = await openSignedInBrowser(gateway);
    using log = await browser.events();
    await log.of('hello');
    const { cookie = '' } = browser;
    expect((await browser.fetch('DELETE', '/api/session')).json).toEqual({ signedOut: true });
    expect(browser.cookie).toBeUndefined();
    browser.cookie = cookie;
    expect((await browser.fetch('GET', '/api/status')).status).toBe(401);
    // The stream ends, so it reports no further event.
    await eventually(() => log.isClosed, { what: 'the end of the stream', withinMs: 20_000 });
  });

  test('dashboard session: survives a restart, and its private file holds no session token', async () => {
    const first = await start();
    const { port } = new URL(first.url);
    const { home } = first;
    const browser = await openSignedInBrowser(first);
    await first.stop();
    const file = join(home, 'state', 'dashboard-sessions.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const token = browser.cookie?.split('=')[1] ?? '';
    expect(readFileSync(file, 'utf8')).not.toContain(token);
    await using second = await start({ home, args: ['--http', `127.0.0.1:${port}`] });
    expect((await browser.fetch('GET', '/api/session')).json).toMatchObject({
      by: 'session',
      isPerson: true,
    });
    expect(second.home).toBe(home);
  });

  test('dashboard secrets: the admin key is only in its own file; tickets, session tokens and wrong keys are in no log or file', async () => {
    await using gateway = await start();
    const key = readAdminKey(gateway.home);
    const url = await createSignInLink(gateway);
    const browsers = [new DashboardBrowser(gateway.url), new DashboardBrowser(gateway.url)] as const;
    const [byLink, byKey] = browsers;
    await byLink.visit(url);
    await byLink.visit(url);
    expect((await byKey.fetch('POST', '/api/session', { key: 'tladmin_planted-wrong-key' })).status).toBe(
      401,
    );
    expect((await byKey.fetch('POST', '/api/session', { key })).status).toBe(200);
    const headers = { authorization: `Bearer ${key}` };
    expect((await sendMcpRequest(new URL('/api/status', gateway.url).href, { headers })).status).toBe(200);
    // By the link, refused, and by the key.
    await eventually(async () => {
      const { json } = await byLink.fetch('GET', '/api/audit?kind=sign-in');
      return (json as readonly unknown[]).length === 3;
    });
    const secrets = [
      key,
      new URL(url).searchParams.get('ticket') ?? '?',
      ...browsers.map(({ cookie }) => cookie?.split('=')[1] ?? '?'),
      'tladmin_planted-wrong-key',
    ];
    const files = readdirSync(gateway.home, { recursive: true, withFileTypes: true }).flatMap((each) =>
      each.isFile() ? [join(each.parentPath, each.name)] : [],
    );
    const texts = [
      ['log', gateway.stderr()] as const,
      ...files.map((file) => [relative(gateway.home, file), readFileSync(file, 'latin1')] as const),
    ];
    const found = texts.flatMap(([where, text]) =>
      secrets.filter((secret) => text.includes(secret)).map((secret) => [where, secret]),
    );
    expect(found).toEqual([[join('state', 'run', 'admin.key'), key]]);
  });
});

describe('another site in the same browser', () => {
  test.each([
    ['a form on another site', { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }],
    ['another local server', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
    ['a page without an origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('cross-site request: %s cannot change anything with the session cookie', async (_, headers) => {
    await using gateway = await start();
    const browser = await openSignedInBrowser(gateway);
    const made = await browser.fetch('POST', '/api/keys', { name: 'mallory' }, headers);
    expect([401, 403]).toContain(made.status);
    expect((await browser.fetch('GET', '/api/keys')).json).toEqual([]);
    expect((await browser.fetch('POST', '/api/keys', { name: 'anna' })).status).toBe(200);
  });

  test('cross-site request: form posts and cross-site reads are rejected despite a valid cookie', async () => {
    await using gateway = await start();
    const browser = await openSignedInBrowser(gateway);
    const cookie = browser.cookie ?? '';
    const { origin } = browser;
    const url = `${origin}/api/keys`;
    const asForm = { cookie, origin, 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' };
    expect((await sendMcpRequest(url, { headers: asForm, body: { name: 'mallory' } })).status).toBe(401);
    const hidden = { cookie, 'x-trunkline': '1' };
    expect((await sendMcpRequest(url, { headers: hidden, body: { name: 'mallory' } })).status).toBe(401);
    for (const path of ['/api/keys', '/api/events', '/api/audit/export'])
      expect((await browser.fetch('GET', path, undefined, { 'sec-fetch-site': 'cross-site' })).status).toBe(
        401,
      );
    expect((await browser.fetch('GET', '/api/keys')).json).toEqual([]);
  });

  test('DNS rebinding: a foreign Host reaches neither pages, nor the API, nor sign-in links', async () => {
    await using gateway = await start();
    const browser = await openSignedInBrowser(gateway);
    const url = await createSignInLink(gateway);
    for (const path of ['/', '/api/session', url])
      expect((await browser.visit(path, { host: 'rebound.test' })).status, path).toBe(403);
    expect((await browser.visit(url)).status).toBe(303);
  });
});

test('session cookie: is host-bound and Secure behind a TLS proxy, where an http Origin is rejected', async () => {
  await using gateway = await start({ config: { http: { publicUrl: 'https://mcp.example.test' } } });
  const browser = new DashboardBrowser(gateway.url);
  const entered = await browser.visit(await createSignInLink(gateway), { host: 'mcp.example.test' });
  expect(entered.headers['set-cookie']?.[0]).toMatch(
    /^__Host-trunkline=.*; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/,
  );
  const page = { host: 'mcp.example.test', origin: 'https://mcp.example.test' };
  expect((await browser.fetch('POST', '/api/keys', { name: 'anna' }, page)).status).toBe(200);
  const plain = { ...page, origin: 'http://mcp.example.test' };
  expect((await browser.fetch('POST', '/api/keys', { name: 'bert' }, plain)).status).toBe(403);
});
