import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

describe('names', () => {
  test('server names: may equal command names, and the commands keep working', async () => {
    const servers = ['serve', 'help', 'config', 'search', 'tools', '__complete', 'call'];
    const home = commandHome(Object.fromEntries(servers.map((name) => [name, fixture('plain')])));
    const { stdout } = await home.run(['call', 'help', 'echo', 'text=I am a server', '--text']);
    expect(stdout).toBe('I am a server\n');
    expect((await home.run(['call', 'serve__echo', 'text=me, too', '--text'])).stdout).toBe('me, too\n');
    expect((await home.run(['help'])).stdout).toContain('Usage: trunkline');
    const names = ((await home.json(['servers'])) as { name: string }[]).map(({ name }) => name);
    expect(names.toSorted()).toEqual(servers.toSorted());
  });
});

test.each([
  [[]],
  [['--json']],
  [['--config', 'c.jsonc']],
  [['--config=c.jsonc', '--text', '--color', 'never']],
])('no command: %j prints the help screen', async (line) => {
  const home = commandHome();
  const { code, stdout, stderr } = await home.run(line);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe((await home.run(['--help'])).stdout);
});

test.each([[['--config']], [['--colour', 'never']], [['--color', 'sometimes']]])(
  'no command: %j is a usage error',
  async (line) => {
    const { code, stdout, stderr } = await commandHome().run(line);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /);
  },
);

describe('a command', () => {
  test('command: starts only the server that it needs', async () => {
    const [wanted, other] = [fixture('plain'), fixture('plain')];
    const home = commandHome({ wanted, other });
    expect((await home.run(['call', 'wanted__echo', 'text=x'])).code).toBe(0);
    expect(fixtureLog(wanted).of('started')).not.toEqual([]);
    expect(fixtureLog(other).of('started')).toEqual([]);
  });

  test('command: prints only its result on stdout, even with debug logging', { tags: ['slow'] }, async () => {
    const home = commandHome({
      plain: fixture('plain'),
      noisy: fixture('floods-stdout', '--bytes', '5000'),
      broken: { command: 'no-such-program-of-ours' },
      odd: { comand: 'x' },
    });
    for (const args of [
      ['tools'],
      ['servers'],
      ['call', 'plain__echo', 'text=x'],
      ['status'],
      ['doctor'],
      ['stats'],
    ]) {
      const { stdout, stderr } = await home.run([...args, '--json'], {
        env: { TRUNKLINE_LOG_LEVEL: 'debug', NODE_OPTIONS: '--trace-warnings' },
      });
      expect(() => JSON.parse(stdout), args.join(' ')).not.toThrow();
      // One JSON object per line, also on stderr.
      const lines = stderr.split('\n').filter((line) => line.startsWith('{'));
      for (const line of lines) expect(() => JSON.parse(line), line).not.toThrow();
    }
  });
});

describe('policy check', () => {
  const home = commandHome(
    { plain: fixture('plain') },
    {
      policy: {
        rules: [
          { id: 'no-greeting', effect: 'deny', kinds: ['prompt'], names: ['greet'] },
          { id: 'no-blob', effect: 'deny', kinds: ['resource'], names: ['fixture://blob'] },
        ],
      },
    },
  );

  test.each([
    { name: 'plain__greet', rule: 'no-greeting', code: 6 },
    { name: 'fixture://blob', rule: 'no-blob', code: 6 },
    { name: 'plain__echo', rule: undefined, code: 0 },
  ])('policy check: names the rule that decides about $name', async ({ name, rule, code }) => {
    await home.run(['refresh', 'plain']);
    const { stdout, code: exit } = await home.run(['policy', 'check', '--as', 'local', name, '--json']);
    expect({ exit, ...JSON.parse(stdout) }).toMatchObject({
      exit: code,
      ...(rule !== undefined && { rule }),
    });
  });
});
