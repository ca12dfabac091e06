import { join } from 'node:path';
import { PauseState } from '../gateway/control/pause-state.ts';
import type { Logger } from '../observability/log.ts';

/** Opens the pause state of this state folder. The state is a file, so a pause lasts even while no gateway runs. */
export function openPause(stateDir: string, now: () => number, log?: Logger): PauseState {
  const file = join(stateDir, 'paused.json');
  return new PauseState(file, now, (error) =>
    log?.error(
      'The pause file cannot be read, so calls are refused. Make the file readable and restart, or run "trunkline resume".',
      { file, reason: String(error) },
    ),
  );
}
