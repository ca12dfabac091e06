import { GatewayError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import type { Fingerprint } from '../../core/ids.ts';

/** Whether the active configuration matches the file. */
export interface ConfigState {
  /** Absolute. */
  readonly file: string;
  /** Revision of the active configuration. */
  readonly revision: Fingerprint;
  /** When the active configuration was applied, in milliseconds since 1970. */
  readonly since: number;
  /** Why the current content of the file is not active. */
  readonly problem?: ConfigProblem;
  /** Settings whose new values take effect after a restart of the gateway. */
  readonly needsRestart: readonly string[];
}

export interface ConfigProblem {
  readonly code: ErrorCode;
  readonly file: string;
  readonly line?: number | undefined;
  readonly column?: number | undefined;
  /** One line for each problem, which begins with its position in the file if there is one. */
  readonly message: string;
}

/** Describes why a change was not applied, for people and programs. */
export function toConfigProblem(error: unknown, file: string): ConfigProblem {
  if (!(error instanceof GatewayError)) {
    const reason = error instanceof Error ? error.message : String(error);
    return { code: 'INVARIANT', file, message: `${file}: the change cannot be applied: ${reason}` };
  }
  const { line, column, file: source } = error.details;
  return {
    code: error.code,
    file: typeof source === 'string' ? source : file,
    line: typeof line === 'number' ? line : undefined,
    column: typeof column === 'number' ? column : undefined,
    message: error.message,
  };
}
