import { randomBytes } from 'node:crypto';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';

import { afterEach, expect, test } from 'vitest';

import { Line } from '../../src/fleet/line/line.ts';
import { GatewayError, RpcError } from '../../src/model/errors.ts';
import { eventually } from '../support/eventually.ts';
import { startProxy } from '../support/tcp-proxy.ts';

const key = randomBytes(32);
const lines = new Map<string, Line>();
const warnings: string[] = [];
const silent = {
  debug: () => {},
  info: () => {},
  warn: (message: string) => void warnings.push(message),
  error: () => {},
  with: () => silent,
};

afterEach(async () => {
  for (const line of lines.values()) await line[Symbol.asyncDispose]();
  lines.clear();
  warnings.length = 0;
});

/** A replica that reaches all others that were opened, or one at another address. */
async function open(
  self: string,
  its = key,
  more: Partial<Parameters<typeof Line.listen>[0]> = {},
): Promise<Line> {
  const addressOf = (id: string): string | undefined => {
    const there = lines.get(id);
    return there && `127.0.0.1:${there.port}`;
  };
  const options = { host: '127.0.0.1', port: 0, maxMessageBytes: 1_000_000, log: silent };
  const line = await Line.listen({ self, key: its, addressOf, ...options, ...more });
  lines.set(self, line);
  return line;
}

test('asks another replica, and gives its answer, its errors and its silence', async () => {
  const [one, other] = [await open('one'), await open('other')];
  let seen: AbortSignal | undefined;
  using _echo = other.answer('echo', async (body, { from }) => ({ ...body, from }));
  using _ours = other.answer('ours', async () => {
    throw new GatewayError('QUARANTINED', 'It is held.', { details: { tool: 'x' } });
  });
  using _theirs = other.answer('theirs', async () => {
    throw new RpcError({ code: -32002, message: 'no such thing', data: { uri: 'a' } });
  });
  using _bug = other.answer('bug', async () => {
    throw new TypeError('secret-inside');
  });
  using _silence = other.answer('silence', (_body, { signal }) => {
    seen = signal;
    return new Promise(() => {});
  });
  expect(await one.ask('other', 'echo', { text: 'a\tb\nc' })).toEqual({ text: 'a\tb\nc', from: 'one' });
  await expect(one.ask('other', 'ours', {})).rejects.toMatchObject({
    code: 'QUARANTINED',
    details: { tool: 'x' },
  });
  await expect(one.ask('other', 'theirs', {})).rejects.toMatchObject({
    body: { code: -32002, message: 'no such thing', data: { uri: 'a' } },
  });
  const bug = await one.ask('other', 'bug', {}).catch((error: unknown) => error);
  expect(bug).toMatchObject({ code: 'INVARIANT' });
  expect(String(bug)).not.toContain('secret-inside');
  await expect(one.ask('other', 'nothing', {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  await expect(one.ask('nobody', 'echo', {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  const abort = new AbortController();
  const asked = one.ask('other', 'silence', {}, { signal: abort.signal });
  await eventually(() => seen !== undefined);
  abort.abort();
  await expect(asked).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  await eventually(() => seen?.aborted === true);
  await expect(one.ask('other', 'silence', {}, { timeoutMs: 20 })).rejects.toMatchObject({
    code: 'REPLICA_AWAY',
  });
});

test('asks itself as it asks others', async () => {
  const one = await open('one');
  const given = { list: [1] };
  using _echo = one.answer('echo', async (body, { from }) => ({ body, from }));
  const answer = await one.ask('one', 'echo', given);
  expect(answer).toEqual({ body: given, from: 'one' });
  expect(answer['body']).not.toBe(given);
});

test('whoever waits for a replica that ends is told, is not asked for again, and reaches the next one', async () => {
  const [one, other] = [await open('one'), await open('other')];
  let asked = 0;
  const never = async (): Promise<never> => {
    asked++;
    return new Promise(() => {});
  };
  other.answer('never', never);
  const answer = one.ask('other', 'never', {});
  const told = answer.catch((error: unknown) => error);
  await eventually(() => asked === 1);
  await other[Symbol.asyncDispose]();
  expect(await told).toMatchObject({ code: 'REPLICA_AWAY' });
  expect(asked).toBe(1);
  const again = await open('other');
  again.answer('never', async () => ({ there: true }));
  expect(await one.ask('other', 'never', {})).toEqual({ there: true });
});

test('a replica that is gone from the list is given up, also while its connection stays', async () => {
  const [one, other] = [await open('one'), await open('other')];
  let isAsked = false;
  other.answer('never', () => {
    isAsked = true;
    return new Promise(() => {});
  });
  const answer = one.ask('other', 'never', {});
  await eventually(() => isAsked);
  lines.delete('other');
  one.sweep();
  await expect(answer).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  await other[Symbol.asyncDispose]();
});

test('one that falls silent is given up at both ends, and one that has nothing to say is not', async () => {
  await using proxy = await startProxy();
  const pingMs = 50;
  const other = await open('other', key, { pingMs });
  const { host } = new URL(proxy.lead(`http://127.0.0.1:${other.port}`));
  const one = await open('one', key, { pingMs, addressOf: () => host });
  let [isAsked, isGivenUp] = [false, false];
  other.answer('later', async () => {
    // Longer than silence may last.
    await new Promise((resolve) => setTimeout(resolve, 10 * pingMs));
    return { isLater: true };
  });
  other.answer('never', (_body, { signal }) => {
    isAsked = true;
    signal.addEventListener('abort', () => (isGivenUp = true));
    return new Promise(() => {});
  });
  expect(await one.ask('other', 'later', {})).toEqual({ isLater: true });
  const answer = one.ask('other', 'never', {}).catch((error: unknown) => error);
  await eventually(() => isAsked);
  proxy.stall();
  expect(await answer).toMatchObject({ code: 'REPLICA_AWAY' });
  await eventually(() => isGivenUp);
  // The next one is asked over another connection.
  expect(await one.ask('other', 'later', {})).toEqual({ isLater: true });
});

test('another key, no key and no encryption get nowhere', async () => {
  const [one, other] = [await open('one'), await open('other', randomBytes(32))];
  let isAsked = false;
  other.answer('echo', async () => {
    isAsked = true;
    return {};
  });
  await expect(one.ask('other', 'echo', {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  expect(await heard(connect({ port: other.port, host: '127.0.0.1', rejectUnauthorized: false }))).toBe('');
  expect(await heard(connectPlain({ port: other.port, host: '127.0.0.1' }))).not.toContain('hello');
  expect(isAsked).toBe(false);
  expect(warnings).toContain('Refused somebody at the port of the fleet who has not its key.');
});

test('a stranger who says nothing does not hold up the end', async () => {
  const one = await open('one');
  const stranger = connectPlain({ port: one.port, host: '127.0.0.1' });
  stranger.on('error', () => {});
  const isCut = new Promise((resolve) => stranger.on('close', resolve));
  await new Promise((resolve) => stranger.once('connect', resolve));
  await one[Symbol.asyncDispose]();
  expect(await isCut).toBe(false);
});

test('what is passed on through a channel arrives as it was, however large, and both ends hear of its end', async () => {
  const [one, other] = [await open('one'), await open('other')];
  const got: string[] = [];
  let ended: Error | undefined;
  other.host(async (what, { channel, from }) => ({
    said: { welcome: what['name'], from },
    events: {
      said: (about, body) => channel.say(about, [Buffer.from(body.toString())]),
      closed: (error) => void (ended = error),
    },
  }));
  const { channel, said } = await one.open(
    'other',
    { name: 'x' },
    { said: (about, body) => void got.push(`${JSON.stringify(about)} ${body.toString()}`), closed: () => {} },
  );
  expect(said).toEqual({ welcome: 'x', from: 'one' });
  const exact = '{"big":12345678901234567890.10}';
  channel.say({ request: 1 }, exact);
  const large = JSON.stringify({ text: 'ä'.repeat(200_000) });
  channel.say(2, large);
  await eventually(() => got.length === 2);
  expect(got).toEqual([`{"request":1} ${exact}`, `2 ${large}`]);
  channel.close();
  await eventually(() => ended !== undefined);
});

test('a channel that is refused says why', async () => {
  const [one, other] = [await open('one'), await open('other')];
  other.host(async () => {
    throw new GatewayError('UPSTREAM_REFUSED', 'It does not start.');
  });
  const events = { said: () => {}, closed: () => {} };
  await expect(one.open('other', {}, events)).rejects.toMatchObject({
    code: 'UPSTREAM_REFUSED',
    message: 'It does not start.',
  });
});

/** All that a stranger is told until it is cut off. */
function heard(socket: ReturnType<typeof connectPlain>): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => {});
  socket.write('["hello",{"protocol":1,"from":"one","to":"other"}]\n["ask",1,"echo"]\t{}\n');
  return new Promise((resolve) => {
    socket.on('close', () => resolve(text));
  });
}
