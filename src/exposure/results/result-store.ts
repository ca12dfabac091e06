/** An unchanged tool result as JSON. A store returns the same object while it keeps the result. */
export interface StoredResult {
  readonly id: string;
  readonly text: string;
}

export type ResultLookup =
  | { readonly state: 'kept'; readonly result: StoredResult }
  /** The result has expired or was evicted. Callers other than its owner get `unknown`. */
  | { readonly state: 'gone' }
  | { readonly state: 'unknown' };

/**
 * Keeps results for the callers that received them. Its methods are asynchronous, because several gateways
 * can share one database.
 */
export interface ResultStore {
  /** Resolves to undefined if the result is larger than the whole store may be. */
  keep(owner: string, text: string): Promise<StoredResult | undefined>;
  find(owner: string, id: string): Promise<ResultLookup>;
}
