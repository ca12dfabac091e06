import type { AppOptions } from '../app/app-options.ts';
import type { CliContext } from './context.ts';

type AppEnvironment = Pick<AppOptions, Extract<keyof CliContext, keyof AppOptions>>;

/** Returns the parts of the context that an in-process gateway needs. Each command sets `onStopSignal` itself. */
export function toAppEnvironment(context: CliContext): Omit<AppEnvironment, 'onStopSignal'> {
  const {
    out: _out,
    cwd: _cwd,
    program: _program,
    stderr: _stderr,
    onStopSignal: _stop,
    limitFlush: _limitFlush,
    ...environment
  } = context;
  return environment;
}
