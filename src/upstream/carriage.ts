import type { Payload } from '../lib/payload.ts';
import { RpcError } from '../model/errors.ts';
import type { Reply } from '../wire/peer.ts';
import type { Carried } from './connection.ts';

/** Who has a request carried. */
export interface Carrier<Connection> {
  /** It is under way on a connection. */
  begun(): void;
  /** It no longer is. */
  over(): void;
  /** Throws what is to be told; otherwise it is sent `again`. */
  failed(connection: Connection, asked: Carried, error: unknown): Promise<void>;
  again(asked: Carried): Promise<Payload>;
}

interface Carrying {
  /** `hasServed` where the server has said something to a call. */
  carried(hasServed: boolean): void;
}

/** A request that counts as under way on a connection until it is over; an object without closures, since one is made for every call. */
export class Carriage<Connection extends Carrying> implements Reply {
  readonly #connection: Connection;
  readonly #asked: Carried;
  readonly #carrier: Carrier<Connection>;
  readonly #resolve: (payload: Payload) => void;
  readonly #reject: (error: unknown) => void;

  constructor(
    connection: Connection,
    { asked, carrier }: { readonly asked: Carried; readonly carrier: Carrier<Connection> },
    resolve: (payload: Payload) => void,
    reject: (error: unknown) => void,
  ) {
    this.#connection = connection;
    this.#asked = asked;
    this.#carrier = carrier;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  answered(payload: Payload): void {
    this.#over(this.#asked.isCall);
    this.#resolve(payload);
  }

  failed(error: unknown): void {
    const hasServed = this.#asked.isCall && error instanceof RpcError;
    this.#carrier
      .failed(this.#connection, this.#asked, error)
      .finally(() => this.#over(hasServed))
      .then(() => this.#carrier.again(this.#asked))
      .then(this.#resolve, this.#reject);
  }

  #over(hasServed: boolean): void {
    this.#connection.carried(hasServed);
    this.#carrier.over();
  }
}
