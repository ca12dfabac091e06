import { once } from 'node:events';
import { randomBytes } from 'node:crypto';
import { connect as connectPlain, createServer as createPlainServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import { expect, onTestFinished, test } from 'vitest';

import { FleetTransport } from '../../../src/fleet/transport/fleet-transport.ts';
import { clientTlsOptions, listenerTlsOptions } from '../../../src/fleet/transport/tls-options.ts';
import type { JsonObject } from '../../../src/core/json.ts';
import { eventually } from '../../support/eventually.ts';

const key = randomBytes(32);
const ONE = 'aaaaaaaa';
const OTHER = 'bbbbbbbb';
const PEER = 'cccccccc';
const MAX_MESSAGE_BYTES = 1_000_000;

/** Opens two replicas that find each other, and `addresses` to change where they look. */
async function openReplicas() {
  const addresses = new Map<string, string>();
  const warnings: { readonly message: string; readonly fields: JsonObject | undefined }[] = [];
  const ignore = (): void => {};
  const log = {
    debug: ignore,
    info: ignore,
    error: ignore,
    warn: (message: string, fields?: JsonObject) => void warnings.push({ message, fields }),
    with: () => log,
  };
  const open = async (self: string): Promise<FleetTransport> => {
    const transport = await FleetTransport.listen({
      self,
      key,
      host: '127.0.0.1',
      port: 0,
      maxMessageBytes: MAX_MESSAGE_BYTES,
      addressOf: (replica) => addresses.get(replica),
      log,
    });
    onTestFinished(() => transport[Symbol.asyncDispose]());
    addresses.set(self, `127.0.0.1:${transport.port}`);
    return transport;
  };
  const [one, other] = [await open(ONE), await open(OTHER)];
  other.onRequest('echo', async (body, { from }) => ({ ...body, from }));
  return { one, other, addresses, warnings };
}

/** Connects with the key of the fleet, as a compromised replica could. */
async function connectPeer({ port }: FleetTransport): Promise<TLSSocket> {
  const socket = connect({ port, host: '127.0.0.1', ...clientTlsOptions(key) });
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
}

function hello(to = OTHER, from: unknown = PEER): string {
  return `${JSON.stringify(['hello', { protocol: 1, from, to }])}\n`;
}

function collect(socket: Socket): { text: string; isClosed: boolean } {
  const received = { text: '', isClosed: false };
  socket.on('data', (chunk: Buffer) => (received.text += chunk.toString('latin1')));
  socket.on('close', () => (received.isClosed = true));
  socket.on('error', () => {});
  return received;
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const deepArray = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;
const deepObject = `${'{"a":'.repeat(40_000)}1${'}'.repeat(40_000)}`;

test.each([
  ['bytes that are not text', randomBytes(5000)],
  ['no array', '{"hello":1}\n'],
  ['another first frame', '["ask",1,"echo"]\t{}\n'],
  [
    'a version that cannot become text',
    '["hello",{"protocol":{"toString":1,"valueOf":1},"from":"cccccccc"}]\n',
  ],
  ['a deeply nested version', `["hello",{"protocol":${deepArray},"from":"cccccccc"}]\n`],
  ['a long version with escape sequences', `["hello",{"protocol":"${'\\u001b[2J'.repeat(20_000)}"}]\n`],
  ['an id that is no text', hello(OTHER, { toString: 1 })],
  ['an id with another form', hello(OTHER, '../../x\n\u001b[2J')],
  ['the id of this replica itself', hello(OTHER, OTHER)],
  ['a head that is too long', `["hello",{"protocol":1,"x":"${'x'.repeat(300_000)}"}]\n`],
  ['a line that never ends', 'x'.repeat(2 * MAX_MESSAGE_BYTES)],
])('fleet port: closes the connection after a handshake with %s', async (_case, bytes) => {
  const { one, other, warnings } = await openReplicas();
  const peer = await connectPeer(other);
  const received = collect(peer);
  peer.write(bytes);
  if (typeof bytes !== 'string') peer.write('\n');
  await eventually(() => expect(received.isClosed).toBe(true));
  expect(warnings).toHaveLength(1);
  expect(JSON.stringify(warnings).length).toBeLessThan(1000);
  // On a busy machine the first attempt to connect may time out.
  await eventually(async () =>
    expect(await one.request(OTHER, 'echo', { a: 1 })).toEqual({ a: 1, from: ONE }),
  );
});

test('fleet port: answers or ignores requests of a member that no gateway sends', async () => {
  const { one, other } = await openReplicas();
  other.onChannel(async () => ({ accepted: {}, events: { onMessage: () => {}, onClosed: () => {} } }));
  const peer = await connectPeer(other);
  const received = collect(peer);
  const frames = [
    '[]',
    '[null]',
    '["unknown",1]',
    '["ask"]',
    '["ask","1","echo"]\t{}',
    '["ask",1e400,"echo"]\t{}',
    '["ask",2,{"toString":1}]\t{}',
    '["ask",3,"__proto__"]\t{}',
    '["ask",4,"constructor"]\t{}',
    '["ask",5,"echo"]\t[1]',
    '["ask",6,"echo"]\tnot JSON',
    `["ask",7,"echo"]\t${deepObject}`,
    '["ask",8,"echo"]\t{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    '["answer",1]\t{}',
    '["opened",1]\t{}',
    '["problem",1]\t{"code":"__proto__"}',
    '["cancel",99]',
    '["say",99,{"left":1}]\tx',
    '["close",99]\tx',
    '["open",20]\tnot JSON',
    '["open",21]\t{"server":{"toString":1}}',
    `["say",21,${deepArray}]\t${deepObject}`,
    '["close",21]\t{"code":{"toString":1},"message":{}}',
    '["ask",30,"echo"]\t{"text":"last"}',
  ];
  peer.write(`${hello()}${frames.join('\n')}\n`);
  await eventually(() => expect(received.text).toContain('["answer",30]\t{"text":"last"'));
  expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  // On a busy machine the first attempt to connect may time out.
  await eventually(async () =>
    expect(await one.request(OTHER, 'echo', { a: 1 })).toEqual({ a: 1, from: ONE }),
  );
});

test('fleet port: closes only the connection of a member whose message makes a handler fail', async () => {
  const { one, other } = await openReplicas();
  other.onChannel(async () => ({
    accepted: {},
    events: {
      onMessage: () => {
        throw new TypeError('A handler did not expect this message.');
      },
      onClosed: () => {},
    },
  }));
  const peer = await connectPeer(other);
  const received = collect(peer);
  peer.write(`${hello()}["open",1]\t{}\n`);
  await eventually(() => expect(received.text).toContain('["opened",1]'));
  peer.write('["say",1,null]\t{}\n');
  await eventually(() => expect(received.isClosed).toBe(true));
  // On a busy machine the first attempt to connect may time out.
  await eventually(async () =>
    expect(await one.request(OTHER, 'echo', { a: 1 })).toEqual({ a: 1, from: ONE }),
  );
});

test.each([
  ['request', '["ask",1,"never"]\t{}\n'],
  ['channel', '["open",1]\t{}\n'],
])(
  'fleet port: closes the connection of a member that uses the id of an open %s again',
  async (_kind, frame) => {
    const { other } = await openReplicas();
    let [started, ended] = [0, 0];
    other.onRequest('never', (_body, { signal }) => {
      started++;
      signal.addEventListener('abort', () => ended++);
      return new Promise(() => {});
    });
    other.onChannel(async () => {
      started++;
      return { accepted: {}, events: { onMessage: () => {}, onClosed: () => ended++ } };
    });
    const peer = await connectPeer(other);
    const received = collect(peer);
    peer.write(hello() + frame);
    await eventually(() => expect(started).toBe(1));
    peer.write(frame.repeat(5000));
    await eventually(() => expect(received.isClosed).toBe(true));
    expect({ started, ended }).toEqual({ started: 1, ended: 1 });
  },
);

test('fleet port: limits the requests and channels of a member, and drops one that does not read', async () => {
  const { one, other } = await openReplicas();
  let [started, aborted] = [0, 0];
  other.onRequest('never', (_body, { signal }) => {
    started++;
    signal.addEventListener('abort', () => aborted++);
    return new Promise(() => {});
  });
  other.onRequest('large', async () => ({ text: 'x'.repeat(900_000) }));
  const flooding = await connectPeer(other);
  const floodState = collect(flooding);
  flooding.write(hello());
  for (let id = 1; id <= 5000; id++) flooding.write(`["ask",${id},"never"]\t{}\n`);
  const deaf = await connectPeer(other);
  // It never reads, so only the end of its first request shows here that it was disconnected.
  deaf.write(`${hello()}["ask",0,"never"]\t{}\n`);
  for (let id = 1; id <= 50; id++) deaf.write(`["ask",${id},"large"]\t{}\n`);
  await eventually(() => {
    expect(floodState.isClosed).toBe(true);
    expect(started).toBeGreaterThan(1000);
    expect(aborted).toBe(started);
  });
  expect(started).toBeLessThan(1200);
  // On a busy machine the first attempt to connect may time out.
  await eventually(async () =>
    expect(await one.request(OTHER, 'echo', { a: 1 })).toEqual({ a: 1, from: ONE }),
  );
});

test('fleet port: admits a replica while strangers without the key hold every connection', async () => {
  const { one, other } = await openReplicas();
  const strangers: Socket[] = [];
  onTestFinished(() => {
    for (const socket of strangers) socket.destroy();
  });
  for (let count = 0; count < 400; count++) {
    const socket = connectPlain(other.port, '127.0.0.1');
    socket.on('error', () => {});
    strangers.push(socket);
    await once(socket, 'connect');
    socket.write(Buffer.from([0x16]));
  }
  // On a busy machine the first attempt to connect may time out.
  await eventually(async () =>
    expect(await one.request(OTHER, 'echo', { a: 1 })).toEqual({ a: 1, from: ONE }),
  );
});

test(
  'fleet port: closes a TLS handshake that is sent byte by byte, after 5 s',
  { tags: ['slow'] },
  async () => {
    const { other } = await openReplicas();
    const slow = connectPlain(other.port, '127.0.0.1');
    const state = collect(slow);
    // A record of 16,000 bytes, of which one arrives every 100 ms.
    slow.write(Buffer.from([0x16, 0x03, 0x01, 0x3e, 0x80, 0x01, 0x00, 0x3e, 0x7c]));
    const timer = setInterval(() => slow.write(Buffer.from([0])), 100);
    onTestFinished(() => {
      clearInterval(timer);
      slow.destroy();
    });
    // Without the limit, the handshake would take 27 minutes.
    await eventually(() => expect(state.isClosed).toBe(true), { withinMs: 45_000 });
  },
);

test('fleet transport: tells nothing to a stranger whose address is in the database', async () => {
  const { one, addresses } = await openReplicas();
  const secret = 'key:anna secret-of-a-caller';
  let heard = '';
  const plain = createPlainServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      heard += chunk.toString('latin1');
      // No record of TLS.
      socket.write('["hello",{"protocol":1,"from":"cccccccc"}]\n');
    });
  });
  const otherKey = createServer(listenerTlsOptions(randomBytes(32)), (socket) => {
    socket.on('data', (chunk: Buffer) => (heard += chunk.toString('latin1')));
  });
  otherKey.on('tlsClientError', () => {});
  for (const server of [plain, otherKey]) {
    addresses.set(PEER, await listen(server));
    const failure = await one
      .request(PEER, 'session.message', { caller: secret })
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'REPLICA_AWAY' });
  }
  expect(heard).not.toMatch(/anna|secret|session\.message|aaaaaaaa/);
});

test.each([
  'not an address',
  '',
  ':',
  '127.0.0.1:99999999',
  '127.0.0.1:-1',
  '127.0.0.1:0x50',
  "'; drop table replicas; --:1",
  '\u0000:1',
  '[::1:1',
])('fleet transport: fails a request to the address %j like one to a lost replica', async (address) => {
  const { one, addresses } = await openReplicas();
  addresses.set(PEER, address);
  const failure = await one.request(PEER, 'echo', {}).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'REPLICA_AWAY' });
  // On a busy machine the first attempt to connect may time out.
  await eventually(async () =>
    expect(await one.request(OTHER, 'echo', { a: 1 })).toEqual({ a: 1, from: ONE }),
  );
});

test('fleet transport: rejects a member that answers in the name of another, and ignores answers to no request', async () => {
  const { one, addresses } = await openReplicas();
  let name: unknown = OTHER;
  const rogue = createServer(listenerTlsOptions(key), (socket) => {
    socket.on('error', () => {});
    let buffered = '';
    socket.on('data', (chunk: Buffer) => {
      buffered += chunk.toString();
      if (!buffered.includes('\n')) return;
      if (buffered.startsWith('["hello"'))
        socket.write(`${JSON.stringify(['hello', { protocol: 1, from: name }])}\n`);
      const [, id] = /\["ask",(\d+)/.exec(buffered) ?? [];
      if (id !== undefined) {
        const wrong = [-1, 0, Number(id) + 1, 1e9].map((other) => `["answer",${other}]\t{"isWrong":true}\n`);
        const odd = ['["answer","1"]\t{}\n', '["opened",1]\t{}\n', '["say",1,null]\tx\n', '["close",1]\tx\n'];
        socket.write(
          [...wrong, ...odd, `["answer",${id}]\t{"isRight":true}\n`, `["answer",${id}]\t{}\n`].join(''),
        );
      }
      buffered = '';
    });
  });
  addresses.set(PEER, await listen(rogue));
  for (const claimed of [OTHER, { toString: 1 }, null]) {
    name = claimed;
    await expect(one.request(PEER, 'echo', {})).rejects.toMatchObject({ code: 'REPLICA_AWAY' });
  }
  name = PEER;
  expect(await one.request(PEER, 'echo', {})).toEqual({ isRight: true });
});
