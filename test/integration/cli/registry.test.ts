import { once } from 'node:events';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { checkLeaks } from '../../support/leak-check.ts';

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

const newer = {
  ...weather,
  version: '1.3.0',
  packages: weather.packages.map((item) => ({
    ...item,
    version: '1.3.0',
    environmentVariables: [{ name: 'WEATHER_REGION', description: 'Where', isRequired: true }],
  })),
};
const moved = {
  ...weather,
  version: '2.0.0',
  packages: [],
  remotes: [{ type: 'streamable-http', url: 'https://weather.example/mcp' }],
};
/** The versions in the registry, by the first part of the path. */
const versions: Readonly<Record<string, readonly { readonly name: string }[]>> = {
  newer: [newer],
  moved: [moved],
  gone: [],
  // Some registries list every version, the newest first.
  twice: [newer, weather],
};

/** The requested paths. */
const asked: string[] = [];

/** The official registry's API over a list of servers, in pages. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  const url = new URL(request.url ?? '', 'http://registry');
  const send = (status: number, body: unknown): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const [, base = '', version, , name] = url.pathname.split('/');
  const all = [...others, ...(versions[base] ?? [weather])];
  if (base === 'broken') return void response.writeHead(200).end('<html>');
  if (base === 'failing') return send(500, {});
  asked.push(url.pathname);
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
    'registry search: finds servers on all pages, the closest name first: $path',
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
          registry: 'io.github.me/weather',
        },
        needs: [{ name: 'WEATHER_KEY', description: 'A key of the service', isRequired: true }],
        takes: [],
      });
    },
  );

  test('registry search: prints a table, or says that nothing was found', async () => {
    const env = { TRUNKLINE_REGISTRY: `${at}/new` };
    const found = await home.run(['registry', 'search', 'io.github', '--text'], { env });
    expect(found.stdout).toMatch(
      /^server +version +description\nio\.github\.me\/weather +1\.2\.3 +Forecasts for cities\n\n1 server\./,
    );
    expect((await home.run(['registry', 'search', 'nothing', '--text'], { env })).stdout).toContain(
      'No servers found',
    );
    expect(await home.json(['registry', 'search', 'nothing'], { env })).toEqual([]);
  });

  test.each([
    { path: 'broken', code: 4, says: 'its response is not JSON' },
    { path: 'failing', code: 4, says: 'status 500' },
    { path: 'endless', code: 4, says: 'larger than 8 MB' },
    { path: 'no/such/place', code: 4, says: 'does not serve the registry API' },
  ])(
    'registry search: exits with 4 and explains an unusable registry: $path',
    async ({ path, code, says }) => {
      const result = await home.run(['registry', 'search', 'x', '--registry', `${at}/${path}`]);
      expect(result).toMatchObject({ code, stdout: '' });
      expect(result.stderr).toContain(says);
    },
  );

  test('registry search: names --registry when it is unreachable, and rejects a non-HTTP URL', async () => {
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

  test('registry search: shows each server once, in its newest version', async () => {
    const found = await home.json(['registry', 'search', 'io.github', '--registry', `${at}/twice`]);
    expect(found).toMatchObject([{ name: 'io.github.me/weather', version: '1.3.0' }]);
    expect(found).toHaveLength(1);
  });

  test('registry search: ignores malformed servers and a cursor that repeats', async () => {
    asked.length = 0;
    expect(await home.json(['registry', 'search', 'x', '--registry', `${at}/odd`])).toEqual([]);
    expect(asked).toHaveLength(2);
  });
});

describe('add --from-registry', () => {
  test('add --from-registry: writes references and explains the variables to set', async () => {
    const home = commandHome();
    const env = { TRUNKLINE_REGISTRY: `${at}/new` };
    const { code, stderr } = await home.run(
      ['add', '--from-registry', 'io.github.me/weather', '--env', 'CITY=Praha', '--trust'],
      { env },
    );
    expect(code).toBe(0);
    expect(stderr).toContain('Command or URL: npx -y @me/weather@1.2.3');
    expect(stderr).toContain(
      'Set these variables in the environment of Trunkline:\n  WEATHER_KEY  A key of the service',
    );
    expect(JSON.parse(readFileSync(home.configFile, 'utf8'))).toEqual({
      mcpServers: {
        weather: {
          command: 'npx',
          args: ['-y', '@me/weather@1.2.3'],
          env: { WEATHER_KEY: '${env:WEATHER_KEY}', CITY: 'Praha' },
          description: 'Forecasts for cities',
          registry: 'io.github.me/weather',
        },
      },
    });
    expect((await home.run(['add', 'mine', '--from-registry', 'io.github.me/weather'], { env })).code).toBe(
      0,
    );
    expect(readFileSync(home.configFile, 'utf8')).toContain('"mine"');
  });

  test('add --from-registry: suggests similar names for an unknown server', async () => {
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

describe('registry update', () => {
  const weatherOf = (home: ReturnType<typeof commandHome>): Record<string, unknown> =>
    (JSON.parse(readFileSync(home.configFile, 'utf8').replaceAll(/\/\/ .*/g, '')) as never)['mcpServers'][
      'weather'
    ];

  /** A home with the added server, edited by hand afterwards. */
  async function homeWith(change: (text: string) => string = (text) => text) {
    const home = commandHome();
    await home.run(['add', '--from-registry', 'io.github.me/weather', '--trust', '--registry', `${at}/new`]);
    writeFileSync(home.configFile, change(readFileSync(home.configFile, 'utf8')));
    return home;
  }
  const update = (home: ReturnType<typeof commandHome>, path: string, ...args: string[]) =>
    home.run(['registry', 'update', '--registry', `${at}/${path}`, ...args]);

  test('registry update: does not touch the file when the server is current', async () => {
    const home = await homeWith();
    const before = statSync(home.configFile).mtimeMs;
    const { code, stdout } = await update(home, 'new', '--yes');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      applied: false,
      servers: [{ server: 'weather', state: 'current', version: '1.2.3', newest: '1.2.3' }],
    });
    expect(statSync(home.configFile).mtimeMs).toBe(before);
  });

  test('registry update: takes the new version and its variables, and keeps manual changes', async () => {
    const home = await homeWith((text) =>
      text
        .replace('"@me/weather@1.2.3"', '"@me/weather@1.2.3", "--verbose"')
        .replace('"registry"', '"timeouts": { "call": "5m" }, // mine\n "registry"')
        .replace('"env": {', '"env": { "NODE_OPTIONS": "--no-warnings",'),
    );
    const shown = await update(home, 'newer', '--dry-run', '--yes', '--text');
    expect(shown.code).toBe(0);
    expect(shown.stdout).toMatch(/^weather +outdated +1\.2\.3 → 1\.3\.0 /m);
    expect(weatherOf(home)['args']).toContain('@me/weather@1.2.3');
    const asked = await update(home, 'newer');
    expect([asked.code, asked.stderr.includes('Add --yes to update them')]).toEqual([2, true]);
    const { code, stderr } = await update(home, 'newer', 'weather', '--yes');
    expect(code).toBe(0);
    expect(stderr).toContain('weather now needs WEATHER_REGION. Set it in the environment of Trunkline.');
    expect(readFileSync(home.configFile, 'utf8')).toContain('{ "call": "5m" }, // mine\n');
    expect(weatherOf(home)).toMatchObject({
      args: ['-y', '@me/weather@1.3.0', '--verbose'],
      timeouts: { call: '5m' },
    });
    // The variable that is no longer needed is removed; one added by hand stays.
    expect(weatherOf(home)['env']).toEqual({
      NODE_OPTIONS: '--no-warnings',
      WEATHER_REGION: '${env:WEATHER_REGION}',
    });
  });

  test('registry update: replaces a program by a URL, says so, and holds the server for approval', async () => {
    const home = await homeWith((text) => text.replace('"registry"', '"tags": ["x"], "registry"'));
    const { stdout } = await update(home, 'moved', '--yes');
    expect(JSON.parse(stdout)).toMatchObject({
      applied: true,
      servers: [
        {
          state: 'outdated',
          reason: expect.stringContaining('no longer a program'),
          held: true,
          reached: {
            from: 'npx',
            to: 'https://weather.example/mcp',
          },
        },
      ],
    });
    expect(weatherOf(home)).toEqual({
      type: 'http',
      url: 'https://weather.example/mcp',
      tags: ['x'],
      description: 'Forecasts for cities',
      registry: 'io.github.me/weather',
      // Held, since there was no terminal to confirm it.
      trust: 'manual',
    });
  });

  test('registry update: a new host gets no headers and is held for approval', async () => {
    const home = commandHome({
      weather: {
        url: 'https://old.example/mcp?key=hush-1',
        registry: 'io.github.me/weather',
        headers: { Authorization: 'Bearer hush-2' },
      },
    });
    const shown = await update(home, 'moved', '--dry-run', '--text');
    expect(shown.stdout).toContain('weather: https://old.example/mcp → https://weather.example/mcp\n');
    expect(shown.stdout).toContain('weather: Authorization was meant for the old host and will be removed');
    expect(shown.stdout).not.toContain('hush');
    const { code, stdout } = await update(home, 'moved', '--yes');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ dropped: ['Authorization'], held: true }] });
    expect(weatherOf(home)).toEqual({
      url: 'https://weather.example/mcp',
      type: 'http',
      trust: 'manual',
      registry: 'io.github.me/weather',
    });
  });

  test.each([
    {
      what: 'the registry no longer has',
      path: 'gone',
      from: '',
      to: '',
      reason: 'the registry no longer has it',
    },
    {
      what: 'was changed by hand',
      path: 'newer',
      from: '"@me/weather@1.2.3"',
      to: '"/my/copy"',
      reason: 'changed by hand',
    },
  ])('registry update: skips a server that $what', async ({ path, from, to, reason }) => {
    const home = await homeWith((text) => text.replace(from, to));
    const before = readFileSync(home.configFile, 'utf8');
    const { code, stdout } = await update(home, path, '--yes');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      servers: [{ state: 'unusable', reason: expect.stringContaining(reason) }],
    });
    expect(readFileSync(home.configFile, 'utf8')).toBe(before);
  });

  test(
    'registry search: shows the configured version beside the newest one',
    { tags: ['slow'] },
    async () => {
      const home = await homeWith();
      const env = { TRUNKLINE_REGISTRY: `${at}/newer` };
      expect(await home.json(['registry', 'search', 'io.github'], { env })).toMatchObject([
        { version: '1.3.0', configured: [{ server: 'weather', version: '1.2.3' }] },
      ]);
      const { stdout } = await home.run(['registry', 'search', 'io.github', '--text'], { env });
      expect(stdout).toMatch(/^io\.github\.me\/weather +1\.3\.0 \(weather: 1\.2\.3\) +Forecasts/m);
      expect(stdout).toContain('trunkline registry update');
      // A broken configuration does not prevent a search.
      writeFileSync(home.configFile, '{ oops');
      expect(await home.json(['registry', 'search', 'io.github'], { env })).toMatchObject([
        { version: '1.3.0' },
      ]);
    },
  );

  test('registry update: explains how to link a server that was not added from the registry', async () => {
    const home = commandHome({ other: { command: 'x' } });
    const { code, stderr } = await update(home, 'new', 'other');
    expect(code).toBe(2);
    expect(stderr).toContain('trunkline add other --from-registry NAME --replace');
    expect((await update(home, 'new', 'othr')).stderr).toContain('Did you mean other?');
    expect((await update(home, 'new', '--text')).stdout).toContain(
      'No configured server comes from the registry',
    );
  });
});
