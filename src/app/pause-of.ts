import { join } from 'node:path';
import { Pause } from '../gateway/operating/pause.ts';

/** The pause of whoever serves from this state folder; it is there also while no gateway runs. */
export function pauseOf(stateDir: string, now: () => number): Pause {
  return new Pause(join(stateDir, 'paused.json'), now);
}
