import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { eventually } from './eventually.ts';
import { fixture, fixtureCommand, fixtureLog } from './fixture.ts';
import { checkLeaks, findLeaks, listOpenResources } from './leak-check.ts';
import { runningProcesses } from './processes.ts';
import { temporaryFolder, testRun } from './test-run.ts';

checkLeaks();

test('leak check: finds a running child process', async () => {
  const before = listOpenResources();
  const child = spawn('sleep', ['60'], { stdio: 'ignore' });
  expect(findLeaks(before).join('\n')).toContain(`process ${child.pid}: sleep 60`);
  child.kill();
  await eventually(() => expect(findLeaks(before)).toEqual([]));
});

test('leak check: finds an orphaned server by its command line', async () => {
  const before = listOpenResources();
  const [command, ...args] = fixtureCommand('ignores-signals');
  const { env } = fixture('ignores-signals');
  // The shell exits at once and orphans the server, whose environment does not name the run.
  const script = '"$@" <&- >/dev/null 2>&1 &';
  spawn('sh', ['-c', script, 'sh', command, ...args], { stdio: 'ignore', env, detached: true }).unref();
  const { pid } = await fixtureLog({ command, args, env }).waitFor('started');
  await eventually(() => expect(findLeaks(before).join('\n')).toContain(`process ${pid}:`));
  expect(runningProcesses().find((one) => one.pid === pid)?.parent).not.toBe(process.pid);
  process.kill(pid, 'SIGKILL');
  await eventually(() => expect(findLeaks(before)).toEqual([]));
});

test('leak check: finds a process by its environment', async () => {
  const before = listOpenResources();
  const child = spawn('sh', ['-c', 'sleep 60 & echo $!'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const pid = await new Promise<number>((resolve) =>
    child.stdout.once('data', (text) => resolve(Number(text))),
  );
  await eventually(() => expect(findLeaks(before).join('\n')).toContain(`process ${pid}: sleep 60`));
  process.kill(pid, 'SIGKILL');
  child.stdout.destroy();
  await eventually(() => expect(findLeaks(before)).toEqual([]));
});

test('leak check: finds files in a run folder and open listeners', async () => {
  const before = listOpenResources();
  const run = join(temporaryFolder(), 'state', 'run');
  mkdirSync(run, { recursive: true });
  writeFileSync(join(run, 'gateway.json'), '{}');
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  expect(findLeaks(before)).toEqual([`file ${join(run, 'gateway.json')}`, '1 open TCPServerWrap']);
  rmSync(run, { recursive: true });
  listener.close();
  await eventually(() => expect(findLeaks(before)).toEqual([]));
});

test('isolated environment: hides the home and state folders of the user', () => {
  const { folder } = testRun();
  const names = [
    'HOME',
    'XDG_CONFIG_HOME',
    'XDG_STATE_HOME',
    'XDG_CACHE_HOME',
    'XDG_DATA_HOME',
    'XDG_RUNTIME_DIR',
  ];
  for (const name of names) expect(process.env[name]).toContain(folder);
  const ours = Object.keys(process.env).filter((name) => name.startsWith('TRUNKLINE_'));
  expect(ours.toSorted()).toEqual(['TRUNKLINE_OUTPUT', 'TRUNKLINE_TEST_FOLDER', 'TRUNKLINE_TEST_RUN']);
});
