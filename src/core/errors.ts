import type { JsonObject } from './json.ts';

export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 11 | 12 | 130;

interface ErrorTraits {
  /** Whether a tool call that fails with it returns an `isError` result, which the model can read, instead of a JSON-RPC error. */
  readonly toModel: boolean;
  /** The JSON-RPC error code. */
  readonly rpc: number;
  /** The HTTP status. */
  readonly http: number;
  /** The exit code of a command. */
  readonly exit: ExitCode;
  /** Whether the same request may succeed later without any action. */
  readonly retry: boolean;
}

// Traits that several codes have: errors that the operator must fix, errors of a server, exceeded limits, and errors of the database.
const operator = { toModel: false, rpc: -32603, http: 500, exit: 3, retry: false } as const;
const upstream = { toModel: true, rpc: -32603, http: 502, exit: 4, retry: false } as const;
const bound = { toModel: true, rpc: -32603, http: 429, exit: 7, retry: true } as const;
const store = { toModel: false, rpc: -32603, http: 500, exit: 1, retry: false } as const;

/** Every error that Trunkline itself raises. `docs/errors.md` has one heading per code. */
export const errorTable = {
  CONFIG_NOT_FOUND: operator,
  CONFIG_INVALID: operator,
  CONFIG_UNTRUSTED: operator,
  CONFIG_READ_ONLY: { toModel: true, rpc: -32603, http: 403, exit: 6, retry: false },
  SECRET_MISSING: { ...operator, toModel: true },
  UPSTREAM_UNAVAILABLE: { ...upstream, retry: true },
  UPSTREAM_REFUSED: upstream,
  UPSTREAM_NEEDS_AUTH: { ...upstream, exit: 5 },
  SIGN_IN_FAILED: { ...upstream, exit: 5 },
  UPSTREAM_CLOSED: { ...upstream, retry: true },
  UPSTREAM_PROTOCOL: upstream,
  UPSTREAM_BUSY: bound,
  CREDENTIALS_REFUSED: { toModel: false, rpc: -32603, http: 401, exit: 5, retry: false },
  ENTRY_NOT_FOUND: { toModel: false, rpc: -32602, http: 404, exit: 6, retry: false },
  ARGUMENTS_INVALID: { toModel: true, rpc: -32602, http: 400, exit: 2, retry: false },
  ARGUMENTS_REFUSED: { toModel: true, rpc: -32602, http: 403, exit: 6, retry: false },
  RATE_LIMITED: bound,
  RESULT_TOO_LARGE: { ...upstream, exit: 6 },
  RESULT_BLOCKED: { ...upstream, exit: 6 },
  GUARD_FAILED: { toModel: true, rpc: -32603, http: 502, exit: 6, retry: false },
  QUARANTINED: { toModel: true, rpc: -32603, http: 403, exit: 6, retry: false },
  NOT_APPROVED: { toModel: true, rpc: -32603, http: 403, exit: 6, retry: false },
  WRONG_TIER: { toModel: true, rpc: -32602, http: 403, exit: 6, retry: false },
  CALL_TIMEOUT: { toModel: true, rpc: -32603, http: 504, exit: 7, retry: true },
  CALL_CANCELLED: { toModel: false, rpc: -32603, http: 499, exit: 130, retry: false },
  SCRIPT_FAILED: { toModel: true, rpc: -32603, http: 422, exit: 6, retry: false },
  SCRIPT_STOPPED: { toModel: true, rpc: -32603, http: 504, exit: 7, retry: false },
  SCRIPT_BUSY: bound,
  SHUTTING_DOWN: { toModel: true, rpc: -32603, http: 503, exit: 4, retry: true },
  PAUSED: { toModel: true, rpc: -32603, http: 503, exit: 4, retry: true },
  QUESTION_DECLINED: { toModel: true, rpc: -32603, http: 409, exit: 6, retry: false },
  GATEWAY_UNAVAILABLE: { toModel: false, rpc: -32603, http: 503, exit: 4, retry: true },
  GATEWAY_LOST: { toModel: true, rpc: -32603, http: 503, exit: 4, retry: true },
  REPLICA_AWAY: { toModel: true, rpc: -32603, http: 503, exit: 4, retry: true },
  ADDRESS_IN_USE: { toModel: false, rpc: -32603, http: 500, exit: 3, retry: false },
  DESKTOP_MISSING: { toModel: false, rpc: -32603, http: 501, exit: 6, retry: false },
  REVISION_CONFLICT: { toModel: false, rpc: -32603, http: 409, exit: 1, retry: false },
  STORE_CORRUPT: store,
  STORE_LOCKED: store,
  STORE_AWAY: { ...store, http: 503, exit: 4, retry: true },
  USAGE: { toModel: false, rpc: -32603, http: 400, exit: 2, retry: false },
  INVARIANT: store,
} as const satisfies Record<string, ErrorTraits>;

export type ErrorCode = keyof typeof errorTable;

/** An error that Trunkline itself raises. `code` is for programs, `message` is a sentence for people, and `details` are fields for logs. */
export class GatewayError extends Error {
  readonly code: ErrorCode;
  readonly details: JsonObject;

  constructor(code: ErrorCode, message: string, options: { cause?: unknown; details?: JsonObject } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'GatewayError';
    this.code = code;
    this.details = options.details ?? {};
  }

  get traits(): ErrorTraits {
    return errorTable[this.code];
  }
}

/** A JSON-RPC error response of a peer, which is passed on unchanged. */
export class RpcError extends Error {
  readonly body: RpcErrorBody;

  constructor(body: RpcErrorBody) {
    super(body.message);
    this.name = 'RpcError';
    this.body = body;
  }
}

export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
