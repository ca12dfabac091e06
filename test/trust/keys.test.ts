import { readFileSync, readdirSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import {
  addKey,
  ask,
  command,
  initializeBody,
  plainServer,
  startAsking,
  toolsAt,
} from '../support/http-caller.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

const profiles = { echoing: { names: ['echo'] }, nothing: { names: ['unheard-of'] } };

describe('keys', () => {
  test('open the gateway, and nothing else does', async () => {
    await using gateway = await startAsking({ auth: { keys: true } });
    const key = await addKey(gateway, 'anna');
    expect(key).toMatch(/^tl_[A-Za-z0-9_-]{55}$/);
    expect(await toolsAt(gateway.url, { key })).toContain('plain__echo');
    for (const scheme of ['bearer', 'BEARER'])
      expect(await toolsAt(gateway.url, { headers: { authorization: `${scheme} ${key}` } })).toContain(
        'plain__echo',
      );
    const wrong = `${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`;
    for (const shown of [undefined, wrong, 'tl_', 'x', `${key}x`, key.slice(0, -1)])
      expect(await toolsAt(gateway.url, shown === undefined ? {} : { key: shown }), shown).toBe(401);
    for (const authorization of ['', 'Bearer', `Basic ${btoa(`anna:${key}`)}`, key, `Bearer ${key} ${key}`])
      expect(await toolsAt(gateway.url, { headers: { authorization } }), authorization).toBe(401);
    // Neither in the address nor in another header.
    expect(await toolsAt(`${gateway.url}?apikey=${key}&access_token=${key}`)).toBe(401);
    expect(await toolsAt(gateway.url, { headers: { 'x-api-key': key } })).toBe(401);
    const { headers } = await ask(gateway.url, { key: wrong, body: initializeBody });
    expect(headers['www-authenticate']).toContain('error="invalid_token"');
    expect((await ask(gateway.url, { body: initializeBody })).headers['www-authenticate']).toBe(
      'Bearer realm="trunkline"',
    );
  });

  test('open every place where MCP is served, and only those that a profile has', async () => {
    await using gateway = await startAsking({ auth: { keys: true }, profiles });
    const free = await addKey(gateway, 'free');
    const bound = await addKey(gateway, 'bound', '--profile', 'echoing');
    const shut = await addKey(gateway, 'shut', '--profile', 'nothing');
    const at = (path: string): string => new URL(path, gateway.url).href;
    expect(await toolsAt(at('/mcp/p/echoing'), { key: free })).toEqual(['plain__echo']);
    expect(await toolsAt(at('/mcp'), { key: bound })).toEqual(['plain__echo']);
    expect(await toolsAt(at('/mcp/p/echoing'), { key: bound })).toEqual(['plain__echo']);
    expect(await toolsAt(at('/mcp/s/plain'), { key: bound })).toEqual(['echo']);
    // What is outside cannot be told from what does not exist.
    const outside = [
      '/mcp/p/nothing',
      '/mcp/p/unheard-of',
      '/mcp/p/default',
      '/mcp/s/unheard-of',
      '/elsewhere',
    ];
    const answers = await Promise.all(
      outside.map((path) => ask(at(path), { key: bound, body: initializeBody })),
    );
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]?.status).toBe(404);
    // Without a key the same paths are all alike, too.
    for (const path of ['/mcp', '/mcp/p/echoing', '/mcp/p/unheard-of', '/mcp/s/plain', '/mcp/s/unheard-of'])
      expect((await ask(at(path), { body: initializeBody })).status, path).toBe(401);
    expect(await toolsAt(at('/mcp'), { key: shut })).toEqual([]);
    expect((await ask(at('/sse'), { headers: { accept: 'text/event-stream' } })).status).toBe(401);
  });

  test('that may have single tools learn of no server but theirs', async () => {
    const bank = { ...plainServer, description: 'Where the money is.' };
    await using gateway = await startAsking(
      { auth: { keys: true }, profiles: { one: { names: ['plain__echo'] } } },
      { mcpServers: { plain: plainServer, bank } },
    );
    expect(await toolsAt(gateway.url, { key: await addKey(gateway, 'free') })).toContain('bank__echo');
    const key = await addKey(gateway, 'one', '--profile', 'one');
    const at = (path: string): string => new URL(path, gateway.url).href;
    expect(await toolsAt(at('/mcp'), { key })).toEqual(['plain__echo']);
    const met = await ask(at('/mcp'), { key, body: initializeBody });
    expect(met.text).toContain('plain');
    expect(met.text).not.toMatch(/bank|money/);
    const [hidden, absent] = await Promise.all(
      ['/mcp/s/bank', '/mcp/s/unheard-of'].map((path) => ask(at(path), { key, body: initializeBody })),
    );
    expect([hidden?.status, hidden?.text]).toEqual([404, absent?.text]);
  });

  test('are refused at once when they are revoked, and their streams are cut', async () => {
    await using gateway = await startAsking({ auth: { keys: true } });
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
    expect(await toolsAt(gateway.url, { key })).toContain('plain__echo');
    expect(await command(gateway, 'keys', 'revoke', 'anna')).toMatchObject({ code: 0 });
    expect(await toolsAt(gateway.url, { key })).toBe(401);
    expect(await toolsAt(gateway.url, { key: other })).toContain('plain__echo');
    await ended;
    expect(await command(gateway, 'keys', 'revoke', 'anna')).toMatchObject({
      code: 6,
      stderr: expect.stringContaining('There is no key "anna"'),
    });
  });

  test('bind a session to whoever opened it', async () => {
    await using gateway = await startAsking({ auth: { keys: true } });
    const [anna, bert] = [await addKey(gateway, 'anna'), await addKey(gateway, 'bert')];
    const opened = await ask(gateway.url, { key: anna, body: initializeBody });
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/list' });
    expect((await ask(gateway.url, { key: bert, headers, body })).status).toBe(404);
    expect((await ask(gateway.url, { key: bert, headers, method: 'DELETE' })).status).toBe(404);
    expect((await ask(gateway.url, { headers, body })).status).toBe(401);
    expect((await ask(gateway.url, { key: anna, headers, body })).status).toBe(200);
  });

  test('are stored and told nowhere', async () => {
    await using gateway = await startAsking({ auth: { keys: true }, log: { level: 'debug' } });
    const key = await addKey(gateway, 'anna', '--tier', 'read', '--expires', '30d', '--group', 'staff');
    await toolsAt(gateway.url, { key });
    await toolsAt(gateway.url, { key: `${key.slice(0, -2)}xx` });
    const listed = await command(gateway, 'keys', 'list');
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

  test('that may only read find and call nothing else, through whichever tool', async () => {
    const tools = { tiers: { echo: 'write', '*': 'read' } };
    await using gateway = await startAsking(
      { auth: { keys: true } },
      { mcpServers: { plain: { ...plainServer, tools } }, args: ['--expose', 'search'] },
    );
    const reader = await addKey(gateway, 'reader', '--tier', 'read');
    const writer = await addKey(gateway, 'writer');
    const call = async (key: string, name: string, target: string): Promise<string> => {
      const opened = await ask(gateway.url, { key, body: initializeBody });
      const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
      const params = { name, arguments: { name: target, arguments: { text: 'hello' } } };
      const body = JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params });
      return (await ask(gateway.url, { key, headers, body })).text;
    };
    expect(await call(writer, 'call_write_tool', 'plain__echo')).toContain('hello');
    for (const name of ['call_read_tool', 'call_write_tool', 'call_destructive_tool']) {
      const answer = await call(reader, name, 'plain__echo');
      expect(answer, name).not.toContain('hello');
      // What it is like is said by its letters, whether there is one or not.
      const plain = (text: string, asked: string): string =>
        text.replace(/ Did you mean [^?]*\?/, '').replaceAll(asked, 'NAME');
      const none = await call(reader, name, 'plain__none');
      expect(plain(answer, 'plain__echo'), name).toBe(plain(none, 'plain__none'));
      expect(none).not.toContain('plain__echo');
    }
  });

  test('leave a record when they are made, revoked, and when somebody is not let in', async () => {
    await using gateway = await startAsking({ auth: { keys: true } });
    await addKey(gateway, 'anna', '--tier', 'read');
    await command(gateway, 'keys', 'revoke', 'anna');
    expect(await toolsAt(gateway.url, { key: 'tl_wrong' })).toBe(401);
    const { stdout } = await command(gateway, 'logs', '--export', 'jsonl');
    const records = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const about = records.map(({ kind, action, entry, outcome }) => ({ kind, action, entry, outcome }));
    expect(about).toContainEqual({ kind: 'key', action: 'add', entry: 'anna', outcome: 'ok' });
    expect(about).toContainEqual({ kind: 'key', action: 'revoke', entry: 'anna', outcome: 'ok' });
    expect(about).toContainEqual({ kind: 'sign-in', action: 'refuse', entry: undefined, outcome: 'refused' });
  });

  test('cannot be made with a mistake in them', async () => {
    await using gateway = await startAsking({ auth: { keys: true }, profiles });
    await addKey(gateway, 'anna');
    for (const [words, says] of [
      [['anna'], 'There is a key "anna" already'],
      [['bert', '--profile', 'echoin'], 'did you mean "echoing"?'],
      [['bert', '--expires', 'soon'], '--expires must be such as'],
      [['no spaces'], 'cannot be the name of a key'],
    ] as const) {
      const { code, stderr } = await command(gateway, 'keys', 'add', ...words);
      expect(code, stderr).toBe(2);
      expect(stderr).toContain(says);
    }
  });
});
