import type { Payload } from '../lib/payload.ts';
import type { Credentials } from '../model/credentials.ts';
import { RpcError } from '../model/errors.ts';
import type { GatewayError } from '../model/errors.ts';
import type { Reply } from '../wire/peer.ts';
import type { Asked } from './connection.ts';
import type { OwnedIds } from './owned-ids.ts';
import { judgeRefusal } from './refusals.ts';
import type { Verdict } from './refusals.ts';

/** What an exchange needs of its connection. */
export interface ExchangeLine {
  readonly owned: OwnedIds;
  readonly credentials: Credentials | undefined;
  send(asked: Asked, reply: Reply): void;
  signedOut(error: GatewayError): void;
}

/** One request and what the server says to it; an object without closures, since one is made for every call. */
export class Exchange implements Reply {
  readonly #line: ExchangeLine;
  readonly #asked: Asked;
  readonly #reply: Reply;
  #since = 0;
  #repeats = 0;

  constructor(line: ExchangeLine, asked: Asked, reply: Reply) {
    this.#line = line;
    this.#asked = asked;
    this.#reply = reply;
  }

  begin(): void {
    if (this.#line.credentials !== undefined) this.#since = performance.now();
    this.#line.send(this.#asked, this);
  }

  answered(payload: Payload): void {
    try {
      this.#line.owned.answered(payload.outline, this.#asked.options.behind);
    } catch (error) {
      return this.#reply.failed(error);
    }
    this.#reply.answered(payload);
  }

  failed(error: unknown): void {
    const { owned, credentials } = this.#line;
    if (error instanceof RpcError) owned.refused(error.body.data, this.#asked.options.behind);
    judgeRefusal(error, credentials, { since: this.#since, repeats: this.#repeats })
      .then((verdict) => this.#judged(verdict, error))
      .catch((problem: unknown) => this.#reply.failed(problem));
  }

  /** What the server refuses for a token that can be renewed was not executed, and is sent again. */
  #judged(verdict: Verdict | undefined, error: unknown): void {
    if (verdict === 'try-again') {
      this.#repeats++;
      return this.begin();
    }
    if (verdict?.ends === true) this.#line.signedOut(verdict.error);
    this.#reply.failed(verdict?.error ?? error);
  }
}
