import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';

export const ATTACKS = ['gzip bomb', 'endless body', 'single bytes', 'deep JSON', 'huge JSON'] as const;
/** Besides `ATTACKS`, which end at a size limit or with the body, the attacks that end only at a timeout. */
export type Attack = (typeof ATTACKS)[number] | 'a byte per second' | 'no headers';

export interface HostileAnswers extends AsyncDisposable {
  readonly origin: string;
  /** The number of attacks that were started, and that the other side has not ended yet. */
  readonly started: () => number;
  readonly open: () => number;
}

type Answer = (request: IncomingMessage, response: ServerResponse, attack: (kind: Attack) => void) => void;

const MEBIBYTE = 1024 * 1024;

/** Starts an HTTP server that answers honestly, or with an attack; `members` are those that deep and huge JSON have. */
export async function startHostileAnswers(
  answer: Answer,
  members: readonly string[] = [],
): Promise<HostileAnswers> {
  let started = 0;
  let open = 0;
  const server = createServer((request, response) => {
    answer(request, response, (kind) => {
      started++;
      open++;
      request.socket.once('close', () => open--);
      void attackWith(kind, request.socket, members);
    });
  });
  server.on('connection', (socket) => socket.on('error', () => {})); // Being cut off is expected.
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    started: () => started,
    open: () => open,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function attackWith(kind: Attack, socket: Socket, members: readonly string[]): Promise<void> {
  const head = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n';
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  switch (kind) {
    case 'gzip bomb':
      return void socket.end(
        Buffer.concat([
          Buffer.from(`${head}Content-Encoding: gzip\r\n\r\n`),
          gzipSync(Buffer.alloc(64 * MEBIBYTE, 32)),
        ]),
      );
    case 'deep JSON':
      return void socket.end(`${head}\r\n${jsonOf(members, `${'['.repeat(60_000)}${']'.repeat(60_000)}`)}`);
    case 'huge JSON':
      return void socket.end(`${head}\r\n${jsonOf(members, `"${'x'.repeat(200_000)}"`)}`);
    case 'single bytes':
      // Slightly less than the limit, so that all of it is kept.
      return send(socket, chunked, '1\r\n \r\n'.repeat(10_000), 52);
    case 'endless body':
      return send(socket, chunked, `10000\r\n${' '.repeat(0x10000)}\r\n`, Infinity);
    case 'no headers':
      return;
    case 'a byte per second': {
      socket.write(chunked);
      const timer = setInterval(() => socket.write('1\r\n \r\n'), 1000);
      socket.once('close', () => clearInterval(timer));
    }
  }
}

/** Returns an object with the value in each of the members, which is a valid answer of a token endpoint. */
function jsonOf(members: readonly string[], value: string): string {
  return `{"access_token":"t",${members.map((name) => `${JSON.stringify(name)}:${value}`).join(',')}}`;
}

/** Sends a part some times, as fast as the other side reads, and ends the body. */
async function send(socket: Socket, head: string, part: string, times: number): Promise<void> {
  socket.write(head);
  for (let sent = 0; sent < times && !socket.destroyed; sent++)
    await new Promise<void>((resolve) => {
      socket.once('close', resolve).write(part, () => {
        socket.off('close', resolve);
        resolve();
      });
    });
  socket.end('0\r\n\r\n');
}
