import type { ExitCode } from '../../../core/errors.ts';

/** The result of one check. */
export interface Finding {
  readonly check: 'versions' | 'configuration' | 'server' | 'port' | 'files' | 'processes' | 'client';
  /** The server, file or address that was checked. */
  readonly subject: string;
  readonly status: 'ok' | 'warning' | 'failure';
  readonly message: string;
  /** The command or edit that fixes the problem. */
  readonly fix?: string;
  /** The exit code of a failure. */
  readonly exit?: ExitCode;
}
