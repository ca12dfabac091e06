import { GatewayError } from '../../model/errors.ts';
import type { ErrorCode } from '../../model/errors.ts';
import type { Fingerprint } from '../../model/ids.ts';

/** How the configuration in use and the file are to each other. */
export interface ConfigState {
  /** Absolute. */
  readonly file: string;
  /** Of the configuration in use. */
  readonly revision: Fingerprint;
  /** When it was taken into use, in milliseconds since 1970. */
  readonly since: number;
  /** Why the file as it is now is not what is in use. */
  readonly problem?: ConfigProblem;
  /** Settings that are written otherwise than they are in use until the gateway is started again. */
  readonly needsRestart: readonly string[];
}

export interface ConfigProblem {
  readonly code: ErrorCode;
  readonly file: string;
  readonly line?: number;
  readonly column?: number;
  /** With the place at its beginning where there is one. */
  readonly message: string;
}

/** What went wrong with a change, for people and for programs. */
export function configProblem(error: unknown, file: string): ConfigProblem {
  if (!(error instanceof GatewayError)) {
    const reason = error instanceof Error ? error.message : String(error);
    return { code: 'INVARIANT', file, message: `${file}: the change cannot be applied: ${reason}` };
  }
  const { line, column, file: where } = error.details;
  return {
    code: error.code,
    file: typeof where === 'string' ? where : file,
    ...(typeof line === 'number' && { line }),
    ...(typeof column === 'number' && { column }),
    message: error.message,
  };
}
