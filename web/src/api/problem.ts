import type { AdminProblem } from '../../../src/admin/contract/contract.ts';

interface ProblemOptions {
  readonly message: string;
  readonly code?: string;
  /** What the person can do about it, where the message does not say so itself. */
  readonly advice?: string;
  readonly status?: number;
  readonly cause?: unknown;
}

/** Whatever went wrong, in words for whoever looks at the page. */
export class Problem extends Error {
  readonly code: string;
  readonly advice: string | undefined;
  readonly status: number;

  constructor({ message, code = 'UNKNOWN', advice, status = 0, cause }: ProblemOptions) {
    super(message, { cause });
    this.name = 'Problem';
    this.code = code;
    this.advice = advice;
    this.status = status;
  }

  get isSignedOut(): boolean {
    return this.status === 401;
  }
}

/** What a person can do about errors whose message is about what happened. */
const adviceFor: Readonly<Record<string, string>> = {
  CREDENTIALS_REFUSED: 'Sign in again.',
  REVISION_CONFLICT: 'Somebody else changed it meanwhile. Look at it again, then repeat your change.',
  UPSTREAM_NEEDS_AUTH: 'Sign in to the server.',
  UPSTREAM_UNAVAILABLE: 'It is tried again by itself; its log says more.',
  UPSTREAM_CLOSED: 'It is started again with the next call; its log says more.',
  RATE_LIMITED: 'Wait a moment, then try again.',
  SHUTTING_DOWN: 'The gateway is stopping. This page goes on when it is back.',
};

export function problemFrom(status: number, body: AdminProblem | undefined): Problem {
  const error = body?.error;
  if (error === undefined) return new Problem({ status, message: `The gateway answered with ${status}.` });
  if ('rpc' in error) {
    return new Problem({ status, code: String(error.rpc.code), message: error.rpc.message });
  }
  const { code, message } = error;
  const advice = adviceFor[code];
  return new Problem({ status, code, message, ...(advice !== undefined && { advice }) });
}

export function unreachable(cause: unknown): Problem {
  return new Problem({
    code: 'GATEWAY_UNAVAILABLE',
    message: 'The gateway does not answer.',
    advice: 'Start it with "trunkline serve --http"; this page goes on by itself.',
    cause,
  });
}

export function asProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({ message: error instanceof Error ? error.message : String(error), cause: error });
}
