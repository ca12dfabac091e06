import type { JsonObject } from './json.ts';

export type ExitCode = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 10 | 11 | 12 | 130;

interface ErrorTraits {
  /** Whether a tool call that fails with this error returns an `isError` result, which the model can read, instead of a JSON-RPC error. */
  readonly isShownToModel: boolean;
  /** The JSON-RPC error code. */
  readonly rpc: number;
  /** The HTTP status. */
  readonly http: number;
  /** The exit code of a command. */
  readonly exit: ExitCode;
  /** Whether the same request may succeed later without any action. */
  readonly isRetryable: boolean;
}

// Traits that several codes share: errors that the operator must fix, errors of a server, exceeded limits, and errors of the database.
const operator = { isShownToModel: false, rpc: -32603, http: 500, exit: 3, isRetryable: false } as const;
const upstream = { isShownToModel: true, rpc: -32603, http: 502, exit: 4, isRetryable: false } as const;
const bound = { isShownToModel: true, rpc: -32603, http: 429, exit: 7, isRetryable: true } as const;
const store = { isShownToModel: false, rpc: -32603, http: 500, exit: 1, isRetryable: false } as const;

/** Every error that Trunkline itself raises. `docs/errors.md` has one heading per code. */
export const errorTable = {
  CONFIG_NOT_FOUND: operator,
  CONFIG_INVALID: operator,
  CONFIG_UNTRUSTED: operator,
  CONFIG_READ_ONLY: { isShownToModel: true, rpc: -32603, http: 403, exit: 6, isRetryable: false },
  SECRET_MISSING: { ...operator, isShownToModel: true },
  UPSTREAM_UNAVAILABLE: { ...upstream, isRetryable: true },
  UPSTREAM_REFUSED: upstream,
  UPSTREAM_NEEDS_AUTH: { ...upstream, exit: 5 },
  SIGN_IN_FAILED: { ...upstream, exit: 5 },
  UPSTREAM_CLOSED: { ...upstream, isRetryable: true },
  UPSTREAM_PROTOCOL: upstream,
  UPSTREAM_BUSY: bound,
  CREDENTIALS_REFUSED: { isShownToModel: false, rpc: -32603, http: 401, exit: 5, isRetryable: false },
  ENTRY_NOT_FOUND: { isShownToModel: false, rpc: -32602, http: 404, exit: 6, isRetryable: false },
  ARGUMENTS_INVALID: { isShownToModel: true, rpc: -32602, http: 400, exit: 2, isRetryable: false },
  ARGUMENTS_REFUSED: { isShownToModel: true, rpc: -32602, http: 403, exit: 6, isRetryable: false },
  RATE_LIMITED: bound,
  RESULT_TOO_LARGE: { ...upstream, exit: 6 },
  RESULT_BLOCKED: { ...upstream, exit: 6 },
  GUARD_FAILED: { isShownToModel: true, rpc: -32603, http: 502, exit: 6, isRetryable: false },
  QUARANTINED: { isShownToModel: true, rpc: -32603, http: 403, exit: 6, isRetryable: false },
  NOT_APPROVED: { isShownToModel: true, rpc: -32603, http: 403, exit: 6, isRetryable: false },
  WRONG_TIER: { isShownToModel: true, rpc: -32602, http: 403, exit: 6, isRetryable: false },
  CALL_TIMEOUT: { isShownToModel: true, rpc: -32603, http: 504, exit: 7, isRetryable: true },
  CALL_CANCELLED: { isShownToModel: false, rpc: -32603, http: 499, exit: 130, isRetryable: false },
  SCRIPT_FAILED: { isShownToModel: true, rpc: -32603, http: 422, exit: 6, isRetryable: false },
  SCRIPT_STOPPED: { isShownToModel: true, rpc: -32603, http: 504, exit: 7, isRetryable: false },
  SCRIPT_BUSY: bound,
  SHUTTING_DOWN: { isShownToModel: true, rpc: -32603, http: 503, exit: 4, isRetryable: true },
  PAUSED: { isShownToModel: true, rpc: -32603, http: 503, exit: 4, isRetryable: true },
  QUESTION_DECLINED: { isShownToModel: true, rpc: -32603, http: 409, exit: 6, isRetryable: false },
  GATEWAY_UNAVAILABLE: { isShownToModel: false, rpc: -32603, http: 503, exit: 4, isRetryable: true },
  GATEWAY_LOST: { isShownToModel: true, rpc: -32603, http: 503, exit: 4, isRetryable: true },
  REPLICA_AWAY: { isShownToModel: true, rpc: -32603, http: 503, exit: 4, isRetryable: true },
  ADDRESS_IN_USE: { isShownToModel: false, rpc: -32603, http: 500, exit: 3, isRetryable: false },
  DESKTOP_MISSING: { isShownToModel: false, rpc: -32603, http: 501, exit: 6, isRetryable: false },
  REVISION_CONFLICT: { isShownToModel: false, rpc: -32603, http: 409, exit: 1, isRetryable: false },
  STORE_CORRUPT: store,
  STORE_LOCKED: store,
  STORE_AWAY: { ...store, http: 503, exit: 4, isRetryable: true },
  USAGE: { isShownToModel: false, rpc: -32603, http: 400, exit: 2, isRetryable: false },
  INVARIANT: store,
} as const satisfies Record<string, ErrorTraits>;

export type ErrorCode = keyof typeof errorTable;

export function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code);
}

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
