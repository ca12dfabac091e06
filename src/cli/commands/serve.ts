import type { ExitCode } from '../../core/errors.ts';
import type { LogLevel } from '../../observability/log.ts';
import type { CliContext } from '../context.ts';

export interface ServeOptions {
  readonly config?: string | undefined;
  readonly server?: readonly string[];
  readonly http?: string | true;
  readonly expose?: 'auto' | 'direct' | 'search' | 'code';
  readonly profile?: string;
  readonly logLevel?: LogLevel;
  readonly standalone?: boolean;
  /** Set when `serve` starts itself as the background gateway. */
  readonly background?: boolean;
  /** The configuration belongs to a project, so a user must trust every version of it. */
  readonly project?: boolean;
}

/** Connects the client to the background gateway, or runs the gateway in this process. Imports only the modules that it needs. */
export async function runServe(options: ServeOptions, context: CliContext): Promise<ExitCode> {
  if (options.background === true) {
    const { serveBackground } = await import('./serve-background.ts');
    return serveBackground(options, context);
  }
  const canUseSharedGateway =
    options.standalone !== true && options.http === undefined && options.server === undefined;
  if (canUseSharedGateway) {
    const { serveThroughSharedGateway } = await import('./serve-through-shared-gateway.ts');
    // The result is undefined if the shared gateway cannot be used.
    const exit = await serveThroughSharedGateway(options, context);
    if (exit !== undefined) return exit;
  }
  const { serveInProcess } = await import('./serve-in-process.ts');
  return serveInProcess(options, context, { isFallback: canUseSharedGateway });
}
