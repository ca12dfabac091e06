import type { AdminProblem } from '../../../src/admin/contract/contract.ts';

interface ProblemOptions {
  readonly message: string;
  readonly code?: string;
  /** Advice for the user, if the message itself has none. */
  readonly advice?: string | undefined;
  readonly status?: number;
  readonly cause?: unknown;
}

/** An error with a message for the user of the page. */
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

/** The advice for errors whose message says only what happened. */
const adviceByCode: Readonly<Record<string, string>> = {
  CREDENTIALS_REFUSED: 'Sign in again.',
  REVISION_CONFLICT: 'Someone else changed it. Load it again, then repeat your change.',
  UPSTREAM_NEEDS_AUTH: 'Sign in to the server.',
  UPSTREAM_UNAVAILABLE: 'The gateway retries automatically. See the log of the server for details.',
  UPSTREAM_CLOSED: 'The next call starts the server again. See its log for details.',
  RATE_LIMITED: 'Wait a moment, then try again.',
  SHUTTING_DOWN: 'The gateway is stopping. This page continues when it is back.',
};

/** Converts an error response to a `Problem`. */
export function parseProblem(status: number, body: AdminProblem | undefined): Problem {
  const error = body?.error;
  if (error === undefined)
    return new Problem({ status, message: `The gateway responded with HTTP ${status}.` });
  if ('rpc' in error) {
    return new Problem({ status, code: String(error.rpc.code), message: error.rpc.message });
  }
  const { code, message } = error;
  return new Problem({ status, code, message, advice: adviceByCode[code] });
}

export function unreachableProblem(cause: unknown): Problem {
  return new Problem({
    code: 'GATEWAY_UNAVAILABLE',
    message: 'The gateway does not respond.',
    advice: 'Start it with "trunkline serve --http". This page reconnects automatically.',
    cause,
  });
}

export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem({ message: error instanceof Error ? error.message : String(error), cause: error });
}
