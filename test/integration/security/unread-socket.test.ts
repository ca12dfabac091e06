import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { expect, test } from 'vitest';

import { waitForValue } from '../../support/eventually.ts';
import { fixture } from '../../support/fixture.ts';
import { gatewayCommand } from '../../support/gateway.ts';
import { checkLeaks } from '../../support/leak-check.ts';
import { SharedHome } from '../../support/shared-home.ts';

checkLeaks();

const MEBIBYTE = 1024 * 1024;
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'unread', version: '1' },
};

test('unread socket: a client that reads no responses is disconnected, and others are served', async () => {
  await using home = new SharedHome({
    mcpServers: { plain: fixture('plain') },
    config: { startup: { listWait: '60s' } },
  });
  const other = await (await home.pipe()).client();
  await other.listTools();

  const socket = connect(String(home.record()?.socket)).on('error', () => {});
  socket.pause();
  const send = (message: object): void =>
    void socket.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  socket.write('{"trunkline":1,"expose":"direct"}\n');
  send({ id: 0, method: 'initialize', params: INITIALIZE });
  send({ method: 'notifications/initialized' });
  const params = { name: 'plain__echo', arguments: { text: 'x'.repeat(8 * MEBIBYTE) } };
  // Sixteen are twice the limit of 64 MiB.
  for (let id = 1; id <= 16; id++) send({ id, method: 'tools/call', params });

  const log = join(home.home, 'state', 'logs', 'gateway.log');
  const isLogged = (): true | undefined =>
    readFileSync(log, 'utf8').includes('Disconnected a client that did not read its responses.') || undefined;
  expect(await waitForValue(isLogged, { what: 'The end of the connection', withinMs: 15_000 })).toBe(true);
  socket.destroy();
  expect(await other.callTool('plain__echo', { text: 'still' })).toMatchObject({
    content: [{ type: 'text', text: 'still' }],
  });
});

test('unread standard output: a standalone gateway whose client reads nothing says so and exits', async () => {
  const config = { startup: { listWait: '60s' } };
  const { command, args, env } = gatewayCommand({ mcpServers: { plain: fixture('plain') }, config });
  const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = once(child, 'exit');
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => {}); // It stops reading when it exits.
  const send = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send({ id: 0, method: 'initialize', params: INITIALIZE });
  send({ method: 'notifications/initialized' });
  const params = { name: 'plain__echo', arguments: { text: 'x'.repeat(8 * MEBIBYTE) } };
  for (let id = 1; id <= 16; id++) send({ id, method: 'tools/call', params });
  expect(await exited).toEqual([0, null]);
  const lines = stderr.split('\n').filter((line) => line.includes('did not read its responses'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/"level":"warn".*"unsentBytes":\d{8}/);
});
