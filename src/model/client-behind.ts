import type { Cancellation } from '../lib/cancellation.ts';
import type { JsonObject } from './json.ts';

/** An object and not a function, since one is made for every call. */
export interface TimeLimit {
  /** Told when a question is open and when it no longer is: a person's thinking is not the server's slowness. */
  asking(isOpen: boolean): void;
}

/** The client behind a request, as far as a server may turn to it while it works on that request. */
export interface ClientBehind {
  /** Two requests with the same one have the same client behind them. */
  readonly session: string;
  /** What the client declared that it can do, as the server may be told. */
  readonly capabilities: JsonObject;
  /** From which level on it wants log messages; absent when it wants none. */
  readonly logLevel: string | undefined;
  /** Whether it faces this server alone, so that whatever the server asks or tells it passes, known to us or not. */
  readonly isAlone?: boolean;
  /** Whether nobody else uses the server, so that whatever the server says outside of calls is meant for it. */
  readonly isOnlyOne?: boolean;
  /** What ends the request for taking too long. */
  limit: TimeLimit | undefined;
  /** Told when the client left with a question, to come back with the answer in another request, or never. */
  onLeft?: (() => void) | undefined;
  /** Puts a question of the server to the client; rejects with an RpcError when it cannot or will not be answered. */
  ask(method: string, params: JsonObject | undefined, cancellation: Cancellation): Promise<JsonObject>;
  /** `params` of a log message. */
  log(params: JsonObject): void;
  /** On the way of the request while that lasts, and outside of it afterwards; dropped where there is no way. */
  tell?(method: string, params: JsonObject | undefined): void;
}
