import { readFileSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { fixture, fixtureLog, startHttpFixture } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { temporaryFolder } from '../../support/test-run.ts';

checkLeaks();

const plain = fixture('plain');
const home = commandHome({ plain, structured: fixture('structured'), asks: fixture('asks-the-user') });

/** The text that the tool received, as it echoes it. */
async function echoed(words: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await home.run(['call', 'plain__echo', ...words, '--text'], {
    ...(input !== undefined && { input }),
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('arguments', () => {
  writeFileSync(join(home.home, 'said.json'), '\uFEFF{ "text": "from a file" }');

  test.each([
    { words: ['{"text":"an object"}'], input: '', says: 'an object\n' },
    { words: ['text=a=b c'], input: '', says: 'a=b c\n' },
    { words: ['text:="as JSON"'], input: '', says: 'as JSON\n' },
    { words: ['@said.json'], input: '', says: 'from a file\n' },
    { words: ['@said.json', 'text=later'], input: '', says: 'later\n' },
    { words: ['-'], input: '{"text":"piped"}', says: 'piped\n' },
    { words: [], input: '{"text":"piped unasked"}', says: 'piped unasked\n' },
    { words: ['text=--json'], input: '', says: '--json\n' },
  ])(
    'call arguments: are read from $words and from standard input $input',
    async ({ words, input, says }) => {
      expect(await echoed(words, input)).toBe(says);
    },
  );

  test('call arguments: are converted as the input schema says', async () => {
    expect((await home.run(['call', 'plain__add', 'a=2', 'b=0.5', '--text'])).stdout).toBe('2.5\n');
    expect((await home.run(['call', 'plain', 'add', '{"a":2}', 'b=3', '--text'])).stdout).toBe('5\n');
    expect((await home.run(['call', 'plain__env', 'names=HOME', 'names=NOPE', '--text'])).stdout).toContain(
      '"NOPE":null',
    );
  });

  test('call arguments: are empty for a blank standard input', async () => {
    expect((await home.run(['call', 'plain__cwd', '--text'], { input: ' \n' })).code).toBe(0);
  });

  test.each([
    { words: ['{"text": oops}'], says: 'are not JSON' },
    { words: ['[1]'], says: 'must be a JSON object' },
    { words: ['text:=oops'], says: 'text:= must be followed by JSON' },
    { words: ['@nowhere.json'], says: 'nowhere.json: ENOENT' },
    { words: ['=x'], says: 'has no name before "="' },
  ])('call arguments: $words are rejected before a server starts', async ({ words, says }) => {
    const started = fixtureLog(plain).of('started').length;
    const { code, stdout, stderr } = await home.run(['call', 'plain__echo', ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(says);
    expect(stderr).toMatch(/\[USAGE\]\n$/);
    expect(fixtureLog(plain).of('started')).toHaveLength(started);
  });

  test('call arguments: schema violations are reported per field before a server starts', async () => {
    await home.run(['refresh', 'plain']);
    const started = fixtureLog(plain).of('started').length;
    const one = await home.run(['call', 'plain__add', '{"a":"x"}']);
    expect(one).toEqual({
      code: 2,
      stdout: '',
      stderr:
        'trunkline: The arguments do not match the input schema of plain__add, so they were not sent:\n  b is required\n  a must be number [ARGUMENTS_INVALID]\n',
    });
    const two = await home.run(['call', 'plain__add', 'a=x', 'b=', '--json']);
    expect(two).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(two.stderr)).toMatchObject({
      code: 'ARGUMENTS_INVALID',
      details: { problems: ['a must be a number, but is "x"', 'b must be a number, but is ""'] },
    });
    expect(fixtureLog(plain).of('started')).toHaveLength(started);
  });
});

describe('results', () => {
  test('call result: is printed as JSON with every digit and unknown field', async () => {
    const { code, stdout, stderr } = await home.run(['call', 'plain__everything-content']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.trimEnd().split('\n')).toHaveLength(1);
    for (const exact of [
      '"beyondDouble":12345678901234567890',
      '"beyondRange":1e400',
      '"negativeZero":-0',
      '"trailingZeros":1.50',
    ])
      expect(stdout).toContain(exact);
    expect(stdout).toContain('"x-unknown":{"deep"');
  });

  test('call result: is printed as text, with images and audio summarised', async () => {
    const { stdout } = await home.run(['call', 'plain__everything-content', '--text']);
    expect(stdout).toContain(
      '"quoted" \\  end\n[image: image/gif, 42 bytes; save it with --out FOLDER]\n[audio: audio/wav, ',
    );
    expect(stdout).toContain(
      '\nembedded\n[resource: image/gif, 42 bytes; save it with --out FOLDER]\n[resource: fixture://text text]\n',
    );
    expect(stdout).not.toContain('\u0000');
  });

  test('call result: --out saves files under safe names and never overwrites a file', async () => {
    const folder = join(home.home, 'saved');
    for (const format of ['--text', '--json']) {
      const { code, stdout, stderr } = await home.run([
        'call',
        'plain__everything-content',
        '--out',
        'saved',
        format,
      ]);
      expect(code).toBe(0);
      expect(format === '--text' ? stdout : stderr).toContain(`saved to ${folder}`);
    }
    expect(readdirSync(folder).toSorted()).toEqual(
      ['audio-3.wav', 'audio-3-2.wav', 'blob.gif', 'blob-2.gif', 'image-2.gif', 'image-2-2.gif'].toSorted(),
    );
    expect(readFileSync(join(folder, 'image-2.gif')).subarray(0, 6).toString('latin1')).toBe('GIF89a');
  });

  test('call result: prints structured content when there is no other', async () => {
    const { stdout } = await home.run(['call', 'structured__only-structured', '--text']);
    expect(JSON.parse(stdout)).toEqual({ name: 'Ada', age: 36 });
  });

  test('tool error: exits with 8 and goes to stderr as text or to stdout as JSON', async () => {
    expect(await home.run(['call', 'plain__fail', '--text'])).toEqual({
      code: 8,
      stdout: '',
      stderr: 'error: The tool failed.\n',
    });
    const { code, stdout, stderr } = await home.run(['call', 'plain__fail']);
    expect({ code, stderr }).toEqual({ code: 8, stderr: '' });
    expect(JSON.parse(stdout)).toMatchObject({ isError: true, _meta: { 'example.com/reason': 'asked for' } });
  });

  test('JSON-RPC error: exits with 8 and keeps code and data', async () => {
    const { code, stdout, stderr } = await home.run(['call', 'plain__rpc-error', '--json']);
    expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
    expect(JSON.parse(stderr)).toMatchObject({
      details: { rpc: { code: -32050, data: { reason: 'asked for' } } },
    });
  });
});

describe('failures', () => {
  test('call timeout: cancels the call and exits with 7', async () => {
    const { code, stdout, stderr } = await home.run(['call', 'plain__slow', 'ms=60000', '--timeout', '3s']);
    expect({ code, stdout }).toEqual({ code: 7, stdout: '' });
    expect(stderr).toContain('[CALL_TIMEOUT]');
    expect(stderr).toContain('within 3 s, the limit set by --timeout or TRUNKLINE_TIMEOUT');
    expect(stderr).not.toContain('timeouts.call');
    await fixtureLog(plain).waitFor('cancelled');
  });

  test('working directory: is the config folder for a configured server, the current folder after --', async () => {
    const elsewhere = { cwd: realpathSync(temporaryFolder('elsewhere')) };
    const configured = await home.run(['call', 'plain__cwd', '--text'], elsewhere);
    expect(configured.stdout).toBe(`${realpathSync(home.home)}\n`);
    const { command, args } = plain;
    const typed = await home.run(['call', 'cwd', '--text', '--', command, ...args], elsewhere);
    expect(typed.stdout).toBe(`${elsewhere.cwd}\n`);
  });

  test('call timeout: names the setting when the configured timeout expires', async () => {
    const short = commandHome({ plain: { ...plain, timeouts: { call: '100ms' } } });
    await short.run(['refresh']);
    const { code, stderr } = await short.run(['call', 'plain__slow', 'ms=60000']);
    expect(code).toBe(7);
    expect(stderr).toContain('timeouts.call');
  });

  test.each([['soon'], ['0'], ['-1s']])('call timeout: rejects --timeout %s', async (timeout) => {
    const { code, stderr } = await home.run(['call', 'plain__cwd', `--timeout=${timeout}`]);
    expect(code).toBe(2);
    expect(stderr).toContain('is not a duration. Write it as 500ms, 30s or 5m');
  });

  test('server crash: exits with 4 and prints the last output of the server', async () => {
    const { code, stderr } = await home.run(['call', 'plain__crash', '{}']);
    expect(code).toBe(4);
    expect(stderr).toContain('crashing as asked');
  });

  test.each([
    { words: ['plain__nothing'], says: 'Unknown tool: plain__nothing' },
    { words: ['nobody', 'echo'], says: 'There is no server "nobody"' },
    { words: ['plain', 'nothing'], says: 'of server "plain"' },
  ])('unknown name: call $words exits with 6', async ({ words, says }) => {
    const { code, stdout, stderr } = await home.run(['call', ...words, '{}']);
    expect({ code, stdout }).toEqual({ code: 6, stdout: '' });
    expect(stderr).toContain(says);
  });

  test('unavailable tool: explains a server that cannot start and a rule that hides the tool', async () => {
    const odd = commandHome({
      broken: { command: 'no-such-program-of-ours' },
      plain: { ...plain, tools: { deny: ['cr*'] } },
    });
    for (const words of [['broken__x'], ['broken', 'x']]) {
      const { code, stderr } = await odd.run(['call', ...words, '{}']);
      expect(code).toBe(4);
      expect(stderr).toContain('no-such-program-of-ours');
    }
    const { code, stderr } = await odd.run(['describe', 'plain__crash']);
    expect(code).toBe(6);
    expect(stderr).toContain('The pattern "cr*" of mcpServers.plain.tools.deny matches "crash".');
  });

  test('missing name: call without a tool name is a usage error', async () => {
    expect((await home.run(['call'])).code).toBe(2);
    expect((await home.run(['call', '{"a":1}'])).stderr).toContain('Missing argument: name');
  });
});

describe('trunkline prompt', () => {
  test('prompt command: fills in arguments and prints the messages', async () => {
    const { stdout } = await home.run(['prompt', 'plain__greet', 'name=Ada', '--text']);
    expect(stdout).toBe(
      'user:\nHello Ada!\nassistant:\n[image: image/gif, 42 bytes; save it with --out FOLDER]\n',
    );
    expect(await home.json(['prompt', 'plain', 'greet', '{"name":"Bob"}'])).toMatchObject({
      messages: [{ role: 'user', content: { text: 'Hello Bob!' } }, { role: 'assistant' }],
    });
  });
});

describe('arguments of a prompt', () => {
  test.each([{ words: ['plain__greet'] }, { words: ['plain', 'greet', '{"other":"x"}'] }])(
    'prompt command: names the arguments missing in $words before a server starts',
    async ({ words }) => {
      await home.run(['prompts', 'plain']);
      const started = fixtureLog(plain).of('started').length;
      const { code, stdout, stderr } = await home.run(['prompt', ...words, '--text']);
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toMatch(
        /do not match the input schema of (plain__)?greet, so they were not sent:\n {2}name is required/,
      );
      expect(fixtureLog(plain).of('started')).toHaveLength(started);
    },
  );

  test('prompt command: accepts an empty argument', async () => {
    expect((await home.run(['prompt', 'plain__greet', 'name=', '--text'])).stdout).toContain('Hello !');
  });
});

describe('trunkline read', () => {
  test('read command: writes the content unchanged', async () => {
    const { stdout } = await home.run(['read', 'fixture://text']);
    expect(stdout).toBe('a static text\n');
    expect((await home.run(['read', 'fixture://blob'])).stdout.slice(0, 6)).toBe('GIF89a');
  });

  test('read command: prints the response of the server with --json', async () => {
    expect(await home.json(['read', 'fixture://item/7', '--json'])).toEqual({
      contents: [{ uri: 'fixture://item/7', mimeType: 'application/json', text: '{"id":"7"}' }],
    });
  });

  test('read command: saves the content with --out and prints its path', async () => {
    const { stdout } = await home.run(['read', 'fixture://blob', '--out', 'files']);
    expect(stdout).toBe(`${join(home.home, 'files', 'blob.gif')}\n`);
  });

  test('read command: exits with 6 for an unknown URI', async () => {
    expect(await home.run(['read', 'nothing://here'])).toMatchObject({ code: 6, stdout: '' });
  });
});

describe('without a configuration', () => {
  const empty = commandHome();
  const [node, ...rest] = [plain.command, ...plain.args];

  test('ad-hoc server: runs the command after -- and keeps the original names', async () => {
    const names = (await empty.json(['tools', '--', node, ...rest])) as { name: string }[];
    expect(names.map(({ name }) => name)).toContain('echo');
    const { stdout } = await empty.run(['call', 'echo', 'text=hi', '--text', '--', node, ...rest]);
    expect(stdout).toBe('hi\n');
    expect(await empty.json(['describe', 'echo', '--', node, ...rest])).toMatchObject({ original: 'echo' });
    expect((await empty.run(['read', 'fixture://text', '--', node, ...rest])).stdout).toBe('a static text\n');
  });

  test('ad-hoc server: connects to --url and stores its headers nowhere', async () => {
    await using server = await startHttpFixture('plain');
    const at = ['--url', server.url, '--header', 'X-Key: open-sesame'];
    const { code, stdout } = await empty.run(['call', 'add', 'a=1', 'b=2', '--text', ...at]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '3\n' });
    const files = readdirSync(empty.home, { recursive: true, withFileTypes: true }).filter((each) =>
      each.isFile(),
    );
    for (const file of files)
      expect(readFileSync(join(file.parentPath, file.name)).includes('open-sesame'), file.name).toBe(false);
  });

  test.each([
    {
      words: ['tools', '--url', 'http://127.0.0.1:1/mcp', '--', 'x'],
      says: '--url cannot be combined with a command after --',
    },
    { words: ['tools', '--header', 'a: b'], says: '--header requires --url' },
    {
      words: ['tools', '--url', 'http://127.0.0.1:1/mcp', '--header', 'nonsense'],
      says: 'a name and a value',
    },
    { words: ['tools', '--'], says: 'A command must follow --' },
  ])('ad-hoc server: rejects $words as a usage error', async ({ words, says }) => {
    const { code, stderr } = await empty.run(words);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
  });

  test('ad-hoc server: exits with 4 when nothing listens at the URL', async () => {
    const { code, stdout } = await empty.run(['tools', '--url', 'http://127.0.0.1:1/mcp']);
    expect({ code, stdout }).toEqual({ code: 4, stdout: '' });
  });

  test.each([
    { words: ['--url', 'http://u:p@127.0.0.1:1/mcp'], name: '127.0.0.1:1' },
    { words: ['--', join(plain.command, '..', 'no-such-server'), '--flag'], name: 'no-such-server' },
  ])('ad-hoc server: errors name its program or host, $name', async ({ words, name }) => {
    expect((await empty.run(['tools', ...words, '--text'])).stderr).toContain(`Server "${name}" cannot be`);
  });
});
