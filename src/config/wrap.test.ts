import { describe, expect, test } from 'vitest';
import { wrapConfig } from './wrap.ts';

const options = {
  cwd: '/work',
  env: { TOKEN: 'secret', EMPTY: '', 'odd-name': 'x' },
  places: { configFile: '/c', stateDir: '/state' },
  client: {},
};
const server = { name: 'x', command: '/bin/my-server', args: ['${HOME}', 'b'] };

describe('wrapConfig', () => {
  test('has the whole environment by name, and no value of it', () => {
    const { text, name } = wrapConfig(server, options);
    expect(name).toBe('my-server');
    expect(text).not.toContain('secret');
    expect(JSON.parse(text)).toEqual({
      mcpServers: {
        'my-server': {
          command: '/bin/my-server',
          args: ['$${HOME}', 'b'],
          cwd: '/work',
          env: { EMPTY: '${env:EMPTY:-}', TOKEN: '${env:TOKEN:-}' },
          idle: 'never',
        },
      },
    });
  });

  test('remembers apart what could be different, and values are no difference', () => {
    const place = (changes: object, of = server): string =>
      wrapConfig(of, { ...options, ...changes }).stateDir;
    const own = place({});
    expect(place({ env: { ...options.env, TOKEN: 'other' } })).toBe(own);
    for (const changes of [{ cwd: '/else' }, { env: {} }, { client: { capabilities: {} } }])
      expect(place(changes), JSON.stringify(changes)).not.toBe(own);
    expect(place({}, { ...server, args: [] })).not.toBe(own);
  });

  test('names a server at an address by its host, without credentials', () => {
    const { name, text } = wrapConfig({ name: 'x', url: 'https://u:p@host.test:8/mcp?x' }, options);
    expect(name).toBe('host.test:8');
    expect(JSON.parse(text)).toMatchObject({ mcpServers: { 'host.test:8': { idle: 'never' } } });
  });
});
