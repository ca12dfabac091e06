import { describe, expect, test } from 'vitest';

import { createRegistryEntry } from './registry-entry.ts';
import { parseRegistryServer } from './registry-server.ts';

function made(server: object): ReturnType<typeof createRegistryEntry> {
  const read = parseRegistryServer({
    server: { name: 'io.github.me/weather', description: '', version: '1.0.0', ...server },
  });
  if (read === undefined) throw new Error('It was not read.');
  return createRegistryEntry(read);
}

const stdio = { transport: { type: 'stdio' } };

describe('registry packages', () => {
  test.each([
    [
      { registryType: 'npm', identifier: '@me/weather', version: '1.2.3' },
      ['npx', '-y', '@me/weather@1.2.3'],
    ],
    [{ registryType: 'pypi', identifier: 'weather-mcp', version: '1.0' }, ['uvx', 'weather-mcp@1.0']],
    [
      { registryType: 'oci', identifier: 'docker.io/me/weather', version: '2' },
      ['docker', 'run', '-i', '--rm', 'docker.io/me/weather:2'],
    ],
    [
      { registryType: 'oci', identifier: 'ghcr.io/me/weather:2' },
      ['docker', 'run', '-i', '--rm', 'ghcr.io/me/weather:2'],
    ],
    [
      { registryType: 'nuget', identifier: 'Me.Weather', version: '0.1.0' },
      ['dnx', 'Me.Weather@0.1.0', '--yes'],
    ],
  ])('registry package: runs %j as %j', (item, [command, ...args]) => {
    expect(made({ packages: [{ ...stdio, ...item }] })).toEqual({
      entry: { command, args, registry: 'io.github.me/weather' },
      package: item.identifier.replace(/:2$/, ''),
      needs: [],
      takes: [],
    });
  });

  test('registry package: is preferred over remotes, and unsupported packages are skipped', () => {
    const remotes = [{ type: 'streamable-http', url: 'https://x.example/mcp' }];
    const npm = { ...stdio, registryType: 'npm', identifier: 'w' };
    expect(made({ packages: [{ ...npm, registryType: 'mcpb' }, npm], remotes })).toMatchObject({
      entry: { command: 'npx', args: ['-y', 'w'] },
    });
    expect(made({ packages: [{ ...npm, registryType: 'mcpb' }], remotes })).toMatchObject({
      entry: { type: 'http', url: 'https://x.example/mcp' },
    });
  });

  test('registry package: maps arguments and environment variables with their descriptions', () => {
    const item = {
      ...stdio,
      registryType: 'oci',
      identifier: 'me/w',
      runtimeArguments: [{ type: 'named', name: '--network', value: 'host' }],
      packageArguments: [
        { type: 'positional', value: 'serve' },
        { type: 'positional', valueHint: 'city', isRequired: true, description: 'Which city' },
        { type: 'named', name: '--units', default: 'metric' },
        { type: 'named', name: '--debug' },
      ],
      environmentVariables: [
        { name: 'API_KEY', description: 'Your key', isRequired: true, isSecret: true },
        { name: 'LANG', default: 'en' },
        { name: 'PROXY', description: 'An address' },
        { name: 'BASE', value: 'https://{region}.example', variables: { region: { description: 'Where' } } },
      ],
    };
    expect(made({ packages: [item], description: 'Weather' })).toEqual({
      entry: {
        command: 'docker',
        args: [
          'run',
          '-i',
          '--rm',
          '-e',
          'API_KEY',
          '-e',
          'LANG',
          '-e',
          'BASE',
          '--network',
          'host',
          'me/w',
          'serve',
          '${env:WEATHER_CITY}',
          '--units',
          '${env:WEATHER_UNITS:-metric}',
        ],
        env: {
          API_KEY: '${env:API_KEY}',
          LANG: '${env:LANG:-en}',
          BASE: 'https://${env:WEATHER_REGION}.example',
        },
        description: 'Weather',
        registry: 'io.github.me/weather',
      },
      package: 'me/w',
      needs: [
        { name: 'API_KEY', description: 'Your key', isRequired: true },
        { name: 'WEATHER_REGION', description: 'Where', isRequired: true },
        { name: 'WEATHER_CITY', description: 'Which city', isRequired: true },
      ],
      takes: [
        { name: 'LANG', description: '', isRequired: false },
        { name: 'PROXY', description: 'An address', isRequired: false },
        { name: 'WEATHER_UNITS', description: '', isRequired: false },
      ],
    });
  });
});

test('registry remote: maps headers and URL variables', () => {
  const remote = {
    type: 'sse',
    url: 'https://{tenant}.example/sse',
    variables: { tenant: { description: 'Yours' } },
    headers: [
      { name: 'X-Api-Key', description: 'Key', isRequired: true, isSecret: true },
      { name: 'Authorization', value: 'Bearer {token}', variables: { token: { isSecret: true } } },
    ],
  };
  expect(made({ remotes: [remote] })).toMatchObject({
    entry: {
      type: 'sse',
      url: 'https://${env:WEATHER_TENANT}.example/sse',
      headers: { 'X-Api-Key': '${env:WEATHER_X_API_KEY}', Authorization: 'Bearer ${env:WEATHER_TOKEN}' },
    },
  });
});

describe('hostile registry responses', () => {
  test.each([
    [{ registryType: 'npm', identifier: '--eval=x' }, 'is not a valid package name'],
    [{ registryType: 'npm', identifier: 'https://evil.example/x.tgz' }, 'is not a valid package name'],
    [{ registryType: 'npm', identifier: 'w', version: '1 --eval x' }, 'is not a version'],
    [
      { registryType: 'npm', identifier: 'w', registryBaseUrl: 'https://evil.example' },
      'unsupported package registry, https://evil',
    ],
    [{ registryType: 'oci', identifier: '-v/:/host' }, 'is not a valid package name'],
    [{ registryType: 'constructor', identifier: 'w' }, 'cannot be started'],
    [
      { registryType: 'npm', identifier: 'w', transport: { type: 'sse', url: 'x' } },
      'must be started by hand',
    ],
  ])('registry package: rejects %j', (item, says) => {
    expect(made({ packages: [{ ...stdio, ...item }] })).toEqual({
      problem: expect.stringContaining(says) as unknown,
    });
  });

  test.each([
    { type: 'sse', url: 'javascript:alert(1)' },
    { type: 'stdio', url: 'https://x' },
    { type: 'sse' },
  ])('registry remote: rejects %j', (remote) => {
    expect(made({ remotes: [remote] })).toHaveProperty('problem');
  });

  test('registry package: escapes references in values and drops invalid variable names', () => {
    const env = [
      { name: 'A', value: '${file:/etc/passwd}' },
      { name: 'B=C', value: 'x' },
    ];
    expect(
      made({ packages: [{ ...stdio, registryType: 'npm', identifier: 'w', environmentVariables: env }] }),
    ).toMatchObject({
      entry: { env: { A: '$${file:/etc/passwd}' } },
    });
  });

  test.each([
    null,
    'x',
    {},
    { server: { name: 'no-slash' } },
    { server: { name: '../../x/y' } },
    { name: 7 },
  ])('registry server: rejects %j', (value) => {
    expect(parseRegistryServer(value)).toBeUndefined();
  });

  test('registry server: limits text and list lengths and strips control characters', () => {
    const read = parseRegistryServer({
      name: 'a/b',
      description: `\u001b[31m${'x'.repeat(10_000)}`,
      packages: Array.from({ length: 1000 }, () => ({ identifier: 'x' })),
    });
    expect(read?.description.length).toBeLessThanOrEqual(2000);
    expect(read?.description).not.toContain('\u001b');
    expect(read?.packages.length).toBeLessThanOrEqual(64);
  });
});
