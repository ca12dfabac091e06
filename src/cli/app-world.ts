import type { AppOptions } from '../app/app-options.ts';
import type { CliContext } from './context.ts';

type World = Pick<AppOptions, Extract<keyof CliContext, keyof AppOptions>>;

/** What a gateway in this process touches of the outside world; who decides when it ends is said by each command. */
export function appWorld(context: CliContext): Omit<World, 'onStopSignal'> {
  const { out: _out, cwd: _cwd, program: _program, stderr: _stderr, onStopSignal: _stop, ...world } = context;
  return world;
}
