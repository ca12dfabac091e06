import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

import { requestOverSocket } from '../../support/admin-socket.ts';
import { textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import type { RawClient } from '../../support/raw-client.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const SECRET = 'hush-55aa01';
const registry = createServer((request, response) => {
  const server = {
    name: 'io.example/weather',
    description: 'Tells the weather.',
    version: '1.0.0',
    remotes: [{ type: 'streamable-http', url: 'https://weather.example/mcp' }],
  };
  const path = request.url ?? '';
  const isKnown = path.includes('weather');
  response.setHeader('content-type', 'application/json');
  if (path.includes('/versions/')) {
    response.statusCode = isKnown ? 200 : 404;
    response.end(JSON.stringify({ server }));
  } else response.end(JSON.stringify({ servers: isKnown ? [{ server }] : [] }));
});

let home: SharedHome;
let client: RawClient;
let file = '';
let original = '';

beforeAll(async () => {
  await new Promise<void>((resolve) => registry.listen(0, '127.0.0.1', resolve));
  const { port } = registry.address() as AddressInfo;
  const one = fixture('writes-its-environment');
  home = new SharedHome({
    mcpServers: { one: { ...one, env: { ...one.env, TOKEN: SECRET } } },
    config: { startup: { listWait: '60s' } },
    env: { TRUNKLINE_REGISTRY: `http://127.0.0.1:${port}` },
  });
  client = await (await home.pipe()).client();
  file = join(home.home, 'config.jsonc');
  original = readFileSync(file, 'utf8');
  await waitForTool(client, 'one__echo');
});

afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await new Promise((resolve) => registry.close(resolve));
});

beforeEach(async () => {
  if (readFileSync(file, 'utf8') === original) return;
  writeFileSync(file, original);
  await eventually(async () => {
    const { body } = await ask('GET /api/servers');
    if ((body as readonly unknown[]).length !== 1) return false;
    return textOfResult(await client.callTool('one__echo', { text: 'as before' })) === 'as before';
  });
});

function ask(route: string, body?: unknown, isPerson = false) {
  const socket = home.record()?.socket ?? '';
  return requestOverSocket(socket, route, { ...(body !== undefined && { body }), isPerson });
}

describe('add server', () => {
  test('add server: previews with dryRun, and a server added by a person runs at once', async () => {
    const entry = fixture('plain');
    const body = { text: JSON.stringify({ mcpServers: { two: entry, three: { nothing: true } } }) };
    const dry = await ask('POST /api/servers', { ...body, dryRun: true }, true);
    expect(dry.body).toMatchObject({
      dryRun: true,
      results: [
        { name: 'two', result: 'added', trust: 'first-sight' },
        { name: 'three', result: 'refused' },
      ],
    });
    expect(readFileSync(file, 'utf8')).toBe(original);
    const done = await ask('POST /api/servers', body, true);
    expect(done.body).toMatchObject({ dryRun: false, applied: { state: 'applied' } });
    await waitForTool(client, 'two__echo');
    expect(textOfResult(await client.callTool('two__echo', { text: 'x' }))).toBe('x');
  });

  test('add server: holds a server added by a program, whatever trust it requests', async () => {
    const entry = fixture('plain');
    const { body } = await ask('POST /api/servers', { servers: { two: { ...entry, trust: 'first-sight' } } });
    expect(body).toMatchObject({ results: [{ result: 'added', trust: 'manual' }] });
    const { status } = await ask('POST /api/servers/two/refresh');
    expect(status).toBe(403);
    expect(fixtureLog(entry).all()).toEqual([]);
  });

  test('add server: finds and adds a registry server by name', async () => {
    const found = await ask('GET /api/registry?q=weather');
    expect(found.body).toMatchObject([
      { name: 'io.example/weather', entry: { url: 'https://weather.example/mcp' } },
    ]);
    const { body } = await ask('POST /api/servers', { registry: { name: 'io.example/weather', as: 'sky' } });
    expect(body).toMatchObject({ results: [{ name: 'sky', result: 'added', trust: 'manual' }] });
    expect((await ask('POST /api/servers', { registry: { name: 'io.example/none' } })).status).toBe(404);
  });

  test.each([{}, { servers: {}, text: '{}' }, { text: 'no' }, { servers: [] }, { text: '{"command": "x"}' }])(
    'add server: rejects %j with an explanation',
    async (body) => {
      const { status, text } = await ask('POST /api/servers', body);
      expect(status).toBe(400);
      expect(text).toMatch(/"message":"\S+ \S+ \S+/);
      expect(readFileSync(file, 'utf8')).toBe(original);
    },
  );
});

describe('server entry', () => {
  test('server entry: masks secrets and keeps them when the masked entry is sent back', async () => {
    const shown = await ask('GET /api/servers/one/config');
    const { entry, revision } = shown.body as { entry: object; revision: string };
    expect(shown.text).not.toContain(SECRET);
    expect(entry).toMatchObject({ env: { TOKEN: '•••' } });
    const changes = { ...entry, timeouts: { call: '7s' } };
    const { body } = await ask('PATCH /api/servers/one', { changes, expected: revision }, true);
    expect(body).toMatchObject({ changed: ['timeouts'], isHeld: false, applied: { state: 'applied' } });
    expect(readFileSync(file, 'utf8')).toContain(SECRET);
  });

  test('server entry: rejects a change based on an outdated revision', async () => {
    const { revision } = (await ask('GET /api/config')).body as { revision: string };
    const edited = original.replace('{', '{ // somebody was here\n');
    writeFileSync(file, edited);
    for (const [route, body] of [
      ['PATCH /api/servers/one', { changes: { command: 'x' } }],
      ['DELETE /api/servers/one', {}],
      ['POST /api/servers', { servers: { two: { command: 'x' } } }],
    ] as const) {
      const { status, text } = await ask(route, { ...body, expected: revision }, true);
      expect([route, status]).toEqual([route, 409]);
      expect(text).toContain('REVISION_CONFLICT');
    }
    expect(readFileSync(file, 'utf8')).toBe(edited);
  });

  test('server entry: is held after a change by a program until a person trusts it', async () => {
    const changed = await ask('PATCH /api/servers/one', { changes: { args: ['x'] } });
    expect(changed.body).toMatchObject({ isHeld: true, changed: ['args', 'trust'] });
    const trusted = await ask('PATCH /api/servers/one', { changes: { trust: null } });
    expect(trusted.status).toBe(403);
    expect((await ask('PATCH /api/servers/one', { changes: { trust: null } }, true)).status).toBe(200);
  });

  test('server entry: can be disabled, enabled and removed together with its log', async () => {
    await waitForTool(client, 'one__echo');
    expect((await ask('POST /api/servers/one/disable')).body).toMatchObject({
      changed: ['enabled'],
      server: { enabled: false, state: 'disabled' },
    });
    expect((await client.listTools()).map(({ name }) => name)).not.toContain('one__echo');
    expect((await ask('POST /api/servers/one/enable')).body).toMatchObject({ server: { enabled: true } });
    await waitForTool(client, 'one__echo');
    expect(readFileSync(file, 'utf8')).toBe(original);
    const log = (await ask('GET /api/servers/one/log')).body as { file: string };
    expect(readFileSync(log.file, 'utf8')).toContain('ready');
    const { body } = await ask('DELETE /api/servers/one');
    expect(body).not.toHaveProperty('server');
    expect((await ask('GET /api/servers/one/log')).status).toBe(404);
    expect(() => readFileSync(log.file)).toThrow('ENOENT');
  });
});

test('server log: returns lines with masked secrets, and only new ones from an offset', async () => {
  await waitForTool(client, 'one__echo');
  await eventually(async () =>
    (await ask('GET /api/servers/one/log?lines=5')).text.includes('"text":"ready"'),
  );
  const all = await ask('GET /api/servers/one/log?lines=500');
  const { lines, next } = all.body as { lines: readonly { from: string; text: string }[]; next: number };
  expect(lines.map(({ text }) => text)).toContain('TOKEN=•••');
  expect(all.text).not.toContain(SECRET);
  await ask('POST /api/servers/one/restart');
  const more = (await ask(`GET /api/servers/one/log?lines=500&from=${next}`)).body as {
    lines: readonly { text: string }[];
  };
  expect(more.lines.filter(({ text }) => text.startsWith('started with'))).toHaveLength(1);
});

test('server processes: are listed with their memory', async () => {
  await waitForTool(client, 'one__echo');
  await client.callTool('one__echo', { text: 'x' });
  const { body } = await ask('GET /api/servers/one/processes');
  expect(body).toMatchObject({ name: 'one', processes: [{ command: 'node', children: [] }] });
  expect((body as { memoryBytes: number }).memoryBytes).toBeGreaterThan(1_000_000);
});

test('audit record: names who changed which keys, without values', async () => {
  await ask('PATCH /api/servers/one', { changes: { env: { EXTRA: SECRET } } }, true);
  const { body, text } = await ask('GET /api/audit?kind=config&action=update&limit=1');
  expect(body).toMatchObject([{ kind: 'config', action: 'update', caller: 'cli', server: 'one' }]);
  expect(text).toContain('env.EXTRA');
  expect(text).not.toContain(SECRET);
});

test('read-only config: rejects every change over the admin API and allows everything else', async () => {
  writeFileSync(file, original.replace('{', '{ "readOnly": true,'));
  await eventually(async () => {
    const { body } = await ask('GET /api/config');
    return (body as { readOnly: boolean }).readOnly;
  });
  for (const [route, body] of [
    ['POST /api/servers', { servers: { two: { command: 'x' } } }],
    ['PATCH /api/servers/one', { changes: { command: 'x' } }],
    ['DELETE /api/servers/one', undefined],
    ['POST /api/servers/one/disable', undefined],
  ] as const) {
    const { status, text } = await ask(route, body, true);
    expect([route, status]).toEqual([route, 403]);
    expect(text).toContain('CONFIG_READ_ONLY');
  }
  expect((await ask('POST /api/servers', { servers: { two: { command: 'x' } }, dryRun: true })).status).toBe(
    200,
  );
  expect((await ask('POST /api/servers/one/refresh')).status).toBe(200);
});
