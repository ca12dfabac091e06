import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';

import { expect, test } from 'vitest';

import { GatewayError } from '../../model/errors.ts';
import { Pipe } from './pipe.ts';

const LIST = '{"jsonrpc":"2.0","id":7,"method":"tools/list"}';

/** A pipe whose every gateway ends as soon as something is asked of it, so many milliseconds after the one before. */
function losing(everyMs: number, until: number) {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let now = 0;
  let connected = 0;
  const gateway = (): Duplex => {
    const socket = new PassThrough();
    // One that stays takes the question and says nothing.
    if (connected < until) setImmediate(() => socket.destroy());
    return socket;
  };
  const pipe = new Pipe({
    ...{ stdin, stdout, maxMessageBytes: 1000, now: () => now },
    first: gateway(),
    connect: async () => {
      now += everyMs;
      connected++;
      return gateway();
    },
  });
  return { pipe, stdin, said: () => String(stdout.read() ?? ''), connected: () => connected };
}

test('gateways that end again and again within a minute are not started for ever, and the client is answered', async () => {
  const { pipe, stdin, said, connected } = losing(1000, Infinity);
  stdin.write(`${LIST}\n`);
  await expect(pipe.ended).rejects.toMatchObject({ code: 'GATEWAY_UNAVAILABLE' });
  expect(connected()).toBe(5);
  expect(said()).toContain('"id":7,"error":{"code":-32603,"message":"The gateway ended again and again;');
});

test('those that end now and then are, however often', async () => {
  const { pipe, stdin, connected } = losing(20_000, 12);
  stdin.write(`${LIST}\n`);
  let isOver = false;
  pipe.ended.then(
    () => (isOver = true),
    () => (isOver = true),
  );
  while (connected() < 12 && !isOver) await new Promise((resolve) => setImmediate(resolve));
  expect({ isOver, connected: connected() }).toEqual({ isOver: false, connected: 12 });
});

test('where there is none to go on with, what came while one was looked for is answered too', async () => {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const first = new PassThrough();
  const connect = async (): Promise<Duplex> => {
    stdin.write(`${LIST}\n`);
    throw new GatewayError('GATEWAY_UNAVAILABLE', 'None can be started.');
  };
  const pipe = new Pipe({ stdin, stdout, first, connect, maxMessageBytes: 1000, now: () => 0 });
  first.destroy();
  await expect(pipe.ended).rejects.toMatchObject({ code: 'GATEWAY_UNAVAILABLE' });
  expect(String(stdout.read())).toContain('"id":7,"error":{"code":-32603,"message":"None can be started."');
});
