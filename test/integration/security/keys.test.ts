import { readFileSync, readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  addKey,
  sendRequest,
  runCommandFor,
  initializeBody,
  plainServer,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const profiles = { echoing: { names: ['echo'] }, nothing: { names: ['unheard-of'] } };

describe('API keys', () => {
  test('API key: grants access only as a valid bearer token', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true } });
    const key = await addKey(gateway, 'anna');
    expect(key).toMatch(/^tl_[A-Za-z0-9_-]{55}$/);
    expect(await listToolNamesAt(gateway.url, { key })).toContain('plain__echo');
    for (const scheme of ['bearer', 'BEARER'])
      expect(
        await listToolNamesAt(gateway.url, { headers: { authorization: `${scheme} ${key}` } }),
      ).toContain('plain__echo');
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    for (const shown of [undefined, wrong, 'tl_', 'x', `${key}x`, key.slice(0, -1)])
      expect(await listToolNamesAt(gateway.url, shown === undefined ? {} : { key: shown }), shown).toBe(401);
    for (const authorization of ['', 'Bearer', `Basic ${btoa(`anna:${key}`)}`, key, `Bearer ${key} ${key}`])
      expect(await listToolNamesAt(gateway.url, { headers: { authorization } }), authorization).toBe(401);
    // A key in the URL or in another header is rejected.
    expect(await listToolNamesAt(`${gateway.url}?apikey=${key}&access_token=${key}`)).toBe(401);
    expect(await listToolNamesAt(gateway.url, { headers: { 'x-api-key': key } })).toBe(401);
    const { headers } = await sendRequest(gateway.url, { key: wrong, body: initializeBody });
    expect(headers['www-authenticate']).toContain('error="invalid_token"');
    expect((await sendRequest(gateway.url, { body: initializeBody })).headers['www-authenticate']).toBe(
      'Bearer realm="trunkline"',
    );
  });

  test('API key: opens only the paths of its profile, and all others return the same 404', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true }, profiles });
    const free = await addKey(gateway, 'free');
    const bound = await addKey(gateway, 'bound', '--profile', 'echoing');
    const shut = await addKey(gateway, 'shut', '--profile', 'nothing');
    const at = (path: string): string => new URL(path, gateway.url).href;
    expect(await listToolNamesAt(at('/mcp/p/echoing'), { key: free })).toEqual(['plain__echo']);
    expect(await listToolNamesAt(at('/mcp'), { key: bound })).toEqual(['plain__echo']);
    expect(await listToolNamesAt(at('/mcp/p/echoing'), { key: bound })).toEqual(['plain__echo']);
    expect(await listToolNamesAt(at('/mcp/s/plain'), { key: bound })).toEqual(['echo']);
    // Paths outside the profile are indistinguishable from paths that do not exist.
    const outside = [
      '/mcp/p/nothing',
      '/mcp/p/unheard-of',
      '/mcp/p/default',
      '/mcp/s/unheard-of',
      '/elsewhere',
    ];
    const answers = await Promise.all(
      outside.map((path) => sendRequest(at(path), { key: bound, body: initializeBody })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
    // Without a key, all paths respond alike, too.
    for (const path of ['/mcp', '/mcp/p/echoing', '/mcp/p/unheard-of', '/mcp/s/plain', '/mcp/s/unheard-of'])
      expect((await sendRequest(at(path), { body: initializeBody })).status, path).toBe(401);
    expect(await listToolNamesAt(at('/mcp'), { key: shut })).toEqual([]);
    expect((await sendRequest(at('/sse'), { headers: { accept: 'text/event-stream' } })).status).toBe(401);
  });

  test('API key: reveals no server outside its profile', async () => {
    const bank = { ...plainServer, description: 'Where the money is.' };
    await using gateway = await startGatewayWithAuth(
      { auth: { keys: true }, profiles: { one: { names: ['plain__echo'] } } },
      { mcpServers: { plain: plainServer, bank } },
    );
    expect(await listToolNamesAt(gateway.url, { key: await addKey(gateway, 'free') })).toContain(
      'bank__echo',
    );
    const key = await addKey(gateway, 'one', '--profile', 'one');
    const at = (path: string): string => new URL(path, gateway.url).href;
    expect(await listToolNamesAt(at('/mcp'), { key })).toEqual(['plain__echo']);
    const met = await sendRequest(at('/mcp'), { key, body: initializeBody });
    expect(met.text).toContain('plain');
    expect(met.text).not.toMatch(/bank|money/);
    const [hidden, absent] = await Promise.all(
      ['/mcp/s/bank', '/mcp/s/unheard-of'].map((path) =>
        sendRequest(at(path), { key, body: initializeBody }),
      ),
    );
    expect([hidden?.status, hidden?.text]).toEqual([404, absent?.text]);
  });

  test('API key: is rejected at once and loses its streams when revoked', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true } });
    const key = await addKey(gateway, 'anna');
    const other = await addKey(gateway, 'bert');
    const ended = new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, accept: 'text/event-stream' };
      const request = httpRequest(new URL('/sse', gateway.url), { headers, agent: false }, (response) => {
        response.on('error', () => {}).on('close', resolve);
        response.resume();
      });
      request.on('error', reject).end();
    });
    expect(await listToolNamesAt(gateway.url, { key })).toContain('plain__echo');
    expect(await runCommandFor(gateway, 'keys', 'revoke', 'anna')).toMatchObject({ code: 0 });
    expect(await listToolNamesAt(gateway.url, { key })).toBe(401);
    expect(await listToolNamesAt(gateway.url, { key: other })).toContain('plain__echo');
    await ended;
    expect(await runCommandFor(gateway, 'keys', 'revoke', 'anna')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('There is no key "anna"'),
    });
  });

  test('API key: is the only one that can use the sessions it opened', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true } });
    const [anna, bert] = [await addKey(gateway, 'anna'), await addKey(gateway, 'bert')];
    const opened = await sendRequest(gateway.url, { key: anna, body: initializeBody });
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect((await sendRequest(gateway.url, { key: bert, headers, body })).status).toBe(404);
    expect((await sendRequest(gateway.url, { key: bert, headers, method: 'DELETE' })).status).toBe(404);
    expect((await sendRequest(gateway.url, { headers, body })).status).toBe(401);
    expect((await sendRequest(gateway.url, { key: anna, headers, body })).status).toBe(200);
  });

  test('API key: is neither stored nor logged in plain text', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true }, log: { level: 'debug' } });
    const key = await addKey(gateway, 'anna', '--tier', 'read', '--expires', '30d', '--group', 'staff');
    await listToolNamesAt(gateway.url, { key });
    await listToolNamesAt(gateway.url, { key: `${key.slice(0, -2)}xx` });
    const listed = await runCommandFor(gateway, 'keys', 'list');
    expect(listed.stdout).toContain('anna');
    expect(listed.stdout).toContain('tier read; groups staff');
    const secret = key.slice('tl_'.length + 12, -2);
    await gateway.stop();
    const files = readdirSync(gateway.home, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    expect(files.length).toBeGreaterThan(1);
    for (const { parentPath, name } of files)
      expect(readFileSync(join(parentPath, name), 'latin1'), name).not.toContain(secret);
    expect(gateway.stderr() + listed.stdout).not.toContain(secret);
  });

  test('API key: cannot find or call tools above its tier through any call tool', async () => {
    const tools = { tiers: { echo: 'write', '*': 'read' } };
    await using gateway = await startGatewayWithAuth(
      { auth: { keys: true } },
      { mcpServers: { plain: { ...plainServer, tools } }, args: ['--expose', 'search'] },
    );
    const reader = await addKey(gateway, 'reader', '--tier', 'read');
    const writer = await addKey(gateway, 'writer');
    const call = async (key: string, name: string, target: string): Promise<string> => {
      const opened = await sendRequest(gateway.url, { key, body: initializeBody });
      const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
      const params = { name, arguments: { name: target, arguments: { text: 'hello' } } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
      return (await sendRequest(gateway.url, { key, headers, body })).text;
    };
    expect(await call(writer, 'call_write_tool', 'plain__echo')).toContain('hello');
    for (const name of ['call_read_tool', 'call_write_tool', 'call_destructive_tool']) {
      const answer = await call(reader, name, 'plain__echo');
      expect(answer, name).not.toContain('hello');
      // The error depends only on the syntax of the value, not on whether it exists.
      const plain = (text: string, asked: string): string =>
        text.replace(/ Did you mean [^?]*\?/, '').replaceAll(asked, 'NAME');
      const none = await call(reader, name, 'plain__none');
      expect(plain(answer, 'plain__echo'), name).toBe(plain(none, 'plain__none'));
      expect(none).not.toContain('plain__echo');
    }
  });

  test('API key: is audited when it is added, revoked or rejected', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true } });
    await addKey(gateway, 'anna', '--tier', 'read');
    await runCommandFor(gateway, 'keys', 'revoke', 'anna');
    expect(await listToolNamesAt(gateway.url, { key: 'tl_wrong' })).toBe(401);
    const { stdout } = await runCommandFor(gateway, 'logs', '--export', 'jsonl');
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const about = records.map(({ kind, action, entry, outcome }) => ({ kind, action, entry, outcome }));
    expect(about).toContainEqual({ kind: 'key', action: 'add', entry: 'anna', outcome: 'ok' });
    expect(about).toContainEqual({ kind: 'key', action: 'revoke', entry: 'anna', outcome: 'ok' });
    expect(about).toContainEqual({ kind: 'sign-in', action: 'refuse', entry: undefined, outcome: 'refused' });
  });

  test('keys add: rejects duplicate names, unknown profiles and invalid values', async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true }, profiles });
    await addKey(gateway, 'anna');
    for (const [words, says] of [
      [['anna'], 'There is a key "anna" already'],
      [['bert', '--profile', 'echoin'], 'Did you mean "echoing"?'],
      [['bert', '--expires', 'soon'], '--expires "soon" is not a duration'],
      [['no spaces'], 'cannot be the name of a key'],
    ] as const) {
      const { code, stderr } = await runCommandFor(gateway, 'keys', 'add', ...words);
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(says);
    }
  });
});
