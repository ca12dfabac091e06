import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { widthOf } from '../../src/cli/print/width.ts';
import { commandHome } from '../support/command.ts';
import { fixture } from '../support/fixture.ts';
import { type RunningGateway, startGateway } from '../support/gateway.ts';
import { checkLeaks } from '../support/leak-check.ts';
import { inTerminal, shown } from '../support/terminal.ts';

checkLeaks();

// A catalog that tries the tables: long names, trouble of every kind, and what waits for a person.
const mcpServers = {
  'a-server-with-a-very-long-name-that-nobody-should-have-chosen-for-it': fixture('long-names'),
  plain: { ...fixture('plain'), tools: { deny: ['crash'] } },
  held: { ...fixture('plain'), trust: 'manual' },
  broken: { command: 'no-such-program-of-ours-with-a-rather-long-name-in-it' },
  off: { ...fixture('plain'), disabled: true },
  unset: { ...fixture('plain'), env: { TOKEN: '${env:NOT_SET_ANYWHERE_AT_ALL}' } },
};
const config = { http: { address: '127.0.0.1:0' }, auth: { keys: true } };
const home = commandHome(mcpServers, config);
let gateway: RunningGateway;

beforeAll(async () => {
  gateway = await startGateway({ mcpServers, config, home: home.home, listen: 'http' });
  await home.run(['refresh']);
  await home.run(['call', 'plain__echo', 'text=x']);
  await home.run(['keys', 'add', 'a-caller-with-a-name-that-is-rather-long', '--expires', '30d']);
}, 120_000);

afterAll(() => gateway[Symbol.asyncDispose]());

/** What people copy stays in one piece, however wide the terminal is. */
function hasLongWord(line: string): boolean {
  return line.split(' ').some((word) => word.length > 40);
}

describe('in a terminal of 80 columns', () => {
  test.each([
    'tools',
    'tools plain',
    'prompts',
    'resources',
    'search name of many characters',
    'describe plain__add',
    'call plain__echo text=hello',
    'call plain__add a=x',
    'call plain__nope {}',
    'servers',
    'status',
    'doctor',
    'why plain__crash',
    'why held',
    'preflight plain__echo held__echo nobody__x plain__crash',
    'approvals',
    'keys list',
    'auth',
    'stats',
    'logs',
    'policy check --as local plain__echo',
    'registry search x --registry http://127.0.0.1:1',
    'import --dry-run',
    'audit verify',
    'lock --check',
    'help serve',
  ])('trunkline %s writes no line that the terminal would break, and obeys NO_COLOR', async (line) => {
    const { screen } = await inTerminal(home, line.split(' '), { env: { NO_COLOR: '1' } });
    expect(screen).not.toMatch(/\u001b\[[\d;]*m/);
    const lines = shown(screen).split('\n');
    expect(lines.filter((each) => widthOf(each) > 80 && !hasLongWord(each))).toEqual([]);
    expect(lines.join('')).not.toBe('');
  });

  test('with lines instead of a bar nothing is drawn over, as a screen reader needs it', async () => {
    for (const args of [
      ['call', 'plain__progress', 'steps=3', '--progress', 'lines'],
      ['servers', '--progress', 'lines'],
    ]) {
      const { screen, code } = await inTerminal(home, args, { env: { NO_COLOR: '1' } });
      expect(code).toBe(0);
      // No escape sequence, and no return to the beginning of a line.
      expect(screen).not.toMatch(/\u001b|\r/);
    }
  });

  test('text that is asked for in a pipe is plain, and as wide as it is', async () => {
    const { stdout } = await home.run(['tools', '--text']);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('…');
    expect(stdout).toMatch(/^a-server-with-\S+ {2}write {8}A name of \d+ characters\.$/m);
  });
});
