import { randomBytes } from 'node:crypto';
import { connect as connectPlain } from 'node:net';
import { connect } from 'node:tls';

import { afterEach, expect, test } from 'vitest';

import type { Channel } from '../../../src/fleet/channel.ts';
import { FleetTransport } from '../../../src/fleet/transport/fleet-transport.ts';
import { GatewayError, RpcError } from '../../../src/core/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { startTcpProxy } from '../../support/tcp-proxy.ts';

const key = randomBytes(32);
const transports = new Map<string, FleetTransport>();
const warnings: string[] = [];
const silent = {
  debug: () => {},
  info: () => {},
  warn: (message: string) => void warnings.push(message),
  error: () => {},
  with: () => silent,
};

afterEach(async () => {
  for (const transport of transports.values()) await transport[Symbol.asyncDispose]();
  transports.clear();
  warnings.length = 0;
});

/** Opens the transport of a replica that can reach all replicas opened before and after it, unless `overrides` gives another address. */
async function open(
  self: string,
  ownKey = key,
  overrides: Partial<Parameters<typeof FleetTransport.listen>[0]> = {},
): Promise<FleetTransport> {
  const addressOf = (id: string): string | undefined => {
    const transport = transports.get(id);
    return transport && `127.0.0.1:${transport.port}`;
  };
  const options = { host: '127.0.0.1', port: 0, maxMessageBytes: 1_000_000, log: silent };
  const transport = await FleetTransport.listen({ self, key: ownKey, addressOf, ...options, ...overrides });
  transports.set(self, transport);
  return transport;
}

test('fleet transport: returns responses, errors and timeouts of another replica', async () => {
  const [one, other] = [await open('one'), await open('other')];
  let handlerSignal: AbortSignal | undefined;
  using _echo = other.onRequest('echo', async (body, { from }) => ({ ...body, from }));
  using _gatewayError = other.onRequest('gateway-error', async () => {
    throw new GatewayError('QUARANTINED', 'It is held.', { details: { tool: 'x' } });
  });
  using _rpcError = other.onRequest('rpc-error', async () => {
    throw new RpcError({ code: -32002, message: 'no such thing', data: { uri: 'a' } });
  });
  using _bug = other.onRequest('bug', async () => {
    throw new TypeError('secret-inside');
  });
  using _silence = other.onRequest('silence', (_body, { signal }) => {
    handlerSignal = signal;
    return new Promise(() => {});
  });
  expect(await one.request('other', 'echo', { text: 'a\tb\nc' })).toEqual({ text: 'a\tb\nc', from: 'one' });
  await expect(one.request('other', 'gateway-error', {})).rejects.toMatchObject({
    code: 'QUARANTINED',
    details: { tool: 'x' },
  });
  await expect(one.request('other', 'rpc-error', {})).rejects.toMatchObject({
    body: { code: -32002, message: 'no such thing', data: { uri: 'a' } },
  });
  const bug = await one.request('other', 'bug', {}).catch((error: unknown) => error);
  expect(bug).toMatchObject({ code: 'INVARIANT' });
  expect(String(bug)).not.toContain('secret-inside');
  await expect(one.request('other', 'nothing', {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  await expect(one.request('nobody', 'echo', {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  const abort = new AbortController();
  const response = one.request('other', 'silence', {}, { signal: abort.signal });
  await eventually(() => handlerSignal !== undefined);
  abort.abort();
  await expect(response).rejects.toMatchObject({ code: 'CALL_CANCELLED' });
  await eventually(() => handlerSignal?.aborted === true);
  await expect(one.request('other', 'silence', {}, { timeoutMs: 20 })).rejects.toMatchObject({
    code: 'REPLICA_AWAY',
  });
});

test('fleet transport: handles a request to itself like one to another replica', async () => {
  const one = await open('one');
  const body = { list: [1] };
  using _echo = one.onRequest('echo', async (received, { from }) => ({ body: received, from }));
  const response = await one.request('one', 'echo', body);
  expect(response).toEqual({ body, from: 'one' });
  expect(response['body']).not.toBe(body);
});

test('fleet transport: fails pending requests when a replica ends and reaches its successor', async () => {
  const [one, other] = [await open('one'), await open('other')];
  let requests = 0;
  const never = async (): Promise<never> => {
    requests++;
    return new Promise(() => {});
  };
  other.onRequest('never', never);
  const failure = one.request('other', 'never', {}).catch((error: unknown) => error);
  await eventually(() => requests === 1);
  await other[Symbol.asyncDispose]();
  expect(await failure).toMatchObject({ code: 'REPLICA_AWAY' });
  expect(requests).toBe(1);
  const successor = await open('other');
  successor.onRequest('never', async () => ({ there: true }));
  expect(await one.request('other', 'never', {})).toEqual({ there: true });
});

test('fleet transport: fails pending requests when a replica leaves the member list', async () => {
  const [one, other] = [await open('one'), await open('other')];
  let isRequested = false;
  other.onRequest('never', () => {
    isRequested = true;
    return new Promise(() => {});
  });
  const response = one.request('other', 'never', {});
  await eventually(() => isRequested);
  transports.delete('other');
  one.closeStaleConnections();
  await expect(response).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  await other[Symbol.asyncDispose]();
});

test('fleet transport: drops a silent connection at both ends but keeps an idle one', async () => {
  await using proxy = await startTcpProxy();
  const pingMs = 50;
  const other = await open('other', key, { pingMs });
  const { host } = new URL(proxy.forwardTo(`http://127.0.0.1:${other.port}`));
  const one = await open('one', key, { pingMs, addressOf: () => host });
  let [isRequested, isAborted] = [false, false];
  other.onRequest('later', async () => {
    // This is longer than a connection may be silent.
    await new Promise((resolve) => setTimeout(resolve, 10 * pingMs));
    return { isLater: true };
  });
  other.onRequest('never', (_body, { signal }) => {
    isRequested = true;
    signal.addEventListener('abort', () => (isAborted = true));
    return new Promise(() => {});
  });
  expect(await one.request('other', 'later', {})).toEqual({ isLater: true });
  const failure = one.request('other', 'never', {}).catch((error: unknown) => error);
  await eventually(() => isRequested);
  proxy.stall();
  expect(await failure).toMatchObject({ code: 'REPLICA_AWAY' });
  await eventually(() => isAborted);
  // The next request uses a new connection.
  expect(await one.request('other', 'later', {})).toEqual({ isLater: true });
});

test('fleet transport: rejects a wrong key, no key and no encryption', async () => {
  const [one, other] = [await open('one'), await open('other', randomBytes(32))];
  let isRequested = false;
  other.onRequest('echo', async () => {
    isRequested = true;
    return {};
  });
  await expect(one.request('other', 'echo', {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  expect(
    await readUntilClosed(connect({ port: other.port, host: '127.0.0.1', rejectUnauthorized: false })),
  ).toBe('');
  expect(await readUntilClosed(connectPlain({ port: other.port, host: '127.0.0.1' }))).not.toContain('hello');
  expect(isRequested).toBe(false);
  expect(warnings).toContain(
    'Rejected a connection to the fleet port, because it does not have the key of the fleet.',
  );
});

test('fleet transport: closes without waiting for an unauthenticated connection', async () => {
  const one = await open('one');
  const stranger = connectPlain({ port: one.port, host: '127.0.0.1' });
  stranger.on('error', () => {});
  const closed = new Promise((resolve) => stranger.on('close', resolve));
  await new Promise((resolve) => stranger.once('connect', resolve));
  await one[Symbol.asyncDispose]();
  expect(await closed).toBe(false);
});

test('fleet transport: carries channel messages of any size unchanged', async () => {
  const [one, other] = [await open('one'), await open('other')];
  const messages: string[] = [];
  other.onChannel(async (request, { channel, from }) => ({
    accepted: { welcome: request['name'], from },
    events: {
      onMessage: (metadata, body) => channel.send(metadata, [Buffer.from(body.toString())]),
      onClosed: () => {},
    },
  }));
  const { channel, accepted } = await one.openChannel(
    'other',
    { name: 'x' },
    {
      onMessage: (metadata, body) => void messages.push(`${JSON.stringify(metadata)} ${body.toString()}`),
      onClosed: () => {},
    },
  );
  expect(accepted).toEqual({ welcome: 'x', from: 'one' });
  const exact = '{"big":12345678901234567890.10}';
  channel.send({ request: 1 }, exact);
  const large = JSON.stringify({ text: 'ä'.repeat(200_000) });
  channel.send(2, large);
  await eventually(() => messages.length === 2);
  expect(messages).toEqual([`{"request":1} ${exact}`, `2 ${large}`]);
});

test('fleet transport: tells one end of a channel that the other closed it, and why', async () => {
  const [one, other] = [await open('one'), await open('other')];
  const closed: [end: string, name: unknown, error: Error][] = [];
  const acceptedChannels = new Map<unknown, Channel>();
  other.onChannel(async ({ name }, { channel }) => {
    acceptedChannels.set(name, channel);
    return {
      accepted: {},
      events: { onMessage: () => {}, onClosed: (error) => closed.push(['acceptor', name, error]) },
    };
  });
  const openChannel = async (name: string): Promise<Channel> => {
    const events = { onMessage: () => {}, onClosed: (error: Error) => closed.push(['opener', name, error]) };
    return (await one.openChannel('other', { name }, events)).channel;
  };
  const [first, second] = [await openChannel('a'), await openChannel('b')];
  for (const name of ['c', 'd']) await openChannel(name);
  const reason = new GatewayError('UPSTREAM_REFUSED', 'It has ended.');
  first.close();
  second.close(reason);
  acceptedChannels.get('c')?.close();
  acceptedChannels.get('d')?.close(reason);
  await eventually(() => closed.length === 4);
  // Frames arrive in order, so an end that was wrongly notified of its own close has been notified by now.
  await one.request('other', 'nothing', {}).catch(() => {});
  const expected = { code: 'UPSTREAM_REFUSED', message: 'It has ended.' };
  expect(closed.toSorted((x, y) => (String(x[1]) < String(y[1]) ? -1 : 1))).toEqual([
    ['acceptor', 'a', expect.objectContaining({ code: 'CALL_CANCELLED' })],
    ['acceptor', 'b', expect.objectContaining(expected)],
    ['opener', 'c', expect.objectContaining({ code: 'CALL_CANCELLED' })],
    ['opener', 'd', expect.objectContaining(expected)],
  ]);
});

test('fleet transport: reports why a channel was rejected', async () => {
  const [one, other] = [await open('one'), await open('other')];
  other.onChannel(async () => {
    throw new GatewayError('UPSTREAM_REFUSED', 'It does not start.');
  });
  const events = { onMessage: () => {}, onClosed: () => {} };
  await expect(one.openChannel('other', {}, events)).rejects.toMatchObject({
    code: 'UPSTREAM_REFUSED',
    message: 'It does not start.',
  });
});

/** Sends a handshake and a request, and returns everything that is received until the connection is closed. */
function readUntilClosed(socket: ReturnType<typeof connectPlain>): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  socket.on('error', () => {});
  socket.write('["hello",{"protocol":1,"from":"one","to":"other"}]\n["ask",1,"echo"]\t{}\n');
  return new Promise((resolve) => {
    socket.on('close', () => resolve(text));
  });
}
