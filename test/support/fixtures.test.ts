import { once } from 'node:events';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { describe, expect, test } from 'vitest';

import { connectDirectly } from './direct-connection.ts';
import { eventually } from './eventually.ts';
import { startHttpFixture } from './fixture.ts';
import { checkLeaks } from './leak-check.ts';
import { isRunning, runningProcesses } from './processes.ts';
import type { Era } from './raw-messages.ts';
import type { Transport } from './raw-transports.ts';
import { temporaryFolder, testRun } from './test-run.ts';

checkLeaks();

const legs: readonly [Transport, Era][] = [
  ['stdio', 'legacy'],
  ['stdio', 'modern'],
  ['http', 'legacy'],
  ['http', 'modern'],
  ['sse', 'legacy'],
];

describe.each(legs)('plain fixture over %s in the %s era', (over, era) => {
  test('plain fixture: answers every kind of request without protocol violations', async () => {
    await using direct = await connectDirectly('plain', [], { over, era });
    const { client, log } = direct;
    expect((await client.callTool('echo', { text: 'žluť' })).content).toEqual([
      { type: 'text', text: 'žluť' },
    ]);
    expect((await client.listTools()).map(({ name }) => name)).toContain('everything-content');
    expect(await client.request('prompts/get', { name: 'greet', arguments: { name: 'Ada' } })).toMatchObject({
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello Ada!' } }, {}],
    });
    expect(await client.request('resources/read', { uri: 'fixture://item/7' })).toMatchObject({
      contents: [{ text: '{"id":"7"}' }],
    });
    const ref = { type: 'ref/prompt', name: 'greet' };
    expect(
      await client.request('completion/complete', { ref, argument: { name: 'name', value: 'Ad' } }),
    ).toMatchObject({
      completion: { values: ['Ada', 'Adele'] },
    });
    expect(log.violations()).toEqual([]);
  });

  test('plain fixture: answers out of order and stops cancelled calls', async () => {
    await using direct = await connectDirectly('plain', [], { over, era });
    const { client, log } = direct;
    const order: string[] = [];
    const call = async (ms: number): Promise<void> => {
      await client.callTool('slow', { ms });
      order.push(String(ms));
    };
    await Promise.all([call(150), call(5)]);
    expect(order).toEqual(['5', '150']);
    const giveUp = new AbortController();
    const cancelled = client.callTool('slow', { ms: 60_000 }, { signal: giveUp.signal });
    await log.waitFor((one) => one.event === 'call' && (one['arguments'] as { ms: number }).ms === 60_000);
    giveUp.abort();
    await expect(cancelled).rejects.toThrow('cancelled');
    expect(await log.waitFor('cancelled')).toMatchObject({ tool: 'slow', wasRunning: true });
    expect(await log.waitFor(({ event, cancelled: by }) => event === 'called' && by === true)).toBeDefined();
  });

  test('plain fixture: sends progress, log messages and change notifications', async () => {
    await using direct = await connectDirectly('plain', [], { over, era });
    const { client } = direct;
    const token = { progressToken: 'p' };
    await client.callTool('progress', { steps: 3 }, { meta: token });
    const reports = client.notifications.all.filter(({ method }) => method === 'notifications/progress');
    expect(reports.map(({ params }) => params['progress'])).toEqual([1, 2, 3]);
    await client.callTool('log', { data: 'a' }, { meta: { 'io.modelcontextprotocol/logLevel': 'info' } });
    await client.notifications.waitFor(({ method }) => method === 'notifications/message');
    await client.listen(['fixture://text']);
    await client.callTool('change-list');
    await client.notifications.waitFor(({ method }) => method === 'notifications/tools/list_changed');
    await client.callTool('touch', { uri: 'fixture://text' });
    await client.notifications.waitFor(({ method }) => method === 'notifications/resources/updated');
  });
});

test('plain fixture: sends numbers beyond double precision', async () => {
  await using direct = await connectDirectly('plain');
  await direct.client.callTool('everything-content');
  expect(direct.client.rawLines.at(-1)).toContain('"beyondDouble":12345678901234567890,"beyondRange":1e400');
});

test('plain fixture: returns errors, crashes on request and exits at the end of its input', async () => {
  await using direct = await connectDirectly('plain');
  await expect(direct.client.callTool('rpc-error')).rejects.toMatchObject({
    code: -32050,
    data: { reason: 'asked for' },
  });
  expect(await direct.client.callTool('fail')).toMatchObject({ isError: true });
  expect(await direct.client.callTool('ping-me')).toMatchObject({ content: [{ text: 'pong' }] });
  await expect(direct.client.callTool('crash')).rejects.toThrow('ended with 7');
  await using other = await connectDirectly('plain');
  await other.client.close();
  expect(await other.exited).toBe(0);
  expect(other.log.of('ended')).toMatchObject([{ by: 'eof' }]);
});

test('list fixtures: paginate long lists and never end endless ones', async () => {
  await using pages = await connectDirectly('pages');
  expect(await pages.client.listTools()).toHaveLength(25);
  expect(pages.log.all().filter(({ method }) => method === 'tools/list')).toHaveLength(3);
  await expect(pages.client.request('tools/list', { cursor: 'nonsense' })).rejects.toMatchObject({
    code: -32602,
  });
  await using endless = await connectDirectly('endless-pages');
  const later = await endless.client.request('tools/list', { cursor: '1000' });
  expect(later).toMatchObject({ tools: [{ name: 'tool-1000' }], nextCursor: '1001' });
  await using many = await connectDirectly('many-tools', ['--count', '1200']);
  expect(await many.client.listTools()).toHaveLength(1200);
});

test.each(['long-names', 'same-names', 'hidden-characters', 'structured'] as const)(
  '%s fixture: lists and calls its tools',
  async (preset) => {
    await using direct = await connectDirectly(preset);
    const tools = await direct.client.listTools();
    expect(tools.length).toBeGreaterThan(5);
    for (const { name } of tools) expect(await direct.client.callTool(name)).toHaveProperty('content');
    expect(direct.log.violations()).toEqual([]);
  },
);

test('changing fixtures: change their list and a definition while connected', async () => {
  await using list = await connectDirectly('changes-its-list', ['--every', '20', '--times', '2']);
  await eventually(() => expect(list.client.notifications.all).toHaveLength(2));
  expect((await list.client.listTools()).filter(({ name }) => name.startsWith('added-'))).toHaveLength(2);
  const file = join(temporaryFolder(), 'revision');
  await using definition = await connectDirectly('changes-a-definition', ['--revision-file', file]);
  const [before] = await definition.client.listTools();
  await definition.client.callTool('change');
  const [after] = await definition.client.listTools();
  expect(after?.description).not.toBe(before?.description);
  await using restarted = await connectDirectly('changes-a-definition', ['--revision-file', file]);
  expect((await restarted.client.listTools())[0]?.description).toBe(after?.description);
});

test('huge-result fixture: sends results of several megabytes', async () => {
  await using direct = await connectDirectly('huge-result', ['--bytes', '8000000']);
  const { content } = await direct.client.callTool('huge');
  expect(Buffer.byteLength(content[0]?.text ?? '')).toBeGreaterThan(7_900_000);
});

test('slow fixtures: delay or hang only in the phase that their name says', async () => {
  const before = performance.now();
  await using slow = await connectDirectly('slow-start', ['--ms', '400']);
  expect(performance.now() - before).toBeGreaterThan(400);
  expect(slow.log.of('initialize')).toHaveLength(1);
  await using never = await connectDirectly('never-answers', [], { open: false });
  await expect(never.client.request('initialize', {}, { withinMs: 150 })).rejects.toThrow('No answer');
  await using hangs = await connectDirectly('hangs-in-calls');
  expect(await hangs.client.listTools()).not.toHaveLength(0);
  await expect(hangs.client.callTool('echo', { text: 'a' }, { withinMs: 150 })).rejects.toThrow('No answer');
  await using silent = await connectDirectly('silent-on-probe', [], { open: false });
  await expect(silent.client.request('server/discover', {}, { withinMs: 150 })).rejects.toThrow('No answer');
  expect(await silent.client.initialize()).toHaveProperty('serverInfo');
});

test('dying fixtures: exit in the phase that their name says', async () => {
  await using atStart = await connectDirectly('dies-at-start', [], { open: false });
  expect(await atStart.exited).toBe(3);
  expect(atStart.stderr()).toContain('FIXTURE_KEY is not set');
  const mended = join(temporaryFolder(), 'mended');
  writeFileSync(mended, '');
  await using healthy = await connectDirectly('dies-at-start', ['--until', mended]);
  expect(await healthy.client.callTool('add', { a: 1, b: 2 })).toMatchObject({ content: [{ text: '3' }] });
  await using inCall = await connectDirectly('dies-in-a-call', ['--half']);
  await expect(inCall.client.callTool('echo')).rejects.toThrow('ended with 9');
  await using bySignal = await connectDirectly('dies-in-a-call', ['--signal', 'SIGKILL']);
  await expect(bySignal.client.callTool('echo')).rejects.toThrow('SIGKILL');
  await using afterHandshake = await connectDirectly('dies-after-handshake');
  expect(await afterHandshake.exited).toBe(4);
  await using onProbe = await connectDirectly('exits-on-probe', [], { open: false });
  await expect(onProbe.client.request('server/discover')).rejects.toThrow('ended with 1');
});

test('ignores-signals fixture: survives the end of its input and SIGTERM', async () => {
  await using direct = await connectDirectly('ignores-signals');
  await direct.client.close();
  process.kill(direct.pid, 'SIGTERM');
  await direct.log.waitFor(({ event, of }) => event === 'end-ignored' && of === 'eof');
  await direct.log.waitFor(({ event, of }) => event === 'end-ignored' && of === 'SIGTERM');
  expect(isRunning(direct.pid)).toBe(true);
});

test('launcher fixture: runs the real server as its grandchild', async () => {
  await using direct = await connectDirectly('launcher', ['--real', 'ignores-signals']);
  const started = await direct.log.waitFor(
    ({ event, preset }) => event === 'started' && preset === 'ignores-signals',
  );
  const between = runningProcesses().find(({ pid }) => pid === started['ppid']);
  expect(between?.parent).toBe(direct.pid);
  expect(await direct.client.callTool('echo', { text: 'through' })).toMatchObject({
    content: [{ text: 'through' }],
  });
  process.kill(direct.pid, 'SIGTERM');
  await direct.log.waitFor(({ event, preset }) => event === 'end-ignored' && preset === 'launcher');
  expect(isRunning(started.pid)).toBe(true);
});

test('HTTP fixture: survives a client that resets the connection during a request', async () => {
  await using fixture = await startHttpFixture('plain');
  const { port, pathname } = new URL(fixture.url);
  const head = `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`${head}Content-Length: 100\r\n\r\n{`);
  await once(socket, 'ready');
  // Ensures that the server is in the middle of reading the first request.
  await expect(fetch(fixture.url, { method: 'PUT' })).resolves.toMatchObject({ status: 405 });
  socket.resetAndDestroy();
  await fixture.log.waitFor(({ event }) => event === 'cut-off');
  expect(isRunning(fixture.pid)).toBe(true);
});

test('noisy fixtures: answer correctly between floods and garbage', async () => {
  await using stdout = await connectDirectly('floods-stdout');
  expect(await stdout.client.callTool('echo', { text: 'a' })).toMatchObject({ content: [{ text: 'a' }] });
  expect(stdout.client.strays.all.length).toBeGreaterThan(200);
  await using stderr = await connectDirectly('floods-stderr');
  await stderr.client.callTool('echo', { text: 'a' });
  await eventually(() => expect(stderr.stderr()).toContain('the last line before the call'));
  expect(stderr.stderr().length).toBeGreaterThan(16_000_000);
  await using garbage = await connectDirectly('speaks-garbage');
  const calls = Array.from({ length: 10 }, (_, index) =>
    garbage.client.callTool('echo', { text: `€ ${index}` }),
  );
  expect((await Promise.all(calls)).map(({ content }) => content[0]?.text)).toEqual(
    calls.map((_, index) => `€ ${index}`),
  );
  expect(await garbage.client.callTool('bad-bytes')).toMatchObject({
    content: [{ text: 'before \ufffd\ufffd after' }],
  });
  expect(garbage.client.strays.all.join('\n')).toContain('*** fixture');
});

test('progress fixture: delivers all progress sent in one write with the response', async () => {
  await using direct = await connectDirectly('progress');
  await direct.client.callTool('progress', { steps: 5 }, { meta: { progressToken: 1 } });
  expect(direct.client.notifications.all).toHaveLength(5);
});

test('fixtures: start with the id of the test run', async () => {
  const files = readdirSync(new URL('./servers', import.meta.url)).filter((name) => name.endsWith('.mjs'));
  expect(files.length).toBeGreaterThan(28);
  await using direct = await connectDirectly('plain');
  const [started] = direct.log.of('started');
  expect(started?.['argv']).toContain(`--run=${testRun().id}`);
  expect(existsSync(direct.log.file)).toBe(true);
});
