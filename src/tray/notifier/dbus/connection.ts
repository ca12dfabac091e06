import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { deferred } from '../../../lib/deferred.ts';
import type { Deferred } from '../../../lib/deferred.ts';
import { decodeMessage, encodeMessage } from './message.ts';
import type { Message } from './message.ts';
import type { Value } from './types.ts';

const CALL_WITHIN_MS = 10_000;
/** What the bus says before messages flow is a line. */
const MAX_GREETING = 4096;
const MAX_UNREAD = 8_388_608;

/** What answers calls to one of our objects; undefined when it has no such method. */
export type Answerer = (
  call: Message,
) => { readonly signature: string; readonly body: readonly Value[] } | undefined;

interface Target {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
}

interface Arguments {
  readonly signature: string;
  readonly body: readonly Value[];
}

const NOTHING: Arguments = { signature: '', body: [] };

/** A connection to a message bus: calls others, answers their calls, sends and hears signals. */
export class BusConnection implements Disposable {
  readonly #socket: Socket;
  readonly #objects = new Map<string, Answerer>();
  readonly #calls = new Map<number, Deferred<readonly Value[]>>();
  readonly #ended = deferred<Error | undefined>();
  #onSignal: (signal: Message) => void = () => {};
  #received: Buffer = Buffer.alloc(0);
  #serial = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Connects, proves who we are by the rights of the socket, and says hello. */
  static async open(path: string, uid: number): Promise<BusConnection> {
    const socket = connect({ path });
    const rest = await authenticated(socket, uid);
    const connection = new BusConnection(socket);
    socket.on('data', (bytes: Buffer) => connection.#hear(bytes));
    socket.on('close', () => connection.#end(undefined));
    socket.on('error', (error) => connection.#end(error));
    connection.#hear(rest);
    await connection.ask('Hello');
    return connection;
  }

  /** Resolves when the bus is gone, with the reason if it is known. */
  get ended(): Promise<Error | undefined> {
    return this.#ended.promise;
  }

  serve(path: string, answer: Answerer): void {
    this.#objects.set(path, answer);
  }

  onSignal(listen: (signal: Message) => void): void {
    this.#onSignal = listen;
  }

  async call(target: Target, { signature, body }: Arguments = NOTHING): Promise<readonly Value[]> {
    const serial = this.#next();
    const waiting = deferred<readonly Value[]>();
    this.#calls.set(serial, waiting);
    const timer = setTimeout(() => {
      waiting.reject(new Error(`${target.destination} does not answer ${target.member}.`));
    }, CALL_WITHIN_MS);
    try {
      this.#send({ kind: 'call', serial, wantsReply: true, ...target, signature, body });
      return await waiting.promise;
    } finally {
      clearTimeout(timer);
      this.#calls.delete(serial);
    }
  }

  /** Calls the bus itself. */
  ask(member: string, given: Arguments = NOTHING): Promise<readonly Value[]> {
    const destination = 'org.freedesktop.DBus';
    return this.call({ destination, path: '/org/freedesktop/DBus', interface: destination, member }, given);
  }

  signal(from: Omit<Target, 'destination'>, { signature, body }: Arguments = NOTHING): void {
    this.#send({ kind: 'signal', serial: this.#next(), wantsReply: false, ...from, signature, body });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
    this.#end(undefined);
  }

  #end(error: Error | undefined): void {
    this.#ended.resolve(error);
    for (const waiting of this.#calls.values())
      waiting.reject(error ?? new Error('The message bus is gone.'));
  }

  #next(): number {
    this.#serial = (this.#serial % 0x7fff_ffff) + 1;
    return this.#serial;
  }

  #send(message: Message): void {
    if (this.#socket.destroyed) return;
    this.#socket.write(encodeMessage(message));
    // A bus that does not read will not read later either.
    if (this.#socket.writableLength > MAX_UNREAD) this.#socket.destroy();
  }

  #hear(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    try {
      for (;;) {
        const first = decodeMessage(this.#received);
        if (first === undefined) return;
        this.#received = this.#received.subarray(first.length);
        this.#take(first.message);
      }
    } catch (error) {
      // What is no message has no end either, so nothing after it can be understood.
      this.#socket.destroy();
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #take(message: Message): void {
    if (message.kind === 'call') this.#answer(message);
    else if (message.kind === 'signal') this.#onSignal(message);
    else {
      const waiting = this.#calls.get(message.replyTo ?? 0);
      const [text] = message.body;
      if (message.kind === 'return') waiting?.resolve(message.body);
      else waiting?.reject(new Error(typeof text === 'string' ? text : (message.error ?? 'unknown')));
    }
  }

  #answer(call: Message): void {
    let answer: ReturnType<Answerer>;
    try {
      answer = this.#objects.get(call.path ?? '')?.(call);
    } catch {
      answer = undefined; // Arguments of other types than the method has.
    }
    if (!call.wantsReply) return;
    const to = {
      serial: this.#next(),
      wantsReply: false,
      replyTo: call.serial,
      ...(call.sender !== undefined && { destination: call.sender }),
    };
    if (answer !== undefined) return this.#send({ kind: 'return', ...to, ...answer });
    const body = [`There is no ${call.interface ?? ''}.${call.member ?? ''} here.`];
    const error = 'org.freedesktop.DBus.Error.UnknownMethod';
    this.#send({ kind: 'error', ...to, error, signature: 's', body });
  }
}

/** Resolves with what came after the greeting. */
function authenticated(socket: Socket, uid: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let greeting = Buffer.alloc(0);
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const onData = (bytes: Buffer): void => {
      greeting = Buffer.concat([greeting, bytes]);
      const end = greeting.indexOf('\r\n');
      if (end < 0 && greeting.length < MAX_GREETING) return;
      socket.off('data', onData).off('error', fail).off('close', onClose).setTimeout(0);
      if (!greeting.subarray(0, 3).equals(Buffer.from('OK ')))
        return fail(new Error('The message bus does not let us in.'));
      socket.write('BEGIN\r\n');
      resolve(greeting.subarray(end + 2));
    };
    const onClose = (): void => fail(new Error('The message bus has closed the connection.'));
    socket.on('data', onData).once('error', fail).once('close', onClose);
    socket.setTimeout(CALL_WITHIN_MS, () => fail(new Error('The message bus does not answer.')));
    const proof = Buffer.from(String(uid)).toString('hex');
    socket.write(`\0AUTH EXTERNAL ${proof}\r\n`);
  });
}
