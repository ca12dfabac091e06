import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';

import { expect } from 'vitest';

import { eventually } from '../eventually.ts';
import { initializeBody, sendRequest } from '../http-requests.ts';
import { type Attack, type Attacker, membersOf, nested, times } from './attack.ts';

const ACCEPT = 'application/json, text/event-stream';
const disabledServers = (count: number): Record<string, unknown> =>
  membersOf(count, (at) => `s${at}`, { command: 'none', enabled: false });

const LARGE_CLIENT = {
  capabilities: { experimental: membersOf(50_000, (at) => `x${at}`, { a: {} }), roots: {} },
  clientInfo: { name: 'a'.repeat(1_000_000), version: '1', x: nested(2_000), y: 'b '.repeat(500_000) },
};

/** A call as text, because no object has two members of one name, and no number has 20 digits. */
function posted(
  { name = 'hostile__tool', args }: { readonly name?: string; readonly args: string },
  response = /"content":/,
): Attack {
  const body = `{"jsonrpc":"2.0","id":"posted","method":"tools/call","params":{"name":"${name}","arguments":${args}}}`;
  return {
    body,
    act: async ({ client }) => {
      await client.sendText(body);
      expect(await client.strays.waitFor((line) => line.includes('"posted"'))).toMatch(response);
    },
  };
}

/** Attacks by a caller, by the configuration and through the admin API. */
export const CALLER_ATTACKS: Readonly<Record<string, Attack>> = {
  'headers: session ids and tokens of 7 kB': {
    isSlow: true,
    act: async ({ gateway }) => {
      for (const part of ['a', '.', '%', 'QUJD', ' a'])
        for (const name of ['mcp-session-id', 'authorization', 'mcp-protocol-version', 'last-event-id']) {
          const headers = { accept: ACCEPT, [name]: `Bearer ${part.repeat(7_000 / part.length)}` };
          const { status } = await sendRequest(gateway.url, { headers, body: initializeBody });
          expect(status).not.toBe(431);
        }
    },
  },
  'initialize: a client with capabilities and information of 4 MB': {
    isSlow: true,
    body: JSON.stringify(LARGE_CLIENT),
    act: async ({ gateway }) => {
      const client = await gateway.client(LARGE_CLIENT);
      await client.close();
    },
  },
  'clients: 30 clients with names of 1 MB, and the list of them': {
    isSlow: true,
    body: initializeBodyOf('a'.repeat(1_000_000)),
    act: async ({ gateway }) => {
      for (let at = 0; at < 30; at += 1) {
        const body = initializeBodyOf(`${at}${'a'.repeat(1_000_000)}`);
        expect((await sendRequest(gateway.url, { body, headers: { accept: ACCEPT } })).status).toBe(200);
      }
      const key = readFileSync(join(gateway.home, 'state', 'run', 'admin.key'), 'utf8').trim();
      const { text } = await sendRequest(new URL('/api/clients?limit=1000', gateway.url), { key });
      expect(text).toContain('"total":31');
      expect(text.length).toBeLessThan(100_000);
    },
  },
  'batch: 30,000 messages in one': {
    client: { version: '2025-03-26' },
    act: async ({ gateway }) => {
      const headers = { accept: ACCEPT, ...(await openSession(gateway.url, '2025-03-26')) };
      const message = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } };
      const post = (count: number) =>
        sendRequest(gateway.url, { headers, body: JSON.stringify(times(count, () => message)) });
      expect((await post(100)).status).toBe(202);
      expect((await post(30_000)).text).toContain('at most 100 messages');
    },
  },
  'requests: 1,000 pipelined on one connection, with cancellations': {
    isSlow: true,
    act: async ({ gateway }) => {
      const session = await openSession(gateway.url);
      const bodies = times(1_000, (id) =>
        JSON.stringify({
          jsonrpc: '2.0',
          ...(id % 2 === 0
            ? { id, method: 'tools/call', params: { name: 'hostile__tool', arguments: {} } }
            : { method: 'notifications/cancelled', params: { requestId: id - 1 } }),
        }),
      );
      expect(await pipeline(gateway.url, session, bodies)).toBe(1_000);
    },
  },
  'subscriptions: 500 pipelined to different resources': {
    isSlow: true,
    results: {
      initialize: { capabilities: { tools: {}, resources: { subscribe: true } } },
      'resources/list': { resources: times(500, (at) => ({ uri: `x:a${at}`, name: `${at}` })) },
      'resources/subscribe': {},
    },
    act: async ({ gateway }) => {
      const session = await openSession(gateway.url);
      const subscribe = (id: number): string =>
        JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/subscribe', params: { uri: `x:a${id}` } });
      expect(await pipeline(gateway.url, session, times(500, subscribe))).toBe(500);
    },
  },
  'call: a tool name of 4 MB': posted({ name: 'a-'.repeat(2_000_000), args: '{}' }, /Unknown tool/),
  'call: 300,000 members named alike and __proto__': posted({
    args: `{${'"__proto__":{"a":1},"constructor":{"prototype":1},"a":1,'.repeat(100_000)}"b":1}`,
  }),
  'call: 100,000 numbers of 20 digits': posted({
    args: `{"list":[${'12345678901234567890,-0,1e400,'.repeat(35_000)}1]}`,
  }),
  'call: 4 MB of text to redact and to record': {
    args: { a: 'sk-a_b=AKIA0 '.repeat(150_000), b: 'QUJD'.repeat(500_000), c: '-----BEGIN '.repeat(20_000) },
    config: { redact: { arguments: 'mask', entropy: true }, audit: { arguments: true } },
    verifyArrival: ({ called }) => expect(called).toHaveProperty('content'),
  },
  'search: a query of 8 MB': {
    ...posted({ name: 'search_tools', args: `{"query":"${'ignore aaab'.repeat(700_000)}"}` }),
    expose: 'search',
  },
  'audit: filters of 12 kB': {
    isSlow: true,
    act: async ({ gateway }) => {
      const key = readFileSync(join(gateway.home, 'state', 'run', 'admin.key'), 'utf8').trim();
      for (const filter of ['tool', 'server', 'client', 'caller', 'text', 'since'])
        for (const value of ['*a'.repeat(6_000), '%25_'.repeat(3_000), '1'.repeat(12_000)]) {
          const { status } = await sendRequest(new URL(`/api/audit?${filter}=${value}`, gateway.url), {
            key,
          });
          expect([200, 400]).toContain(status);
        }
    },
  },
  'config: a reload that adds 2,000 servers': {
    isSlow: true,
    act: async (attacker) => {
      const { configFile } = attacker.gateway;
      const config = JSON.parse(readFileSync(configFile, 'utf8')) as { mcpServers: object };
      const mcpServers = { ...config.mcpServers, ...disabledServers(2_000) };
      writeFileSync(configFile, JSON.stringify({ ...config, mcpServers }));
      await untilServers(attacker, 2_001);
    },
  },
};

function initializeBodyOf(name: string): string {
  const { params, ...message } = JSON.parse(initializeBody) as { readonly params: object };
  return JSON.stringify({ ...message, params: { ...params, clientInfo: { name, version: '1' } } });
}

/** Waits until the admin API lists that many servers. */
function untilServers({ gateway }: Attacker, count: number): Promise<unknown> {
  const key = readFileSync(join(gateway.home, 'state', 'run', 'admin.key'), 'utf8').trim();
  return eventually(
    async () => {
      const { text } = await sendRequest(new URL('/api/servers', gateway.url), { key });
      expect(text.match(/"name":"(s\d+|hostile)"/g)).toHaveLength(count);
    },
    { what: `${count} servers in the gateway`, withinMs: 30_000 },
  );
}

/** Opens a session and returns its headers. */
async function openSession(url: string, version = '2025-11-25'): Promise<Record<string, string>> {
  const body = initializeBody.replace('2025-11-25', version);
  const { headers } = await sendRequest(url, { body, headers: { accept: ACCEPT } });
  return { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': version };
}

/** Sends all requests on one connection without waiting, and returns the number of responses. */
async function pipeline(
  url: string,
  session: Readonly<Record<string, string>>,
  bodies: readonly string[],
): Promise<number> {
  const { host, hostname, port, pathname } = new URL(url);
  const fixed = { host, accept: ACCEPT, 'content-type': 'application/json', ...session };
  const head = Object.entries(fixed).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(Number(port), hostname);
  const requests = bodies.map(
    (body) => `POST ${pathname} HTTP/1.1\r\n${head.join('')}content-length: ${body.length}\r\n\r\n${body}`,
  );
  socket.write(requests.join(''));
  let received = '';
  let responses = 0;
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    received += chunk;
    responses = received.split('HTTP/1.1 2').length - 1;
    if (responses >= bodies.length) socket.destroy();
  });
  await once(socket, 'close');
  return responses;
}
