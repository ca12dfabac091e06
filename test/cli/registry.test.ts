import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { commandHome } from '../support/command.ts';
import { checkLeaks } from '../support/leak-check.ts';

checkLeaks();

const weather = {
  name: 'io.github.me/weather',
  description: 'Forecasts for cities',
  version: '1.2.3',
  repository: { url: 'https://github.example/me/weather', source: 'github' },
  packages: [
    {
      registryType: 'npm',
      identifier: '@me/weather',
      version: '1.2.3',
      transport: { type: 'stdio' },
      environmentVariables: [
        { name: 'WEATHER_KEY', description: 'A key of the service', isRequired: true, isSecret: true },
      ],
    },
  ],
};
const others = Array.from({ length: 150 }, (_, at) => ({
  name: `com.weather${at}/other`,
  description: 'x',
  version: '1',
  remotes: [{ type: 'streamable-http', url: 'https://x.example/mcp' }],
}));

/** The official registry's API over a list of servers, in pages. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://registry');
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const all = [...others, weather];
  const [, base, version, , name] = url.pathname.split('/');
  if (base === 'broken') return void response.writeHead(200).end('<html>');
  if (base === 'failing') return send(500, {});
  if (base === 'odd')
    return send(200, {
      servers: [null, 7, { server: { name: '\u001b]0;x' } }],
      metadata: { nextCursor: 'same' },
    });
  if (base === 'endless') {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more);
    return more();
  }
  if (base === 'old' ? version !== 'v0' : version !== 'v0.1') return send(404, { error: 'Not Found' });
  if (name !== undefined) {
    const found = all.find((each) => each.name === decodeURIComponent(name));
    return found === undefined ? send(404, { error: 'Server not found' }) : send(200, { server: found });
  }
  const matching = all.filter((each) => each.name.includes(url.searchParams.get('search') ?? ''));
  const from = Number(url.searchParams.get('cursor') ?? 0);
  const to = from + Number(url.searchParams.get('limit') ?? 30);
  const servers = matching.slice(from, to).map((server) => ({
    server,
    _meta: { 'io.modelcontextprotocol.registry/official': { status: 'active', isLatest: true } },
  }));
  send(200, {
    servers,
    metadata: { count: servers.length, ...(to < matching.length && { nextCursor: String(to) }) },
  });
}

let server: Server;
let at: string;
beforeAll(async () => {
  server = createServer(answer).listen(0, '127.0.0.1');
  await once(server, 'listening');
  at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

describe('registry search', () => {
  const home = commandHome();

  test.each([{ path: 'new' }, { path: 'old' }, { path: 'old/v0' }])(
    'finds servers by name on all pages, the nearest first: $path',
    async ({ path }) => {
      const found = await home.json([
        'registry',
        'search',
        'weather',
        '--limit',
        '200',
        '--registry',
        `${at}/${path}`,
      ]);
      expect(found).toHaveLength(151);
      expect((found as unknown[])[0]).toEqual({
        name: 'io.github.me/weather',
        description: 'Forecasts for cities',
        version: '1.2.3',
        status: 'active',
        repository: 'https://github.example/me/weather',
        entry: {
          command: 'npx',
          args: ['-y', '@me/weather@1.2.3'],
          env: { WEATHER_KEY: '${env:WEATHER_KEY}' },
          description: 'Forecasts for cities',
        },
        needs: [{ name: 'WEATHER_KEY', description: 'A key of the service', isRequired: true }],
        takes: [],
      });
    },
  );

  test('prints a table, and says when there is nothing', async () => {
    const env = { TRUNKLINE_REGISTRY: `${at}/new` };
    const found = await home.run(['registry', 'search', 'io.github', '--text'], { env });
    expect(found.stdout).toMatch(
      /^server +version +what it does\nio\.github\.me\/weather +1\.2\.3 +Forecasts for cities\n\n1 server\./,
    );
    expect((await home.run(['registry', 'search', 'nothing', '--text'], { env })).stdout).toContain(
      'No servers found',
    );
    expect(await home.json(['registry', 'search', 'nothing'], { env })).toEqual([]);
  });

  test.each([
    { path: 'broken', code: 4, says: 'its answer is not JSON' },
    { path: 'failing', code: 4, says: 'status 500' },
    { path: 'endless', code: 4, says: 'larger than 8 MB' },
    { path: 'no/such/place', code: 4, says: 'is it a registry' },
  ])('of a registry that is $path says so', async ({ path, code, says }) => {
    const result = await home.run(['registry', 'search', 'x', '--registry', `${at}/${path}`]);
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toContain(says);
  });

  test('of one that cannot be reached, or is no address, names the flag', async () => {
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const { port } = closed.address() as AddressInfo;
    closed.close();
    await once(closed, 'close');
    const gone = await home.run(['registry', 'search', 'x', '--registry', `http://127.0.0.1:${port}`]);
    expect([gone.code, gone.stderr.includes('ECONNREFUSED'), gone.stderr.includes('--registry')]).toEqual([
      4,
      true,
      true,
    ]);
    expect((await home.run(['registry', 'search', 'x', '--registry', 'file:///x'])).code).toBe(2);
  });

  test('does not believe what is no server, nor a cursor that stays the same', async () => {
    expect(await home.json(['registry', 'search', 'x', '--registry', `${at}/odd`])).toEqual([]);
  });
});

describe('add --from-registry', () => {
  test('writes references, and says what each is for', async () => {
    const home = commandHome();
    const env = { TRUNKLINE_REGISTRY: `${at}/new` };
    const { code, stderr } = await home.run(
      ['add', '--from-registry', 'io.github.me/weather', '--env', 'CITY=Praha', '--trust'],
      { env },
    );
    expect(code).toBe(0);
    expect(stderr).toContain('It is reached by: npx -y @me/weather@1.2.3');
    expect(stderr).toContain('Set these where Trunkline is started:\n  WEATHER_KEY  A key of the service');
    expect(JSON.parse(readFileSync(home.configFile, 'utf8'))).toEqual({
      mcpServers: {
        weather: {
          command: 'npx',
          args: ['-y', '@me/weather@1.2.3'],
          env: { WEATHER_KEY: '${env:WEATHER_KEY}', CITY: 'Praha' },
          description: 'Forecasts for cities',
        },
      },
    });
    expect((await home.run(['add', 'mine', '--from-registry', 'io.github.me/weather'], { env })).code).toBe(
      0,
    );
    expect(readFileSync(home.configFile, 'utf8')).toContain('"mine"');
  });

  test('of a name that is not there names those that are near', async () => {
    const home = commandHome();
    const { code, stderr } = await home.run([
      'add',
      '--from-registry',
      'io.github.you/weather',
      '--registry',
      `${at}/new`,
    ]);
    expect(code).toBe(6);
    expect(stderr).toContain('Did you mean io.github.me/weather');
  });
});
