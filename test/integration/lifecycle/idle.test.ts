import { expect } from 'vitest';

import { serverPid, textOfResult, waitForTool } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

scenario('idle timeout: stops an unused server and restarts it on the next call', async (cell) => {
  await using line = await cell.open({ one: ['plain'] }, { entries: { one: { idle: '200ms' } } });
  const log = line.logs['one']!;
  const pids = [];
  for (let round = 1; round <= 3; round += 1) {
    pids.push(await serverPid(line.client));
    await log.waitFor(() => log.of('ended').length === round);
  }
  expect(new Set(pids).size).toBe(3);
  expect(log.of('started').map(({ pid }) => pid)).toEqual(pids);
  // The server exited at the end of its input and was not killed.
  expect(log.of('ended').map(({ by }) => by)).toEqual(['eof', 'eof', 'eof']);
});

scenario('idle timeout: does not stop a server during a call', async (cell) => {
  await using line = await cell.open({ one: ['plain'] }, { entries: { one: { idle: '100ms' } } });
  const log = line.logs['one']!;
  const [long, short] = [
    { ms: 1000, text: 'long' },
    { ms: 300, text: 'short' },
  ];
  const results = await Promise.all([long, short].map((args) => line.client.callTool('one__slow', args)));
  expect(results.map(textOfResult)).toEqual(['long', 'short']);
  // On a busy machine, the server may stop once between its listing and the calls.
  const pids = log.of('called').map(({ pid }) => pid);
  expect(pids).toEqual([pids[0], pids[0]]);
  const ofProcess = () => log.all().filter(({ pid }) => pid === pids[0]);
  await log.waitFor(() => ofProcess().some(({ event }) => event === 'ended'));
  const course = ofProcess().map(({ event }) => event);
  expect(course.indexOf('ended')).toBeGreaterThan(course.lastIndexOf('called'));
});

scenario('idle timeout: keeps the entries of a stopped server listed', async (cell) => {
  await using line = await cell.open({ one: ['plain'] }, { entries: { one: { idle: '150ms' } } });
  const { client } = line;
  const before = await waitForTool(client, 'one__echo');
  const { pid } = await line.logs['one']!.waitFor('ended');
  expect(await client.listTools()).toEqual(before);
  expect((await client.request('resources/list'))['resources']).toHaveLength(2);
  // The server logs its end shortly before its process exits.
  await eventually(() => !isRunning(pid), { withinMs: 10_000 });
  expect(line.logs['one']?.of('started'), 'a list does not start it').toHaveLength(1);
});

scenario('idle timeout: does not apply to a server with idle set to never', async (cell) => {
  const options = { entries: { eternal: { idle: 'never' } }, config: { idle: '100ms' } };
  await using line = await cell.open({ eternal: ['plain'], mortal: ['plain'] }, options);
  const pid = await serverPid(line.client, 'eternal');
  const mortal = line.logs['mortal']!;
  for (let round = 1; round <= 3; round += 1) {
    await serverPid(line.client, 'mortal');
    await mortal.waitFor(() => mortal.of('ended').length === round);
  }
  expect(line.logs['eternal']?.of('ended')).toEqual([]);
  expect(await serverPid(line.client, 'eternal')).toBe(pid);
});
