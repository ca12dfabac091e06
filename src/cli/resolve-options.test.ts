import { Command, Option } from 'commander';
import { afterEach, expect, test, vi } from 'vitest';

import { resolveOptions } from './resolve-options.ts';

afterEach(() => vi.unstubAllEnvs());

function parsed(env: Readonly<Record<string, string>>, ...argv: string[]): Record<string, unknown> {
  // Commander reads `process.env` itself.
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const program = new Command().addOption(new Option('--config <file>').env('T_CONFIG'));
  let options: Record<string, unknown> = {};
  program
    .command('serve')
    .addOption(new Option('--standalone').env('T_STANDALONE'))
    .addOption(new Option('--http [address]').env('T_HTTP'))
    .action((_options: unknown, command: Command) => void (options = resolveOptions(command, { env })));
  program.parse(['serve', ...argv], { from: 'user' });
  return options;
}

test('option variable: sets the same as its flag', () => {
  const env = { T_CONFIG: 'c', T_STANDALONE: '1', T_HTTP: '127.0.0.1:1' };
  expect(parsed(env)).toEqual({ config: 'c', standalone: true, http: '127.0.0.1:1' });
});

test.each(['', '0', 'no', 'OFF', 'false'])(
  'option variable: does not turn a switch on with "%s"',
  (value) => {
    expect(parsed({ T_STANDALONE: value })).toEqual({});
  },
);

test('option variable: is ignored when empty', () => {
  expect(parsed({ T_CONFIG: '', T_HTTP: '' })).toEqual({});
});

test('option variable: yields to its flag', () => {
  expect(parsed({ T_STANDALONE: '0', T_CONFIG: '' }, '--standalone', '--config', 'x')).toEqual({
    standalone: true,
    config: 'x',
  });
});
