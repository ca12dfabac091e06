/**
 * The types of custom guards, published as `trunkline/guard`. A guard is the default export of a module that the setting `guards` names.
 */

export type JsonObject = Readonly<Record<string, unknown>>;

export interface GuardedCall {
  readonly caller: { readonly id: string; readonly profile: string };
  /** The server of the tool. */
  readonly server: string;
  /** The tool's name on its server. */
  readonly tool: string;
  /** The tool's name as clients see it. */
  readonly name: string;
  /** Read-only. Pass changed arguments to `next`. */
  readonly arguments: JsonObject;
  /** Whether the client has cancelled the call. */
  readonly isCancelled: boolean;
}

/** Continues the call, with the given arguments if there are any, and resolves to the result of the tool. */
export type NextGuard = (changedArguments?: JsonObject) => Promise<JsonObject>;

/**
 * Wraps each call of a tool. If it returns the unchanged result of `next`, that result is passed on byte for byte; any other result
 * replaces it. If it throws, the call fails and the model reads the error message.
 */
export type OwnGuard = (call: GuardedCall, next: NextGuard) => Promise<JsonObject> | JsonObject;
