import type { ExitCode } from '../../../model/errors.ts';

/** One thing that was looked at. */
export interface Finding {
  readonly check: 'versions' | 'configuration' | 'server' | 'port' | 'files' | 'processes';
  /** What it is about: a server, a file, an address. */
  readonly subject: string;
  readonly status: 'ok' | 'warning' | 'failure';
  readonly message: string;
  /** The one command or edit that mends it. */
  readonly fix?: string;
  /** Of a failure. */
  readonly exit?: ExitCode;
}
