/** One request to a page or endpoint of ours that is not MCP, read whole. */
export interface WebRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Empty for GET. */
  readonly body: string;
  readonly type: string | undefined;
  /** Checked: one that we answer to. */
  readonly host: string;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
  /** Of browsers: where the page came from that asks. */
  readonly site: string | undefined;
  readonly remoteAddress: string | undefined;
}

export interface WebReply {
  readonly status: number;
  /** Names and values in turns. */
  readonly headers: readonly string[];
  readonly body: string;
}

export function jsonReply(status: number, value: object, headers: readonly string[] = []): WebReply {
  return {
    status,
    headers: ['Content-Type', 'application/json', 'Cache-Control', 'no-store', ...headers],
    body: JSON.stringify(value),
  };
}
