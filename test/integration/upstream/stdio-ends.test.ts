import { expect } from 'vitest';

import { serverPid, textOfResult } from '../../support/client-helpers.ts';
import { eventually } from '../../support/eventually.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { isRunning } from '../../support/processes.ts';
import { startGateway } from '../../support/gateway.ts';
import { scenario } from '../../support/scenario.ts';

checkLeaks();

scenario('stdio server: is ended even when a launcher process stands in between', async (cell) => {
  const line = await cell.open({
    one: ['launcher'],
    stubborn: ['launcher', '--real', 'ignores-signals'],
  });
  const real = [await serverPid(line.client, 'one'), await serverPid(line.client, 'stubborn')];
  const started = Object.values(line.logs).flatMap((log) => log.of('started').map(({ pid }) => pid));
  // Each is a launcher and a real server; the gateway knows only the launcher.
  expect(started).toHaveLength(4);
  expect(started).toEqual(expect.arrayContaining(real));
  expect(started.filter(isRunning)).toHaveLength(4);
  await line[Symbol.asyncDispose]();
  expect(started.filter(isRunning)).toEqual([]);
});

scenario('stdio server: is killed when it ignores the end of its input and SIGTERM', async (cell) => {
  const line = await cell.open({ one: ['ignores-signals'] });
  const pid = await serverPid(line.client);
  await line[Symbol.asyncDispose]();
  expect(isRunning(pid)).toBe(false);
  // Before the kill, its input was closed and it received SIGTERM.
  expect(line.logs['one']?.of('end-ignored').map(({ of }) => of)).toEqual(['eof', 'SIGTERM']);
});

scenario('stdio server: ends when the gateway is killed', async (cell) => {
  const line = await cell.open({
    polite: ['plain'],
    stubborn: ['ignores-signals'],
    launched: ['launcher', '--real', 'ignores-signals'],
  });
  for (const name of Object.keys(line.upstreams)) {
    expect(textOfResult(await line.client.callTool(`${name}__echo`, { text: name }))).toBe(name);
  }
  const started = Object.values(line.logs).flatMap((log) => log.of('started').map(({ pid }) => pid));
  expect(started.filter(isRunning)).toHaveLength(4);
  await line.gateway.kill();
  await eventually(() => expect(started.filter(isRunning)).toEqual([]), { withinMs: 5000 });
  await line[Symbol.asyncDispose]();
  // The next start removes the records of the killed gateway, which the leak check would report.
  await using next = await startGateway({ mcpServers: {}, home: line.gateway.home });
  expect((await (await next.client()).listTools()).length).toBe(0);
});
