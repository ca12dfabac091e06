import type { ExitCode } from '../../model/errors.ts';
import type { LogLevel } from '../../observe/log.ts';
import type { CliContext } from '../context.ts';

export interface ServeOptions {
  readonly config?: string;
  readonly server?: readonly string[];
  readonly http?: string | true;
  readonly expose?: 'auto' | 'direct' | 'search' | 'code';
  readonly profile?: string;
  readonly logLevel?: LogLevel;
  readonly standalone?: boolean;
  /** Set when `serve` starts itself as the user's gateway. */
  readonly background?: boolean;
  /** The configuration is a project's, of which a person has to trust every text. */
  readonly project?: boolean;
}

/** A pipe to the user's gateway, unless this process is to be the gateway; what is not needed is not loaded. */
export async function serve(options: ServeOptions, context: CliContext): Promise<ExitCode> {
  if (options.background === true) {
    const { serveBackground } = await import('./serve-background.ts');
    return serveBackground(options, context);
  }
  const isAttached =
    options.standalone !== true && options.http === undefined && options.server === undefined;
  if (isAttached) {
    const { serveAttached } = await import('./serve-attached.ts');
    const exit = await serveAttached(options, context);
    if (exit !== undefined) return exit;
  }
  const { serveHere } = await import('./serve-here.ts');
  return serveHere(options, context, { isInstead: isAttached });
}
