/** A request to a page or endpoint other than MCP, with its whole body. */
export interface WebRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Empty for GET. */
  readonly body: string;
  /** The `Content-Type` header. */
  readonly type: string | undefined;
  /** The `Host` header, which has been checked. */
  readonly host: string;
  readonly origin: string | undefined;
  readonly cookie: string | undefined;
  /** The `Sec-Fetch-Site` header, in which the browser states the relation between the sending page and this site. */
  readonly site: string | undefined;
  /** The `Sec-Fetch-Dest` header, in which the browser states the use of the response, such as `document` for a page in a window. */
  readonly destination: string | undefined;
  readonly remoteAddress: string | undefined;
}

export interface WebResponse {
  readonly status: number;
  /** Alternating names and values. */
  readonly headers: readonly string[];
  readonly body: string;
}

export function jsonWebResponse(status: number, value: object, headers: readonly string[] = []): WebResponse {
  return {
    status,
    headers: ['Content-Type', 'application/json', 'Cache-Control', 'no-store', ...headers],
    body: JSON.stringify(value),
  };
}
