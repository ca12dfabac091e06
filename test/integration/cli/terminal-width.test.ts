import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { displayWidth } from '../../../src/cli/print/display-width.ts';
import { commandHome } from '../../support/command.ts';
import { fixture } from '../../support/fixture.ts';
import { type RunningGateway, startGateway } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { runInTerminal, visibleText } from '../../support/terminal.ts';
import { needs } from '../../support/needs.ts';

needs('expect');

checkLeaks();

// A catalog that is hard on tables: long names, failures of every kind, and a held server.
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
});

afterAll(() => gateway[Symbol.asyncDispose]());

/** Long words that users copy are never broken, whatever the width of the terminal. */
function hasLongWord(line: string): boolean {
  return line.split(' ').some((word) => word.length > 40);
}

describe('terminal of 80 columns', () => {
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
  ])('terminal width: trunkline %s fits 80 columns and obeys NO_COLOR', async (line) => {
    const { screen } = await runInTerminal(home, line.split(' '), { env: { NO_COLOR: '1' } });
    expect(screen).not.toMatch(/\u001b\[[\d;]*m/);
    const lines = visibleText(screen).split('\n');
    expect(lines.filter((each) => displayWidth(each) > 80 && !hasLongWord(each))).toEqual([]);
    expect(lines.join('')).not.toBe('');
  });

  test('progress lines: contain no escape sequence and never redraw, for screen readers', async () => {
    for (const args of [
      ['call', 'plain__progress', 'steps=3', '--progress', 'lines'],
      ['servers', '--progress', 'lines'],
    ]) {
      const { screen, code } = await runInTerminal(home, args, { env: { NO_COLOR: '1' } });
      expect(code).toBe(0);
      // No escape sequence, and no return to the beginning of a line.
      expect(screen).not.toMatch(/\u001b|\r/);
    }
  });

  test('text output: is plain and not truncated in a pipe', async () => {
    const { stdout } = await home.run(['tools', '--text']);
    expect(stdout).not.toContain('\u001b');
    expect(stdout).not.toContain('…');
    expect(stdout).toMatch(/^a-server-with-\S+ {2}write {8}A name of \d+ characters\.$/m);
  });
});
