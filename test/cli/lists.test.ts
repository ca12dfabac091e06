import { describe, expect, test } from 'vitest';

import { type CommandHome, commandHome } from '../support/command.ts';
import { fixture, fixtureLog } from '../support/fixture.ts';
import { checkLeaks } from '../support/leak-check.ts';

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
  test('gives JSON in a pipe and tells on standard error which server is missing', async () => {
    const { code, stdout, stderr } = await home.run(['tools']);
    expect(code).toBe(0);
    const names = (JSON.parse(stdout) as { name: string }[]).map(({ name }) => name);
    expect(names).toEqual(names.toSorted());
    expect(names).toEqual(expect.arrayContaining(['plain__add', 'plain__echo', 'hidden__terminal']));
    expect(stderr).toMatch(/^trunkline: Left out here: Server "broken" .* \[UPSTREAM_REFUSED\]\n$/);
  });

  test('with --json tells each problem as one line of JSON', async () => {
    const { stdout, stderr } = await home.run(['--json', 'tools']);
    expect(JSON.parse(stdout)).toBeInstanceOf(Array);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'UPSTREAM_REFUSED', details: { server: 'broken' } });
  });

  test('of one server are only its own, and follow all pages', async () => {
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

  test('lets no text of a server control the terminal', async () => {
    const { stdout } = await home.run(['tools', 'hidden', '--text']);
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
    expect(stdout).toContain('hidden__newlines');
    // One line per tool, whatever the description says.
    expect(stdout.trimEnd().split('\n')).toHaveLength(8 + 2);
  });

  test('of a server that cannot be started is the error, with its exit code', async () => {
    const { code, stdout, stderr } = await home.run(['tools', 'broken']);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
    expect(stderr).toContain('no-such-program-of-ours');
  });

  test('of an unknown server names what was probably meant', async () => {
    const { code, stdout, stderr } = await home.run(['tools', 'plainn']);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toContain('Did you mean "plain"?');
  });
});

describe('trunkline servers', () => {
  test('shows references and no secrets', async () => {
    const { stdout } = await home.run(['servers']);
    expect(stdout).not.toContain('open-sesame');
    const all = JSON.parse(stdout) as { name: string; state: string; transport?: { env: unknown } }[];
    expect(all.find(({ name }) => name === 'plain')?.transport?.env).toMatchObject({
      API_TOKEN: '•••',
      OTHER: '${env:SOME_SECRET:-•••}',
    });
    expect(all.find(({ name }) => name === 'off')).toMatchObject({ state: 'disabled', enabled: false });
  });

  test('is a table sorted by name, with the number of servers below it', async () => {
    const { stdout } = await home.run(['servers', '--text']);
    const lines = stdout.trimEnd().split('\n');
    expect(lines[0]).toMatch(/^server +state +transport +tools +listed +reached by$/);
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

  test('without any says where to add some', async () => {
    const empty = commandHome();
    expect((await empty.run(['servers'])).stdout).toBe('[]\n');
    const { stdout } = await empty.run(['servers', '--text']);
    expect(stdout).toContain(`configured in ${empty.configFile}`);
    expect(stdout).toContain('trunkline init');
    expect(stdout).toContain('trunkline add NAME');
  });

  test.each([['tools'], ['prompts'], ['resources'], ['search anything']])(
    'without any are the reason why trunkline %s has nothing',
    async (line) => {
      const empty = commandHome();
      const { code, stderr } = await empty.run([...line.split(' '), '--text']);
      expect(code).toBe(0);
      expect(stderr).toContain('trunkline init');
      expect(await empty.run(line.split(' '))).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
    },
  );

  test('that cannot be reached are waited for without ending the command early', async () => {
    const away = commandHome({ plain, away: { url: 'http://127.0.0.1:9/mcp' } });
    const listed = await away.run(['resources']);
    expect(listed.code).toBe(0);
    expect(listed.stderr).toContain('Left out here: Server "away"');
    expect(listed.stdout).toContain('fixture://text');
    const found = await away.run(['search', '-', '--limit', '1'], { input: 'add\necho\nadd numbers\n' });
    expect({ code: found.code, lines: found.stdout.trimEnd().split('\n').length }).toEqual({
      code: 0,
      lines: 3,
    });
    expect(found.stderr.match(/Left out here/g)).toHaveLength(1);
  });

  test('says which entry of the configuration is left out, and why', async () => {
    const odd = commandHome({ odd: { command: 'x', comand: 'y' } });
    const { code, stdout, stderr } = await odd.run(['servers']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '[]\n' });
    expect(stderr).toMatch(/^trunkline: .*config\.jsonc:\d+:\d+: .*comand.* \[CONFIG_INVALID\]\n$/);
    expect(await odd.run(['tools'])).toEqual({ code, stdout, stderr });
    expect(JSON.parse((await odd.run(['tools', '--json'])).stderr)).toMatchObject({ code: 'CONFIG_INVALID' });
  });
});

describe('trunkline prompts and resources', () => {
  test('list what one server has, with templates', async () => {
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
  test('finds by what a tool does, as many as wanted', async () => {
    const hits = await home.json(['search', 'sum', 'of', 'two', 'numbers', '--limit', '1']);
    expect(hits).toMatchObject([{ name: 'plain__add', server: 'plain', tier: 'read' }]);
  });

  test('keeps to one server', async () => {
    const query = ['search', 'add numbers, read a file'];
    const servers = async (...args: string[]): Promise<Set<string>> =>
      new Set(((await home.json([...query, ...args])) as { server: string }[]).map(({ server }) => server));
    expect([...(await servers())]).toEqual(expect.arrayContaining(['hidden', 'plain']));
    expect(await servers('--server', 'hidden')).toEqual(new Set(['hidden']));
  });

  test('answers each line of standard input with a line', async () => {
    const { code, stdout } = await home.run(['search', '-', '--limit', '1'], {
      input: 'add numbers\n\nsay it again\r\n',
    });
    expect(code).toBe(0);
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { query: string; hits: unknown[] });
    // A line of answers for each line of queries, so that they belong together.
    expect(answers.map(({ query }) => query)).toEqual(['add numbers', '', 'say it again']);
    expect(answers[1]?.hits).toEqual([]);
    expect(answers[0]?.hits).toMatchObject([{ name: 'plain__add' }]);
  });

  test.each([['0'], ['-3'], ['many']])('refuses --limit %s', async (limit) => {
    const { code, stdout, stderr } = await home.run(['search', 'x', `--limit=${limit}`]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('whole number');
  });
});

describe('trunkline describe', () => {
  test('has parameters as a table with the required ones marked', async () => {
    const { stdout } = await home.run(['describe', 'plain__progress', '--text']);
    expect(stdout).toMatch(/^ {2}steps +integer +required$/m);
    expect(stdout).toMatch(/^ {2}ms +integer$/m);
  });

  test('gives the whole definition as JSON, by either name', async () => {
    const one = await home.json(['describe', 'plain__echo']);
    expect(one).toMatchObject({
      name: 'plain__echo',
      definition: { name: 'echo', inputSchema: { type: 'object' } },
    });
    expect(await home.json(['describe', 'plain', 'echo'])).toEqual(one);
  });

  test('of nothing known is exit code 6', async () => {
    const { code, stderr } = await home.run(['describe', 'plain__ecko']);
    expect(code).toBe(6);
    expect(stderr).toContain('"plain__echo"');
  });
});
