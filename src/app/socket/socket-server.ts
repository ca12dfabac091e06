import { chmodSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { dirname } from 'node:path';
import type { AdminRoutes } from '../../admin/admin-routes.ts';
import { parseHello, serializeHelloReply } from '../shared-gateway/pipe-handshake.ts';
import type { ClientHello, HelloReply } from '../shared-gateway/pipe-handshake.ts';
import { makeFolder } from '../../core/lib/make-folder.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Logger } from '../../observability/log.ts';
import type { ClientChannel, ClientConnection } from '../../protocol/client-connection.ts';
import type { IdleExit } from './idle-exit.ts';
import { PipeConnection } from './pipe-connection.ts';
import type { VariableExchange } from './variable-exchange.ts';

export interface SocketServerOptions {
  readonly path: string;
  readonly platform: NodeJS.Platform;
  readonly connect: (channel: ClientChannel, hello: ClientHello) => ClientConnection;
  readonly admin: () => Promise<AdminRoutes>;
  /** Returns the reason to reject a pipe; undefined if the pipe is accepted. */
  readonly helloProblem: (hello: ClientHello) => string | undefined;
  /** Returns the messages that the user of a client sees when it connects. */
  readonly welcomeNotes: () => readonly string[];
  readonly variables: VariableExchange;
  readonly idle: IdleExit;
  readonly onStop: () => void;
  readonly shutdownMs: () => number;
  /** Reloads the configuration now. */
  readonly onRefresh: () => Promise<void>;
  readonly log: Logger;
}

/** Twice what a client may send of its variables. */
const MAX_HELLO_BYTES = 512 * 1024;
const HELLO_TIMEOUT_MS = 10_000;
/** The byte `\n`. */
const NEWLINE = 10;
/** The byte `{`. */
const BRACE = 123;
/** The caller of all requests over the socket. They need no credentials, because only the user of this gateway can open the socket. */
const CLI_CALLER: Caller = { id: 'cli', via: 'cli', profile: 'default' };

/**
 * Listens on the socket of the user's gateway. Connections that start with a brace are pipes of `trunkline serve`; all others are HTTP
 * connections for the admin API.
 */
export class SocketServer implements AsyncDisposable {
  readonly #options: SocketServerOptions;
  readonly #server: Server;
  readonly #pipes = new Set<PipeConnection>();
  readonly #sockets = new Set<Socket>();
  #http: Promise<HttpServer> | undefined;
  #isAccepting = true;

  private constructor(options: SocketServerOptions) {
    this.#options = options;
    this.#server = createServer({ allowHalfOpen: true }, (socket) => this.#accept(socket));
  }

  static async open(options: SocketServerOptions): Promise<SocketServer> {
    const server = new SocketServer(options);
    const { path, platform } = options;
    if (platform !== 'win32') {
      await makeFolder(dirname(path), 0o700);
      chmodSync(dirname(path), 0o700);
    }
    await new Promise<void>((resolve, reject) => {
      server.#server.once('error', (error) => {
        const message = `Cannot listen on the socket ${path}: ${error.message}`;
        reject(new GatewayError('GATEWAY_UNAVAILABLE', message, { cause: error }));
      });
      server.#server.listen(path, resolve);
    });
    // This is an additional protection: the permissions of the folder already exclude other users.
    if (platform !== 'win32') chmodSync(path, 0o600);
    return server;
  }

  clientCount(): number {
    return this.#pipes.size;
  }

  stopAccepting(): void {
    this.#isAccepting = false;
    this.#server.close();
    for (const pipe of this.#pipes) pipe.stopReading();
  }

  async drained(): Promise<void> {
    await Promise.all([...this.#pipes].map((pipe) => pipe.drained()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isAccepting = false;
    this.#options.idle[Symbol.dispose]();
    this.#server.close();
    await Promise.all([...this.#pipes].map((pipe) => pipe.sayGoodbye()));
    for (const socket of this.#sockets) socket.destroySoon();
  }

  #accept(socket: Socket): void {
    this.#sockets.add(socket);
    this.#options.idle.acquire();
    socket.on('error', () => {}); // The 'close' event follows.
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#options.idle.release();
    });
    const timer = setTimeout(() => socket.destroy(), HELLO_TIMEOUT_MS);
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const isPipe = received[0] === BRACE;
      const lineEnd = received.indexOf(NEWLINE);
      if (isPipe && lineEnd < 0 && received.length < MAX_HELLO_BYTES) return;
      clearTimeout(timer);
      socket.off('data', onData);
      socket.pause();
      // A pipe without a line end within the limit yields an empty text, which is not a valid hello.
      const hello = isPipe ? parseHello(received.toString('utf8', 0, Math.max(0, lineEnd))) : undefined;
      if (isPipe && hello === undefined) return void socket.destroy();
      const rest = received.subarray(isPipe ? lineEnd + 1 : 0);
      if (rest.length > 0) socket.unshift(rest);
      if (hello === undefined) void this.#serveHttp(socket);
      else this.#servePipe(socket, hello);
    };
    socket.on('data', onData);
    socket.on('end', () => {
      clearTimeout(timer);
      if (received.length === 0) socket.end();
    });
  }

  #servePipe(socket: Socket, hello: ClientHello): void {
    const { welcomeNotes, connect, variables, shutdownMs, onStop, log } = this.#options;
    const end = (reply: Partial<HelloReply> = {}): void =>
      void socket.end(serializeHelloReply({ notes: [], ...reply }));
    if (this.#handleRequest(hello, end)) return;
    if (!this.#isAccepting) return end({ refused: 'it is stopping' });
    const problem = this.#options.helloProblem(hello);
    if (problem !== undefined) return end({ wrong: problem });
    const { variables: brought = {}, replace } = hello;
    const { differing, mustStop } = variables.receive(brought, { replace });
    if (mustStop) {
      end({
        refused: 'it stops, because the client has other values of variables that are read at the start',
      });
      return onStop();
    }
    socket.write(serializeHelloReply({ notes: welcomeNotes(), differing }));
    log.debug('A client connected.', { pid: hello.pid, cwd: hello.cwd });
    const connected = variables.connect(brought);
    const pipe: PipeConnection = new PipeConnection(socket, {
      connect: (channel) => connect(channel, hello),
      shutdownMs: shutdownMs(),
      onClosed: () => {
        connected[Symbol.dispose]();
        this.#pipes.delete(pipe);
      },
      onSlowClient: (unsentBytes) =>
        log.warn('Disconnected a client that did not read its responses.', { pid: hello.pid, unsentBytes }),
    });
    this.#pipes.add(pipe);
  }

  /** Handles a hello that no pipe follows. Returns false for the hello of a pipe. */
  #handleRequest(hello: ClientHello, end: (reply?: Partial<HelloReply>) => void): boolean {
    const { idle, variables, onRefresh, onStop } = this.#options;
    const { variables: brought = {} } = hello;
    if (hello.refresh === true) void onRefresh().finally(() => end());
    else if (hello.compare === true) end({ differing: variables.compare(brought) });
    else if (hello.offer === true)
      end({ differing: variables.receive(brought, { isPipe: false }).differing });
    else if (hello.stop === true) {
      end();
      onStop();
    } else if (hello.retire === true) {
      end();
      idle.retire();
    } else return false;
    return true;
  }

  async #serveHttp(socket: Socket): Promise<void> {
    try {
      const server = await (this.#http ??= this.#openHttp());
      server.emit('connection', socket);
      socket.resume();
    } catch (error) {
      this.#http = undefined;
      this.#options.log.error('The admin API could not be loaded.', { reason: String(error) });
      socket.destroy();
    }
  }

  async #openHttp(): Promise<HttpServer> {
    const [{ createServer: createHttp }, { getRequestListener }, routes] = await Promise.all([
      import('node:http'),
      import('@hono/node-server'),
      this.#options.admin(),
    ]);
    const listener = getRequestListener((request) => routes.fetch(request, CLI_CALLER));
    return createHttp((incoming, outgoing) => void listener(incoming, outgoing));
  }
}
