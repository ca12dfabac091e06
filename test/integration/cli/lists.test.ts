import { describe, expect, test } from 'vitest';

import { type CommandHome, commandHome } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

const plain = fixture('plain');
const paged = fixture('pages');
const hidden = fixture('hidden-characters');
const home: CommandHome = commandHome({
  plain: { ...plain, env: { ...plain.env, API_TOKEN: 'open-sesame', OTHER: '${env:SOME_SECRET:-none}' } },
  paged,
  hidden,
  broken: { command: 'no-such-program-of-ours' },
  off: { command: 'x', disabled: true },
});

describe('trunkline tools', () => {
  test('tools: prints JSON in a pipe and names missing servers on stderr', async () => {
    const { code, stdout, stderr } = await home.run(['tools']);
    expect(code).toBe(0);
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(expect.arrayContaining(['plain__add', 'plain__echo', 'hidden__terminal']));
    expect(stderr).toMatch(/^Left out: Server "broken" cannot be started: .*: trunkline edit broken\n$/);
  });

  test('tools: prints each problem as one line of JSON with --json', async () => {
    const { stdout, stderr } = await home.run(['--json', 'tools']);
    expect(JSON.parse(stdout)).toBeInstanceOf(Array);
    expect(JSON.parse(stderr)).toMatchObject({
      code: 'UPSTREAM_REFUSED',
      details: { servers: [{ server: 'broken', code: 'UPSTREAM_REFUSED' }] },
    });
  });

  test('tools: lists only the given server, across all pages', async () => {
    const { stdout, stderr } = await home.run(['tools', 'paged', '--text']);
    expect(stderr).toBe('');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.at(-1)).toBe(`${lines.length - 2} tools`);
    expect(lines.slice(0, -2).every((line) => line.startsWith('paged__'))).toBe(true);
    expect(
      fixtureLog(paged)
        .of('request')
        .filter(({ method }) => method === 'tools/list').length,
    ).toBeGreaterThan(2);
  });

  test('tools: removes control characters from server text', async () => {
    const { stdout } = await home.run(['tools', 'hidden', '--text']);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(stdout).toContain('hidden__newlines');
    // One line per tool, even with line breaks in the description.
    expect(stdout.trimEnd().split('\n')).toHaveLength(9 + 2);
  });

  test('tools: exits with 4 for a server that cannot start', async () => {
    const { code, stdout, stderr } = await home.run(['tools', 'broken']);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('no-such-program-of-ours');
  });

  test('tools: suggests a similar name for an unknown server', async () => {
    const { code, stdout, stderr } = await home.run(['tools', 'plainn']);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toContain('Did you mean "plain"?');
  });
});

describe('trunkline servers', () => {
  test('servers: shows references but no secrets', async () => {
    const { stdout } = await home.run(['servers']);
    expect(stdout).not.toContain('open-sesame');
    const all = JSON.parse(stdout) as { name: string; state: string; transport?: { env: unknown } }[];
    expect(all.find(({ name }) => name === 'plain')?.transport?.env).toMatchObject({
      API_TOKEN: '•••',
      OTHER: '${env:SOME_SECRET:-•••}',
    });
    expect(all.find(({ name }) => name === 'off')).toMatchObject({ state: 'disabled', enabled: false });
  });

  test('servers: prints a table sorted by name, with the count below', async () => {
    const { stdout } = await home.run(['servers', '--text']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^server +state +transport +tools +listed +command or URL$/);
    expect(lines.slice(1, 6).map((line) => line.split(' ')[0])).toEqual([
      'broken',
      'hidden',
      'off',
      'paged',
      'plain',
    ]);
    expect(lines[6]).toBe('');
    expect(lines[7]).toBe('5 servers');
    const { stdout: json } = await home.run(['servers']);
    expect(json).not.toContain('open-sesame');
  });

  test('servers: says how to add some when none are configured', async () => {
    const empty = commandHome();
    expect((await empty.run(['servers'])).stdout).toBe('[]\n');
    const { stdout } = await empty.run(['servers', '--text']);
    expect(stdout).toContain(`configured in ${empty.configFile}`);
    expect(stdout).toContain('trunkline init');
    expect(stdout).toContain('trunkline add NAME');
  });

  test.each([['tools'], ['prompts'], ['resources'], ['search anything']])(
    'no servers: trunkline %s prints nothing and points to trunkline init',
    async (line) => {
      const empty = commandHome();
      const { code, stderr } = await empty.run([...line.split(' '), '--text']);
      expect(code).toBe(0);
      expect(stderr).toContain('trunkline init');
      expect(await empty.run(line.split(' '))).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    },
  );

  test('unreachable server: is reported once and does not end the command early', async () => {
    const away = commandHome({ plain, away: { url: 'http://127.0.0.1:9/mcp' } });
    const listed = await away.run(['resources']);
    expect(listed.code).toBe(0);
    expect(listed.stderr).toContain('Left out: Server "away"');
    expect(listed.stdout).toContain('fixture://text');
    const found = await away.run(['search', '-', '--limit', '1'], { input: 'add\necho\nadd numbers\n' });
    expect({ code: found.code, lines: found.stdout.trimEnd().split('\n').length }).toEqual({
      code: 0,
      lines: 3,
    });
    expect(found.stderr.match(/Left out/g)).toHaveLength(1);
  });

  test('invalid entry: is reported with its position and the reason', async () => {
    const odd = commandHome({ odd: { command: 'x', comand: 'y' } });
    const { code, stdout, stderr } = await odd.run(['servers']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '[]\n' });
    expect(stderr).toMatch(/^trunkline: .*config\.jsonc:\d+:\d+: .*comand.* \[CONFIG_INVALID\]\n$/);
    expect(await odd.run(['tools'])).toEqual({ code, stdout, stderr });
    expect(JSON.parse((await odd.run(['tools', '--json'])).stderr)).toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('trunkline prompts and resources', () => {
  test('prompts and resources: list the entries of one server, including templates', async () => {
    expect(await home.json(['prompts', 'plain'])).toMatchObject([
      { name: 'plain__bare' },
      { name: 'plain__greet', original: 'greet' },
    ]);
    expect(await home.json(['resources', 'plain'])).toMatchObject([
      { uri: 'fixture://blob' },
      { uri: 'fixture://text' },
      { uriTemplate: 'fixture://item/{id}' },
    ]);
    const { stdout } = await home.run(['prompts', 'plain', '--text']);
    expect(stdout).toMatch(/^plain__greet +name=… +A greeting\.$/m);
  });
});

describe('trunkline search', () => {
  test('search: finds tools by what they do, up to --limit', async () => {
    const hits = await home.json(['search', 'sum', 'of', 'two', 'numbers', '--limit', '1']);
    expect(hits).toMatchObject([{ name: 'plain__add', server: 'plain', tier: 'read' }]);
  });

  test('search: --server restricts the results to one server', async () => {
    const query = ['search', 'add numbers, read a file'];
    const servers = async (...args: string[]): Promise<Set<string>> =>
      new Set(((await home.json([...query, ...args])) as { server: string }[]).map(({ server }) => server));
    expect([...(await servers())]).toEqual(expect.arrayContaining(['hidden', 'plain']));
    expect(await servers('--server', 'hidden')).toEqual(new Set(['hidden']));
  });

  test('search: answers each line of standard input with one line', async () => {
    const { code, stdout } = await home.run(['search', '-', '--limit', '1'], {
      input: 'add numbers\n\nsay it again\r\n',
    });
    expect(code).toBe(0);
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { query: string; hits: unknown[] });
    // One line of results per query line, so that they can be matched.
    expect(answers.map(({ query }) => query)).toEqual(['add numbers', '', 'say it again']);
    expect(answers[1]?.hits).toEqual([]);
    expect(answers[0]?.hits).toMatchObject([{ name: 'plain__add' }]);
  });

  test.each([['0'], ['-3'], ['many']])('search: rejects --limit %s', async (limit) => {
    const { code, stdout, stderr } = await home.run(['search', 'x', `--limit=${limit}`]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('whole number');
  });
});

describe('trunkline describe', () => {
  test('describe: prints parameters as a table and marks required ones', async () => {
    const { stdout } = await home.run(['describe', 'plain__progress', '--text']);
    expect(stdout).toMatch(/^ {2}steps +integer +required$/m);
    expect(stdout).toMatch(/^ {2}ms +integer$/m);
  });

  test('describe: prints the whole definition as JSON, by exposed or original name', async () => {
    const one = await home.json(['describe', 'plain__echo']);
    expect(one).toMatchObject({
      name: 'plain__echo',
      definition: { name: 'echo', inputSchema: { type: 'object' } },
    });
    expect(await home.json(['describe', 'plain', 'echo'])).toEqual(one);
  });

  test('describe: exits with 6 and suggests a similar name for an unknown tool', async () => {
    const { code, stderr } = await home.run(['describe', 'plain__ecko']);
    expect(code).toBe(6);
    expect(stderr).toContain('"plain__echo"');
  });
});
