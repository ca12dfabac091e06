import { Duplex, PassThrough } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { GatewayError } from '../../../core/errors.ts';
import { GOODBYE_LINE } from '../pipe-handshake.ts';
import { StdioPipe } from './stdio-pipe.ts';

const LIST = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}';

/** Opens a pipe whose first `lossCount` gateways end one after another, at intervals of `intervalMs`. */
function openLosingPipe(intervalMs: number, lossCount: number) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let now = 0;
  let connectCount = 0;
  const gateway = (): Duplex => {
    const socket = new PassThrough();
    // The last gateway accepts the request and does not respond.
    if (connectCount < lossCount) setImmediate(() => socket.destroy());
    return socket;
  };
  const pipe = new StdioPipe({
    stdin,
    stdout,
    maxMessageBytes: 1e3,
    now: () => now,
    firstGateway: gateway(),
    reconnect: async () => {
      now += intervalMs;
      connectCount++;
      return gateway();
    },
  });
  return { pipe, stdin, readOutput: () => readAll(stdout), connectCount: () => connectCount };
}

/** Returns everything that has been written. `read()` alone returns a single chunk since Node 26. */
function readAll(stream: PassThrough): string {
  const read = (): Buffer | null => stream.read() as Buffer | null; // The stream has no encoding.
  let text = '';
  for (let chunk = read(); chunk !== null; chunk = read()) text += chunk.toString();
  return text;
}

test('pipe: gives up and answers the client after five gateways end within a minute', async () => {
  const { pipe, stdin, readOutput, connectCount } = openLosingPipe(1000, Infinity);
  stdin.write(`${LIST}\n`);
  await expect(pipe.ended).rejects.toMatchObject({ code: 'GATEWAY_UNAVAILABLE' });
  expect(connectCount()).toBe(5);
  expect(readOutput()).toContain(
    '"id":7,"error":{"code":-32603,"message":"The gateway stopped more than 5 times within a minute.',
  );
});

test('pipe: keeps reconnecting when gateways end less often', async () => {
  const { pipe, stdin, connectCount } = openLosingPipe(20_000, 12);
  stdin.write(`${LIST}\n`);
  let hasEnded = false;
  pipe.ended.then(
    () => (hasEnded = true),
    () => (hasEnded = true),
  );
  while (connectCount() < 12 && !hasEnded) await new Promise((resolve) => setImmediate(resolve));
  expect({ hasEnded, connectCount: connectCount() }).toEqual({ hasEnded: false, connectCount: 12 });
});

test('pipe: answers requests that arrive while no gateway can be started', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const first = new PassThrough();
  const connect = async (): Promise<Duplex> => {
    stdin.write(`${LIST}\n`);
    throw new GatewayError('GATEWAY_UNAVAILABLE', 'None can be started.');
  };
  const pipe = new StdioPipe({
    stdin,
    stdout,
    firstGateway: first,
    reconnect: connect,
    maxMessageBytes: 1000,
    now: () => 0,
  });
  first.destroy();
  await expect(pipe.ended).rejects.toMatchObject({ code: 'GATEWAY_UNAVAILABLE' });
  expect(readAll(stdout)).toContain('"id":7,"error":{"code":-32603,"message":"None can be started."');
});

test('pipe: reads further requests after a gateway closed without reading the last one', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  // Accepts no data, so that the pipe stops reading from the client.
  const first = new Duplex({ read() {}, write() {}, highWaterMark: 10 });
  let connectCount = 0;
  const connect = async (): Promise<Duplex> => {
    connectCount++;
    return new PassThrough();
  };
  void new StdioPipe({
    stdin,
    stdout,
    firstGateway: first,
    reconnect: connect,
    maxMessageBytes: 1000,
    now: () => 0,
  });
  stdin.write('{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"x"}}\n');
  await nextTurn();
  expect(stdin.isPaused()).toBe(true);
  first.push(GOODBYE_LINE);
  await nextTurn();
  first.destroy();
  await nextTurn();
  expect(readAll(stdout)).toContain('GATEWAY_LOST');
  stdin.write(`${LIST}\n`);
  await nextTurn();
  await nextTurn();
  expect(connectCount).toBe(1);
});
