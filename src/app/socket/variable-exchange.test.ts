import { describe, expect, test } from 'vitest';

import type { ConfigSnapshot } from '../../config/config.ts';
import { ReferenceVariables } from '../reference-variables.ts';
import { VariableExchange } from './variable-exchange.ts';

const http = (url: string, headers = {}) => ({ kind: 'http', url, headers });
const value = {
  upstreams: [
    { name: 'one', transport: { kind: 'stdio', command: 'x', args: [], env: { T: '${env:TOKEN}' } } },
    { name: 'two', transport: http('https://two.example', { K: 'Bearer ${TOKEN}${KEY:-}' }) },
    { name: 'the-three', transport: http('https://three.example') },
  ],
  search: {},
  storage: { url: '${PGURL}' },
  telemetry: { endpoint: '${OTEL}', headers: { H: '${COLLECTOR_KEY}' } },
};

/** Creates an exchange with the records of what it does. */
function createExchange(
  own: Readonly<Record<string, string>>,
  { clients = 1, isBackground = true }: { readonly clients?: number; readonly isBackground?: boolean } = {},
) {
  const variables = new ReferenceVariables(own);
  const reopened: string[][] = [];
  const lines: string[] = [];
  const write = (...parts: unknown[]): void => void lines.push(JSON.stringify(parts));
  const exchange = new VariableExchange({
    variables,
    // It has only the members that the exchange reads.
    config: () => ({ value }) as unknown as ConfigSnapshot,
    clients: () => clients,
    isBackground,
    reopen: (servers) => void reopened.push([...servers]),
    log: { info: write, warn: write } as never,
  });
  return { variables, exchange, reopened, lines };
}

describe('variables of clients', () => {
  test('variables of clients: replace those that the gateway lacks, and only their servers are opened again', () => {
    const { variables, exchange, reopened } = createExchange({ TOKEN: '', KEY: '${KEY}' }, { clients: 3 });
    expect(exchange.receive({ TOKEN: 'first' })).toEqual({ differing: [], mustStop: false });
    expect(variables.read('TOKEN')).toBe('first');
    exchange.receive({ KEY: 'k' });
    expect(reopened).toEqual([['one', 'two'], ['two']]);
  });

  test('variables of clients: do not replace a different value while another client is connected', () => {
    const { variables, exchange, reopened, lines } = createExchange({ TOKEN: 'own-value' });
    expect(exchange.receive({ TOKEN: 'their-value' })).toEqual({
      differing: [{ name: 'TOKEN', canBeSecret: true }],
      mustStop: false,
    });
    expect([variables.read('TOKEN'), reopened]).toEqual(['own-value', []]);
    expect(lines.join('')).toContain('TOKEN');
    expect(lines.join('')).not.toContain('-value');
  });

  test.each([
    ['no client is connected', { clients: 0 }, {}],
    ['the client insists', { clients: 2 }, { replace: 'always' }],
  ] as const)('variables of clients: replace a different value if %s', (_when, deps, options) => {
    const { variables, exchange, reopened, lines } = createExchange({ TOKEN: 'own-value' }, deps);
    expect(exchange.receive({ TOKEN: 'their-value' }, options)).toEqual({ differing: [], mustStop: false });
    expect([variables.read('TOKEN'), reopened]).toEqual(['their-value', [['one', 'two']]]);
    expect(lines.join('')).not.toContain('-value');
  });

  test('variables of clients: of one that reconnects replace no different value', () => {
    const { variables, exchange } = createExchange({ TOKEN: 'own' }, { clients: 0 });
    const brought = { TOKEN: 'older', KEY: 'k', PGURL: 'x' };
    expect(exchange.receive(brought, { replace: 'never' })).toMatchObject({
      differing: [{ name: 'TOKEN' }, { name: 'PGURL' }],
      mustStop: false,
    });
    expect(['TOKEN', 'KEY'].map((name) => variables.read(name))).toEqual(['own', 'k']);
  });

  test('variables of clients: complete those of a gateway that a person started, and replace none', () => {
    const { variables, exchange } = createExchange({ TOKEN: 'own' }, { clients: 0, isBackground: false });
    expect(exchange.receive({ TOKEN: 'other', KEY: 'k' }, { replace: 'always' }).differing).toMatchObject([
      { name: 'TOKEN' },
    ]);
    expect(['TOKEN', 'KEY'].map((name) => variables.read(name))).toEqual(['own', 'k']);
  });

  test('variables of clients: are ignored unless the configuration of the gateway uses them', () => {
    const { variables, exchange } = createExchange({}, { clients: 0 });
    exchange.receive({ PATH: '/evil', TRUNKLINE_TOKENS_NONE: 'x', TRUNKLINE_TOKENS_THE_THREE: 'seed' });
    expect(
      ['PATH', 'TRUNKLINE_TOKENS_NONE', 'TRUNKLINE_TOKENS_THE_THREE'].map((name) => variables.read(name)),
    ).toEqual([undefined, undefined, 'seed']);
  });

  test('variables of clients: with first tokens of a server open that server again', () => {
    const { exchange, reopened } = createExchange({});
    exchange.receive({ TRUNKLINE_TOKENS_THE_THREE: 'seed' });
    expect(reopened).toEqual([['the-three']]);
  });

  test('variables of clients: of no server open none again', () => {
    const { variables, exchange, reopened } = createExchange({});
    exchange.receive({ COLLECTOR_KEY: 'k' });
    expect([variables.read('COLLECTOR_KEY'), reopened]).toEqual(['k', []]);
  });

  test('variables of clients: cannot be stored as secrets for settings that accept none', () => {
    const { exchange } = createExchange({ COLLECTOR_KEY: 'own' });
    expect(exchange.receive({ COLLECTOR_KEY: 'other' }).differing).toEqual([
      { name: 'COLLECTOR_KEY', canBeSecret: false },
    ]);
  });

  test.each(['PGURL', 'OTEL', 'TRUNKLINE_KEYCHAIN'])(
    'variables of clients: need another gateway for %s, which is read at the start',
    (name) => {
      const idle = createExchange({}, { clients: 0 });
      expect(idle.exchange.receive({ [name]: 'x', TOKEN: 't' })).toEqual({ differing: [], mustStop: true });
      expect(idle.variables.read('TOKEN')).toBeUndefined();
      const inUse = createExchange({});
      expect(inUse.exchange.receive({ [name]: 'x' })).toEqual({
        differing: [{ name, canBeSecret: false }],
        mustStop: false,
      });
      const command = createExchange({}, { clients: 0 });
      expect(command.exchange.receive({ [name]: 'x' }, { isPipe: false })).toMatchObject({ mustStop: false });
    },
  );

  test('variables of clients: are compared without changing anything', () => {
    const { variables, exchange, reopened } = createExchange({ TOKEN: 'own' }, { clients: 0 });
    expect(exchange.compare({ TOKEN: 'other', KEY: 'k' })).toEqual([{ name: 'TOKEN', canBeSecret: true }]);
    expect([variables.read('TOKEN'), variables.read('KEY'), reopened]).toEqual(['own', undefined, []]);
  });

  test('variables of clients: are reported as differing as long as the client is connected and they differ', () => {
    const { exchange } = createExchange({ TOKEN: 'own', KEY: 'own' });
    using _ = exchange.connect({ TOKEN: 'other' });
    {
      using __ = exchange.connect({ TOKEN: 'third', KEY: 'k' });
      expect(exchange.differing().map(({ name }) => name)).toEqual(['TOKEN', 'KEY']);
    }
    expect(exchange.differing().map(({ name }) => name)).toEqual(['TOKEN']);
    exchange.receive({ TOKEN: 'other' }, { replace: 'always' });
    expect(exchange.differing()).toEqual([]);
  });
});
