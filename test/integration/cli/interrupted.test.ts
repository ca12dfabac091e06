import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { expect, test } from 'vitest';

import { commandHome, program } from '../../support/command.ts';
import { fixture, fixtureLog } from '../../support/fixture.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';

checkLeaks();

/** Less than the 30 seconds that a command waits for a silent server. */
const PROMPTLY_MS = 20_000;

test.each([
  [['refresh', 'mute']],
  [['refresh']],
  [['call', 'mute', 'foo', '{}']],
  [['describe', 'mute', 'foo']],
  [['tools']],
  [['tools', 'mute']],
  [['search', 'hello']],
  [['read', 'some://thing']],
  [['doctor']],
  [['lock']],
])('interrupt: Ctrl-C ends %j while it connects to a silent server', async (args) => {
  await expectPrompt(args, 'SIGINT');
});

test('interrupt: SIGTERM ends a command that connects to a silent server', async () => {
  await expectPrompt(['tools', 'mute'], 'SIGTERM');
});

async function expectPrompt(args: readonly string[], signal: NodeJS.Signals): Promise<void> {
  const mute = fixture('never-answers');
  const log = fixtureLog(mute);
  const home = commandHome({ mute });
  const child = spawn(process.execPath, [program, ...args], {
    cwd: home.home,
    env: { ...process.env, ...(home.env as Record<string, string>) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const ended = once(child, 'close');
  await log.waitFor('unanswered');
  const since = performance.now();
  child.kill(signal);
  expect(await ended).toEqual([130, null]);
  expect(performance.now() - since).toBeLessThan(PROMPTLY_MS);
  expect(stdout, 'there is no answer to give').toBe('');
  expect(
    log
      .of('started')
      .map(({ pid }) => pid)
      .filter(isRunning),
  ).toEqual([]);
}
