import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

import { expect, test } from 'vitest';

import { parseMessage } from '../../../src/protocol/rpc-message.ts';
import {
  addKey,
  initializeBody,
  startGatewayWithAuth,
  listToolNamesAt,
} from '../../support/http-requests.ts';
import { checkLeaks } from '../../support/leak-check.ts';

checkLeaks();

/** FUZZ_SECONDS=600 FUZZ_SEED=7 npx vitest run --project integration test/integration/security/fuzz.test.ts */
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 6);
const SEED = Number(process.env['FUZZ_SEED'] ?? randomBytes(4).readUInt32LE());
const ANSWER_MS = 20_000;

/** Returns the same numbers for the same seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const SEEDS = [
  initializeBody,
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"plain__echo","arguments":{"text":"x"}}}',
  '[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]',
  '{"jsonrpc":"2.0","id":1e999,"result":{"__proto__":{"a":1}}}',
  `${'['.repeat(5000)}${']'.repeat(5000)}`,
];
const PATHS = [
  '/mcp',
  '/sse',
  '/messages',
  '/messages?sessionId=1',
  '/mcp/s/plain',
  '/mcp/p/x',
  '/mcp/s/%2e%2e',
  '/',
];
const MORE = [
  '/oauth/authorize',
  '/oauth/token',
  '/oauth/register',
  '/api/status',
  '/.well-known/oauth-protected-resource/mcp',
];
const METHODS = ['POST', 'POST', 'POST', 'GET', 'DELETE', 'OPTIONS', 'PUT', 'HEAD', 'BREW'];

class Fuzz {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = numbers(seed);
  }

  below(count: number): number {
    return Math.floor(this.random() * count);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T; // The list is never empty.
  }

  /** Mutates a valid body. */
  body(): Buffer {
    const bytes = Buffer.from(this.one(SEEDS));
    for (let left = this.below(6); left > 0 && bytes.length > 0; left--)
      bytes[this.below(bytes.length)] = this.below(256);
    const cut = this.random() < 0.2 ? this.below(bytes.length + 1) : bytes.length;
    return this.random() < 0.1 ? Buffer.concat([bytes, bytes]) : bytes.subarray(0, cut);
  }

  request(key: string): Buffer {
    const body = this.body();
    const size =
      this.random() < 0.1 ? this.one(['-1', '99999999999999999999', '0x10', '1, 2', '']) : body.length;
    const headers = [
      ...(this.random() < 0.9 ? ['Host: 127.0.0.1'] : [`Host: ${this.junk()}`]),
      ...(this.random() < 0.7 ? [`Authorization: Bearer ${key}`] : [`Authorization: ${this.junk()}`]),
      ...(this.random() < 0.8
        ? ['Content-Type: application/json']
        : ['Content-Type: application/x-www-form-urlencoded']),
      ...(this.random() < 0.2 ? [`Mcp-Session-Id: ${this.junk()}`] : []),
      ...(this.random() < 0.3
        ? [`MCP-Protocol-Version: ${this.one(['2026-07-28', '2025-03-26', this.junk()])}`]
        : []),
      ...(this.random() < 0.2 ? [`Accept: ${this.one(['text/event-stream', '*/*;q=0', this.junk()])}`] : []),
      ...(this.random() < 0.1 ? [`Origin: ${this.junk()}`] : []),
      ...(this.random() < 0.1 ? ['Transfer-Encoding: chunked'] : [`Content-Length: ${size}`]),
      ...(this.random() < 0.05 ? [`X-Big: ${'x'.repeat(20_000)}`] : []),
      'Connection: close',
    ];
    const line = `${this.one(METHODS)} ${this.one([...PATHS, ...MORE])} HTTP/1.1`;
    return Buffer.concat([Buffer.from([line, ...headers, '', ''].join('\r\n'), 'latin1'), body]);
  }

  junk(): string {
    const length = this.below(60);
    return Array.from({ length }, () => String.fromCharCode(32 + this.below(224))).join('');
  }
}

test(`message parser: classifies any input (seed ${SEED})`, () => {
  const fuzz = new Fuzz(SEED);
  const until = Date.now() + Math.min(SECONDS, 60) * 250;
  let tried = 0;
  for (; Date.now() < until; tried++) {
    const message = parseMessage(fuzz.body().toString('utf8'));
    expect(['request', 'notification', 'result', 'error', 'batch', 'invalid', 'garbage']).toContain(
      message.kind,
    );
  }
  expect(tried).toBeGreaterThan(100);
});

test(
  `HTTP server: answers or closes on any input without leaking memory (seed ${SEED})`,
  { tags: ['slow'], timeout: SECONDS * 2000 + 60_000 },
  async () => {
    await using gateway = await startGatewayWithAuth({ auth: { keys: true, authorizationServer: {} } });
    const key = await addKey(gateway, 'anna');
    const fuzz = new Fuzz(SEED);
    const { port } = new URL(gateway.url);
    const round = async (seconds: number): Promise<number> => {
      const until = Date.now() + seconds * 1000;
      let sent = 0;
      const worker = async (): Promise<void> => {
        // Waits as long as a busy machine needs.
        for (; Date.now() < until || sent < 100; sent++) await exchange(Number(port), fuzz.request(key));
      };
      await Promise.all(Array.from({ length: 8 }, worker));
      return sent;
    };
    let sent = await round(SECONDS / 2);
    const before = residentMegabytes(gateway.pid);
    sent += await round(SECONDS);
    const after = residentMegabytes(gateway.pid);
    expect(sent).toBeGreaterThanOrEqual(200);
    expect(after - before, `from ${before} to ${after} MB with ${sent} requests`).toBeLessThan(150);
    expect(await listToolNamesAt(gateway.url, { key })).toContain('plain__echo');
    expect(gateway.stderr()).not.toMatch(/"level":"error"|uncaught|unhandled/i);
  },
);

/** Sends the input and waits until the gateway answers or closes the connection, however invalid the input was. */
function exchange(port: number, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`No answer to:\n${bytes.toString('latin1').slice(0, 2000)}`));
    }, ANSWER_MS);
    const over = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve();
    };
    // A stream stays open; its start counts as an answer.
    socket.on('data', over).on('close', over).on('error', over);
    socket.end(bytes);
  });
}

function residentMegabytes(pid: number): number {
  const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1024);
}
