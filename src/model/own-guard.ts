/** The types of own guards, published as `trunkline/guard`. A guard is the default export of a module named in `guards`. */

export type JsonObject = Readonly<Record<string, unknown>>;

export interface GuardedCall {
  readonly caller: { readonly id: string; readonly profile: string };
  /** The server, and its own name of the tool. */
  readonly server: string;
  readonly tool: string;
  /** The name that clients see. */
  readonly name: string;
  /** Not to be changed; hand changed ones to `next`. */
  readonly arguments: JsonObject;
  /** Whether the client gave up meanwhile. */
  readonly isCancelled: boolean;
}

/** Goes on with the call, with other arguments if some are given, and resolves to the result of the tool. */
export type NextGuard = (changedArguments?: JsonObject) => Promise<JsonObject>;

/**
 * Around each call of a tool. Returning what `next` gave passes it on byte for byte; another result replaces it. Throwing fails the
 * call, with the message of the error for the model.
 */
export type OwnGuard = (call: GuardedCall, next: NextGuard) => Promise<JsonObject> | JsonObject;
