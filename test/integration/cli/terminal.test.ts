import { describe, expect, test } from 'vitest';

import { commandHome } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { runInTerminal, visibleText, waitForText } from '../../support/terminal.ts';
import { needs } from '../../support/needs.ts';

needs('expect');

checkLeaks();

const plain = fixture('plain');
const home = commandHome({ plain, hidden: fixture('hidden-characters'), asks: fixture('asks-the-user') });
const escape = '\u001b';

describe('terminal', () => {
  test('serve: says on a terminal that it waits for an MCP client', async () => {
    const script = ['expect "Waiting for an MCP client"', String.raw`send "\004"`];
    const { code, screen } = await runInTerminal(home, ['serve', '--standalone'], { script });
    expect({ code, screen }).toMatchObject({ code: 0, screen: expect.stringContaining('trunkline connect') });
  });

  test('tables: fit the width of the terminal and use colours', async () => {
    const { code, screen } = await runInTerminal(home, ['tools', 'plain'], { columns: 60 });
    expect(code).toBe(0);
    expect(screen).toContain(`${escape}[1mplain__echo${escape}[22m`);
    const lines = visibleText(screen).trimEnd().split('\n');
    expect(lines.every((line) => line.length <= 60)).toBe(true);
    expect(lines.find((line) => line.startsWith('plain__everything-content'))).toMatch(/…$/);
    expect(lines.at(-1)).toBe('18 tools');
  });

  test('tables: drop columns on a narrow terminal', { tags: ['slow'] }, async () => {
    await home.run(['call', 'plain__echo', 'text=x']);
    for (const command of [
      ['servers'],
      ['tools', 'plain'],
      ['stats'],
      ['logs'],
      ['describe', 'plain__add'],
    ]) {
      const { code, screen } = await runInTerminal(home, command, { columns: 45 });
      const lines = visibleText(screen).trimEnd().split('\n');
      expect({ command, code, tooWide: lines.filter((line) => line.length > 45) }).toEqual({
        command,
        code: 0,
        tooWide: [],
      });
    }
    const { screen } = await runInTerminal(home, ['servers'], { columns: 45 });
    expect(visibleText(screen)).toMatch(/^server +state .*tools/);
  });

  test.each([
    { how: 'NO_COLOR', env: { NO_COLOR: '1' }, args: [] },
    { how: '--color never', env: { FORCE_COLOR: '1' }, args: ['--color', 'never'] },
    { how: 'TERM=dumb', env: { TERM: 'dumb' }, args: [] },
  ])('colours: are disabled by $how', async ({ env, args }) => {
    const { screen } = await runInTerminal(home, ['servers', ...args], { env });
    expect(screen).toContain('plain');
    expect(screen).not.toContain(escape);
  });

  test('JSON output: has no colours on a terminal', async () => {
    const { screen } = await runInTerminal(home, ['servers', '--json']);
    expect(JSON.parse(screen)).toHaveLength(3);
  });

  test('server text: reaches the terminal without its escape sequences', async () => {
    const { screen } = await runInTerminal(home, ['describe', 'hidden__terminal'], {
      env: { NO_COLOR: '1' },
    });
    expect(screen).toContain('Reads a file.');
    // A slow machine shows progress, which is erased.
    expect(screen.replaceAll(/.*\r\u001b\[K/g, '')).not.toContain(escape);
    const { screen: result } = await runInTerminal(home, ['call', 'hidden__terminal', 'path=x'], {
      env: { NO_COLOR: '1' },
    });
    expect(visibleText(result)).toContain('Reads a file.[2K[1A');
  });

  test('progress: draws a bar and removes it before the result', async () => {
    const { code, screen } = await runInTerminal(home, ['call', 'plain__progress', 'steps=4', 'ms=300']);
    expect(code).toBe(0);
    expect(screen).toMatch(/█+░+ +\d+ % step \d/);
    expect(visibleText(screen)).toBe('4 steps\n');
  });

  test.each([
    { how: 'on a dumb terminal', env: { TERM: 'dumb' }, args: [] },
    { how: 'with --progress lines', env: { NO_COLOR: '1' }, args: ['--progress', 'lines'] },
  ])('progress: is plain text $how', async ({ env, args }) => {
    const words = ['call', 'plain__slow', 'ms=1200', ...args];
    const { code, screen } = await runInTerminal(home, words, { env });
    expect(code).toBe(0);
    expect(screen).toMatch(/^Calling plain__slow…\n[^]+\n$/);
    expect(screen).not.toMatch(/[\u001b\u2800-\u28ff]|\r(?!\n)/);
  });

  test('line wrapping: breaks sentences between words and never breaks commands', async () => {
    const { screen } = await runInTerminal(home, ['describe', 'plain__ecko'], {
      columns: 40,
      env: { NO_COLOR: '1' },
    });
    const lines = visibleText(screen).trimEnd().split('\n');
    expect(lines.length).toBeGreaterThan(1);
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    expect(lines.join(' ')).toMatch(/^trunkline: Unknown tool: plain__ecko\. Did you mean "plain__echo"/);
    const missing = await runInTerminal(home, ['registry', 'update', 'plain'], {
      columns: 40,
      env: { NO_COLOR: '1' },
    });
    expect(missing.screen).toContain('\ntrunkline add plain --from-registry NAME --replace [USAGE]\n');
  });

  test('progress: goes to stderr, the result to stdout', async () => {
    const { screen } = await runInTerminal(home, [], {
      shell: '$TRUNKLINE call plain__progress steps=3 ms=400 --text 2>/dev/null',
    });
    expect(screen).toBe('3 steps\n');
  });

  test('progress: is not shown for a quick command', async () => {
    const { screen } = await runInTerminal(home, ['why', 'plain__echo'], { env: { NO_COLOR: '1' } });
    expect(screen).not.toContain(escape);
  });

  test('call: does not wait for the keyboard without arguments', async () => {
    const { code, screen } = await runInTerminal(home, ['call', 'plain__pid']);
    expect(code).toBe(0);
    expect(visibleText(screen)).toContain('"pid":');
  });

  test('call: Ctrl-C cancels it at the server and exits with 130', async () => {
    const { code, screen } = await runInTerminal(
      home,
      ['call', 'plain__slow', 'ms=60000', 'text=interrupted'],
      {
        script: [waitForText(fixtureLog(plain).file, 'interrupted'), 'send "\\003"'],
      },
    );
    expect(code).toBe(130);
    expect(visibleText(screen)).toContain('trunkline: The command was interrupted. [CALL_CANCELLED]');
    await fixtureLog(plain).waitFor('cancelled');
  });
});

describe('elicitation during a call', () => {
  test('elicitation: asks the user at the terminal field by field', async () => {
    const { code, screen } = await runInTerminal(home, ['call', 'asks__ask-twice'], {
      script: [
        'expect "Answer?"',
        'send "\\r"',
        'expect "name:"',
        'send "\\r"',
        'expect "This field is required."',
        'send "Ada\\r"',
        'expect "Your town?"',
        'expect "Answer?"',
        'send "yes\\r"',
        'expect "town:"',
        'send "Prague\\r"',
      ],
    });
    expect(code).toBe(0);
    expect(screen).toContain('{"action":"accept","content":{"name":"Ada"}}');
    expect(screen).toContain('{"action":"accept","content":{"town":"Prague"}}');
  });

  test('elicitation: can be declined, or cancelled with the end of input', async () => {
    const declined = await runInTerminal(home, ['call', 'asks__ask-form'], {
      script: ['expect "Answer?"', 'send "n\\r"'],
    });
    expect(declined.screen).toContain('{"action":"decline"}');
    const left = await runInTerminal(home, ['call', 'asks__ask-form'], {
      script: ['expect "Answer?"', 'send "\\004"'],
    });
    expect(left.screen).toContain('{"action":"cancel"}');
  });

  test('elicitation: Ctrl-C exits with 130', async () => {
    const { code } = await runInTerminal(home, ['call', 'asks__ask-form'], {
      script: ['expect "Answer?"', 'send "\\003"'],
    });
    expect(code).toBe(130);
  });

  test('elicitation: fails the call with exit code 8 without a terminal', async () => {
    const { code, stdout, stderr } = await home.run(['call', 'asks__ask-form', '{}', '--text']);
    expect({ code, stdout }).toEqual({ code: 8, stdout: '' });
    expect(stderr).toContain('a question that cannot be answered here');
  });
});

describe('closed pipe', () => {
  test.each([
    { how: 'after the first line', shell: '$TRUNKLINE tools plain | head -n 1' },
    { how: 'before any output', shell: '$TRUNKLINE tools plain --text | true' },
    { how: 'inside a large result', shell: '$TRUNKLINE call plain__big bytes=5000000 --text | head -c 10' },
    { how: 'during an endless search', shell: 'yes add | $TRUNKLINE search - --limit 1 | head -n 2' },
  ])('closed pipe: a reader that stops $how causes no error', async ({ shell }) => {
    const { code, screen } = await runInTerminal(home, [], { shell });
    expect(code).toBe(0);
    expect(screen).not.toMatch(/EPIPE|Error|trunkline:/);
  });
});
