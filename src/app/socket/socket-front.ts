import { chmodSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { dirname } from 'node:path';
import type { AdminRoutes } from '../../admin/routes.ts';
import { readHello, welcomeLine } from '../../attach/hello.ts';
import type { Hello } from '../../attach/hello.ts';
import { makeFolder } from '../../lib/make-folder.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError } from '../../model/errors.ts';
import type { Logger } from '../../observe/log.ts';
import type { ClientChannel, Connection } from '../../wire/serving.ts';
import type { IdleExit } from './idle-exit.ts';
import { PipedClient } from './piped-client.ts';

export interface SocketFrontOptions {
  readonly path: string;
  readonly platform: NodeJS.Platform;
  readonly connect: (channel: ClientChannel, hello: Hello) => Connection;
  readonly admin: () => Promise<AdminRoutes>;
  /** What is wrong with what a pipe asks for. */
  readonly wrong: (hello: Hello) => string | undefined;
  /** What the person behind a client is told when it connects. */
  readonly notes: () => readonly string[];
  readonly idle: IdleExit;
  /** Somebody asks the gateway to end. */
  readonly onStop: () => void;
  readonly shutdownMs: () => number;
  /** Somebody wants the configuration to be looked at now. */
  readonly onRefresh: () => Promise<void>;
  readonly log: Logger;
}

const MAX_HELLO_BYTES = 64 * 1024;
const HELLO_WITHIN_MS = 10_000;
const NEWLINE = 10;
const BRACE = 123;
/** Only this user can open the socket. */
const CALLER: Caller = { id: 'cli', via: 'cli', profile: 'default' };

/** The socket of the user's gateway: pipes of `serve` begin with a brace, requests of the admin API are HTTP. */
export class SocketFront implements AsyncDisposable {
  readonly #options: SocketFrontOptions;
  readonly #server: Server;
  readonly #clients = new Set<PipedClient>();
  readonly #sockets = new Set<Socket>();
  #http: Promise<HttpServer> | undefined;
  #isAccepting = true;

  private constructor(options: SocketFrontOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  static async open(options: SocketFrontOptions): Promise<SocketFront> {
    const front = new SocketFront(options);
    const { path, platform } = options;
    if (platform !== 'win32') {
      await makeFolder(dirname(path), 0o700);
      chmodSync(dirname(path), 0o700);
    }
    await new Promise<void>((resolve, reject) => {
      front.#server.once('error', (error) => {
        const message = `Cannot listen on ${path}: ${error.message}`;
        reject(new GatewayError('GATEWAY_UNAVAILABLE', message, { cause: error }));
      });
      front.#server.listen(path, resolve);
    });
    // The folder keeps others out already.
    if (platform !== 'win32') chmodSync(path, 0o600);
    return front;
  }

  clients(): number {
    return this.#clients.size;
  }

  stopAccepting(): void {
    this.#isAccepting = false;
    this.#server.close();
    for (const client of this.#clients) client.stopReading();
  }

  async drained(): Promise<void> {
    await Promise.all([...this.#clients].map((client) => client.drained()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isAccepting = false;
    this.#options.idle[Symbol.dispose]();
    this.#server.close();
    await Promise.all([...this.#clients].map((client) => client.bye()));
    for (const socket of this.#sockets) socket.destroySoon();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    this.#options.idle.enter();
    socket.on('error', () => {}); // It is closed next.
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#options.idle.leave();
    });
    const timer = setTimeout(() => socket.destroy(), HELLO_WITHIN_MS);
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const isPipe = received[0] === BRACE;
      const at = received.indexOf(NEWLINE);
      if (isPipe && at < 0 && received.length < MAX_HELLO_BYTES) return;
      clearTimeout(timer);
      socket.off('data', onData);
      socket.pause();
      const hello = isPipe ? readHello(received.toString('utf8', 0, Math.max(0, at))) : undefined;
      if (isPipe && hello === undefined) return void socket.destroy();
      const rest = received.subarray(isPipe ? at + 1 : 0);
      if (rest.length > 0) socket.unshift(rest);
      if (hello === undefined) void this.#takeRequests(socket);
      else this.#takePipe(socket, hello);
    };
    socket.on('data', onData);
    socket.on('end', () => {
      clearTimeout(timer);
      if (received.length === 0) socket.end();
    });
  }

  #takePipe(socket: Socket, hello: Hello): void {
    const { notes, idle, connect, shutdownMs, log } = this.#options;
    if (hello.refresh === true) {
      void this.#options.onRefresh().finally(() => socket.end(welcomeLine({ notes: [] })));
      return;
    }
    if (hello.retire === true || hello.stop === true) {
      socket.end(welcomeLine({ notes: [] }));
      if (hello.stop === true) this.#options.onStop();
      else idle.retire();
      return;
    }
    if (!this.#isAccepting) {
      socket.end(welcomeLine({ notes: [], refused: 'it is stopping' }));
      return;
    }
    const wrong = this.#options.wrong(hello);
    if (wrong !== undefined) {
      socket.end(welcomeLine({ notes: [], wrong }));
      return;
    }
    socket.write(welcomeLine({ notes: notes() }));
    log.debug('A client was connected.', { pid: hello.pid, cwd: hello.cwd });
    const client: PipedClient = new PipedClient(socket, {
      connect: (channel) => connect(channel, hello),
      shutdownMs: shutdownMs(),
      onGone: () => this.#clients.delete(client),
    });
    this.#clients.add(client);
  }

  async #takeRequests(socket: Socket): Promise<void> {
    try {
      const server = await (this.#http ??= this.#openHttp());
      server.emit('connection', socket);
      socket.resume();
    } catch (error) {
      this.#http = undefined;
      this.#options.log.error('The admin API cannot be loaded.', { reason: String(error) });
      socket.destroy();
    }
  }

  async #openHttp(): Promise<HttpServer> {
    const [{ createServer: createHttp }, { getRequestListener }, routes] = await Promise.all([
      import('node:http'),
      import('@hono/node-server'),
      this.#options.admin(),
    ]);
    const listener = getRequestListener((request) => routes.fetch(request, CALLER));
    return createHttp((incoming, outgoing) => void listener(incoming, outgoing));
  }
}
