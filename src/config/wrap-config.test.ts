import { describe, expect, test } from 'vitest';
import { createWrapConfig } from './wrap-config.ts';

const options = {
  cwd: '/project',
  env: { TOKEN: 'secret', EMPTY: '', 'odd-name': 'x' },
  locations: { configFile: '/c', stateDir: '/state' },
  client: {},
};
const server = { name: 'x', command: '/bin/my-server', args: ['${HOME}', 'b'] };

describe('config of a wrapped server', () => {
  test('wrap config: refers to the whole environment by name without its values', () => {
    const { text, name } = createWrapConfig(server, options);
    expect(name).toBe('my-server');
    expect(text).not.toContain('secret');
    expect(JSON.parse(text)).toEqual({
      mcpServers: {
        'my-server': {
          command: '/bin/my-server',
          args: ['$${HOME}', 'b'],
          cwd: '/project',
          env: { EMPTY: '${env:EMPTY:-}', TOKEN: '${env:TOKEN:-}' },
          idle: 'never',
        },
      },
    });
  });

  test('wrap config: uses a state folder per command, folder, variable names and client', () => {
    const stateDirFor = (changes: object, wrapped = server): string =>
      createWrapConfig(wrapped, { ...options, ...changes }).stateDir;
    const own = stateDirFor({});
    expect(stateDirFor({ env: { ...options.env, TOKEN: 'other' } })).toBe(own);
    for (const changes of [{ cwd: '/else' }, { env: {} }, { client: { capabilities: {} } }])
      expect(stateDirFor(changes), JSON.stringify(changes)).not.toBe(own);
    expect(stateDirFor({}, { ...server, args: [] })).not.toBe(own);
  });

  test('wrap config: names a server at a URL after its host, without credentials', () => {
    const { name, text } = createWrapConfig({ name: 'x', url: 'https://u:p@host.test:8/mcp?x' }, options);
    expect(name).toBe('host.test:8');
    expect(JSON.parse(text)).toMatchObject({ mcpServers: { 'host.test:8': { idle: 'never' } } });
  });
});
