import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { deferred } from '../../../../core/lib/deferred.ts';
import type { Deferred } from '../../../../core/lib/deferred.ts';
import { decodeMessage, encodeMessage } from './dbus-message.ts';
import type { DbusMessage } from './dbus-message.ts';
import type { DbusArguments, DbusValue } from './dbus-value.ts';

const CALL_TIMEOUT_MS = 10_000;
/** The maximum length of the reply to the authentication, which is one short line. */
const MAX_AUTH_REPLY_BYTES = 4096;
/** The maximum number of unsent bytes. */
const MAX_BUFFERED_BYTES = 8_388_608;

/** Answers calls to one of our objects. Returns undefined if the object has no such method. */
export type DbusCallHandler = (call: DbusMessage) => DbusArguments | undefined;

interface CallTarget {
  readonly destination: string;
  readonly path: string;
  readonly interface: string;
  readonly member: string;
}

const NO_ARGUMENTS: DbusArguments = { signature: '', body: [] };

/** A connection to a D-Bus message bus. Sends and answers calls, sends and receives signals. */
export class DbusConnection implements Disposable {
  readonly #socket: Socket;
  readonly #handlers = new Map<string, DbusCallHandler>();
  readonly #pendingCalls = new Map<number, Deferred<readonly DbusValue[]>>();
  readonly #ended = deferred<Error | undefined>();
  #onSignal: (signal: DbusMessage) => void = () => {};
  #received: Buffer = Buffer.alloc(0);
  #lastSerial = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Connects, authenticates with the user id, and registers with the bus. */
  static async open(path: string, uid: number): Promise<DbusConnection> {
    const socket = connect({ path });
    const rest = await authenticate(socket, uid);
    const connection = new DbusConnection(socket);
    socket.on('data', (bytes: Buffer) => connection.#receive(bytes));
    socket.on('close', () => connection.#end(undefined));
    socket.on('error', (error) => connection.#end(error));
    connection.#receive(rest);
    await connection.callBus('Hello');
    return connection;
  }

  /** Resolves when the connection has ended, with the error if there was one. */
  get ended(): Promise<Error | undefined> {
    return this.#ended.promise;
  }

  /** Answers the calls to the object at this path. */
  handleCalls(path: string, handler: DbusCallHandler): void {
    this.#handlers.set(path, handler);
  }

  onSignal(listener: (signal: DbusMessage) => void): void {
    this.#onSignal = listener;
  }

  async call(
    target: CallTarget,
    { signature, body }: DbusArguments = NO_ARGUMENTS,
  ): Promise<readonly DbusValue[]> {
    const serial = this.#nextSerial();
    const reply = deferred<readonly DbusValue[]>();
    this.#pendingCalls.set(serial, reply);
    const timer = setTimeout(() => {
      reply.reject(new Error(`${target.destination} did not answer ${target.member}.`));
    }, CALL_TIMEOUT_MS);
    try {
      this.#send({ kind: 'call', serial, wantsReply: true, ...target, signature, body });
      return await reply.promise;
    } finally {
      clearTimeout(timer);
      this.#pendingCalls.delete(serial);
    }
  }

  /** Calls the bus itself. */
  callBus(member: string, args: DbusArguments = NO_ARGUMENTS): Promise<readonly DbusValue[]> {
    const destination = 'org.freedesktop.DBus';
    return this.call({ destination, path: '/org/freedesktop/DBus', interface: destination, member }, args);
  }

  signal(source: Omit<CallTarget, 'destination'>, { signature, body }: DbusArguments = NO_ARGUMENTS): void {
    this.#send({ kind: 'signal', serial: this.#nextSerial(), wantsReply: false, ...source, signature, body });
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
    this.#end(undefined);
  }

  #end(error: Error | undefined): void {
    this.#ended.resolve(error);
    for (const reply of this.#pendingCalls.values())
      reply.reject(error ?? new Error('The message bus closed the connection.'));
  }

  /** Returns the next message number. Numbers start again at 1, because 0 is invalid. */
  #nextSerial(): number {
    this.#lastSerial = (this.#lastSerial % 0x7fff_ffff) + 1;
    return this.#lastSerial;
  }

  #send(message: DbusMessage): void {
    if (this.#socket.destroyed) return;
    this.#socket.write(encodeMessage(message));
    // A bus that has stopped reading is not expected to recover.
    if (this.#socket.writableLength > MAX_BUFFERED_BYTES) this.#socket.destroy();
  }

  #receive(bytes: Buffer): void {
    this.#received = this.#received.length === 0 ? bytes : Buffer.concat([this.#received, bytes]);
    try {
      for (;;) {
        const first = decodeMessage(this.#received);
        if (first === undefined) return;
        this.#received = this.#received.subarray(first.length);
        this.#onMessage(first.message);
      }
    } catch (error) {
      // The end of an invalid message is unknown, so nothing after it can be decoded.
      this.#socket.destroy();
      this.#end(error instanceof Error ? error : new Error(String(error)));
    }
  }

  #onMessage(message: DbusMessage): void {
    if (message.kind === 'call') this.#onCall(message);
    else if (message.kind === 'signal') this.#onSignal(message);
    else {
      const reply = this.#pendingCalls.get(message.replyTo ?? 0);
      const [errorText] = message.body;
      if (message.kind === 'return') reply?.resolve(message.body);
      else reply?.reject(new Error(typeof errorText === 'string' ? errorText : (message.error ?? 'unknown')));
    }
  }

  #onCall(call: DbusMessage): void {
    let reply: DbusArguments | undefined;
    try {
      reply = this.#handlers.get(call.path ?? '')?.(call);
    } catch {
      reply = undefined; // The arguments do not have the types of the method.
    }
    if (!call.wantsReply) return;
    const header = {
      serial: this.#nextSerial(),
      wantsReply: false,
      replyTo: call.serial,
      destination: call.sender,
    };
    if (reply !== undefined)
      return this.#send({ kind: 'return', ...header, signature: reply.signature, body: reply.body });
    const body = [`This object has no method ${call.interface ?? ''}.${call.member ?? ''}.`];
    const error = 'org.freedesktop.DBus.Error.UnknownMethod';
    this.#send({ kind: 'error', ...header, error, signature: 's', body });
  }
}

/** Authenticates with the user id. Resolves with the bytes that followed the reply. */
function authenticate(socket: Socket, uid: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received = Buffer.alloc(0);
    const fail = (error: Error): void => {
      socket.destroy();
      reject(error);
    };
    const onData = (bytes: Buffer): void => {
      received = Buffer.concat([received, bytes]);
      const end = received.indexOf('\r\n');
      if (end < 0 && received.length < MAX_AUTH_REPLY_BYTES) return;
      socket.off('data', onData).off('error', fail).off('close', onClose).setTimeout(0);
      if (!received.subarray(0, 3).equals(Buffer.from('OK ')))
        return fail(new Error('The message bus rejected the authentication.'));
      socket.write('BEGIN\r\n');
      resolve(received.subarray(end + 2));
    };
    const onClose = (): void => fail(new Error('The message bus closed the connection.'));
    socket.on('data', onData).once('error', fail).once('close', onClose);
    socket.setTimeout(CALL_TIMEOUT_MS, () => fail(new Error('The message bus did not answer.')));
    // The protocol starts with a NUL byte. The user id is written as decimal text, and the bytes of that text are sent in hexadecimal.
    const encodedUid = Buffer.from(String(uid)).toString('hex');
    socket.write(`\0AUTH EXTERNAL ${encodedUid}\r\n`);
  });
}
