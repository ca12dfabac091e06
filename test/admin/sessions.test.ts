import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

import { Browser, adminKey, link, signedIn } from '../support/browser.ts';
import { eventually } from '../support/eventually.ts';
import { fixture } from '../support/fixture.ts';
import { startGateway } from '../support/gateway.ts';
import { ask } from '../support/http-asking.ts';

const start = (more: { home?: string; args?: readonly string[]; config?: object } = {}) =>
  startGateway({
    ...{ mcpServers: { files: fixture('plain') }, listen: 'http', ...more },
    config: { ...more.config },
  });

describe('signing in to the dashboard', () => {
  test('a link lets one browser in, once, with a cookie that no script and no other site has', async () => {
    await using gateway = await start();
    const browser = new Browser(gateway.url);
    expect((await browser.fetch('GET', '/api/session')).status).toBe(401);
    const url = await link(gateway);
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
    const second = new Browser(gateway.url);
    expect((await second.visit(url)).status).toBe(403);
    expect(second.cookie).toBeUndefined();
  });

  test('a link is not used up by what fetches ahead, and not made by a browser', async () => {
    await using gateway = await start();
    const browser = new Browser(gateway.url);
    const url = await link(gateway);
    expect((await browser.visit(url, { 'sec-purpose': 'prefetch;prerender' })).status).toBe(403);
    expect((await ask(url, { method: 'HEAD' })).status).toBe(403);
    expect((await browser.visit(url)).status).toBe(303);
    expect((await browser.fetch('POST', '/api/session/link', {})).status).toBe(400);
    expect((await ask(`${browser.origin}/api/session/link`, { method: 'POST', body: {} })).status).toBe(401);
  });

  test('the key signs in, wrong ones are refused, and soon nobody may try', async () => {
    await using gateway = await start();
    const [browser, thief] = [new Browser(gateway.url), new Browser(gateway.url)];
    const signed = await browser.fetch('POST', '/api/session', { key: ` ${adminKey(gateway.home)}\n` });
    expect(signed).toMatchObject({ status: 200, json: { by: 'session', isPerson: true } });
    expect((await browser.fetch('GET', '/api/status')).status).toBe(200);
    const tries = [];
    for (let each = 0; each < 6; each++)
      tries.push((await thief.fetch('POST', '/api/session', { key: `tladmin_${each}` })).status);
    expect(tries).toEqual([401, 401, 401, 401, 401, 429]);
    expect((await thief.fetch('POST', '/api/session', { key: adminKey(gateway.home) })).status).toBe(429);
    // Who is inside already stays there.
    expect((await browser.fetch('GET', '/api/status')).status).toBe(200);
    const long = { key: 'x'.repeat(5000) };
    expect((await thief.fetch('POST', '/api/session', long)).json).toMatchObject({
      error: { code: 'USAGE' },
    });
  });

  test('a program with the key is no person, whatever it says', async () => {
    await using gateway = await start();
    const headers = { authorization: `Bearer ${adminKey(gateway.home)}`, 'x-trunkline-person': '1' };
    const { text } = await ask(new URL('/api/session', gateway.url).href, { headers });
    expect(JSON.parse(text)).toEqual({ by: 'key', isPerson: false, caller: 'admin' });
    const wrong = { ...headers, authorization: 'Bearer tladmin_wrong' };
    expect((await ask(new URL('/api/session', gateway.url).href, { headers: wrong })).status).toBe(401);
  });

  test('a program with the key cannot accept what it added, but keep it away', async () => {
    await using gateway = await start({ config: { startup: { listWait: '10s' } } });
    const headers = { authorization: `Bearer ${adminKey(gateway.home)}`, 'x-trunkline-person': '1' };
    const send = async (path: string, body?: object) => {
      const { status, text } = await ask(new URL(path, gateway.url).href, {
        ...{ headers, ...(body !== undefined && { body }) },
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
    const browser = await signedIn(gateway);
    const accepted = await browser.fetch('POST', '/api/approvals', { decision: 'accept', items });
    expect(accepted.status).toBe(200);
  });

  test('signing out ends the session and what is open of it', async () => {
    await using gateway = await start();
    const browser = await signedIn(gateway);
    using log = await browser.events();
    await log.of('hello');
    const { cookie = '' } = browser;
    expect((await browser.fetch('DELETE', '/api/session')).json).toEqual({ signedOut: true });
    expect(browser.cookie).toBeUndefined();
    browser.cookie = cookie;
    expect((await browser.fetch('GET', '/api/status')).status).toBe(401);
    // Something happens, of which it hears nothing more.
    await eventually(() => log.isOver, { what: 'the end of the stream', withinMs: 20_000 });
  });

  test('a session survives a restart; the file has its hash alone', async () => {
    const first = await start();
    const { port } = new URL(first.url);
    const { home } = first;
    const browser = await signedIn(first);
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

  test('neither ticket, token nor key is in the log or in any file but its own', async () => {
    await using gateway = await start();
    const url = await link(gateway);
    const browser = new Browser(gateway.url);
    await browser.visit(url);
    await browser.visit(url);
    await browser.fetch('POST', '/api/session', { key: 'tladmin_planted-wrong-key' });
    const signIns = async (): Promise<number> => {
      const { json } = await browser.fetch('GET', '/api/audit?kind=sign-in');
      return (json as readonly unknown[]).length;
    };
    await eventually(async () => (await signIns()) >= 1);
    const secrets = [
      new URL(url).searchParams.get('ticket') ?? '?',
      browser.cookie?.split('=')[1] ?? '?',
      'tladmin_planted-wrong-key',
    ];
    const files = readdirSync(gateway.home, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    const texts = files.map((each) => readFileSync(join(each.parentPath, each.name), 'latin1'));
    for (const text of [gateway.stderr(), ...texts])
      expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });
});

describe('another site in the same browser', () => {
  test.each([
    ['a form of another site', { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }],
    ['another server of this machine', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }],
    ['a page without an origin', { origin: 'null', 'sec-fetch-site': 'cross-site' }],
  ])('%s changes nothing with the cookie of the dashboard', async (_, headers) => {
    await using gateway = await start();
    const browser = await signedIn(gateway);
    const made = await browser.fetch('POST', '/api/keys', { name: 'mallory' }, headers);
    expect([401, 403]).toContain(made.status);
    expect((await browser.fetch('GET', '/api/keys')).json).toEqual([]);
    expect((await browser.fetch('POST', '/api/keys', { name: 'anna' })).status).toBe(200);
  });

  test('what a form can send is not enough, and what it reads is nothing', async () => {
    await using gateway = await start();
    const browser = await signedIn(gateway);
    const cookie = browser.cookie ?? '';
    const { origin } = browser;
    const url = `${origin}/api/keys`;
    const asForm = { cookie, origin, 'sec-fetch-site': 'same-origin', 'content-type': 'text/plain' };
    expect((await ask(url, { headers: asForm, body: { name: 'mallory' } })).status).toBe(401);
    const hidden = { cookie, 'x-trunkline': '1' };
    expect((await ask(url, { headers: hidden, body: { name: 'mallory' } })).status).toBe(401);
    for (const path of ['/api/keys', '/api/events', '/api/audit/export'])
      expect((await browser.fetch('GET', path, undefined, { 'sec-fetch-site': 'cross-site' })).status).toBe(
        401,
      );
    expect((await browser.fetch('GET', '/api/keys')).json).toEqual([]);
  });

  test('a name that was made to mean this machine reaches neither pages nor links', async () => {
    await using gateway = await start();
    const browser = await signedIn(gateway);
    const url = await link(gateway);
    for (const path of ['/', '/api/session', url])
      expect((await browser.visit(path, { host: 'rebound.test' })).status, path).toBe(403);
    expect((await browser.visit(url)).status).toBe(303);
  });
});

test('behind a proxy with TLS the cookie is for that host and TLS alone', async () => {
  await using gateway = await start({ config: { http: { publicUrl: 'https://mcp.example.test' } } });
  const browser = new Browser(gateway.url);
  const entered = await browser.visit(await link(gateway), { host: 'mcp.example.test' });
  expect(entered.headers['set-cookie']?.[0]).toMatch(
    /^__Host-trunkline=.*; Path=\/; HttpOnly; SameSite=Strict; .*; Secure$/,
  );
  const page = { host: 'mcp.example.test', origin: 'https://mcp.example.test' };
  expect((await browser.fetch('POST', '/api/keys', { name: 'anna' }, page)).status).toBe(200);
  const plain = { ...page, origin: 'http://mcp.example.test' };
  expect((await browser.fetch('POST', '/api/keys', { name: 'bert' }, plain)).status).toBe(403);
});
