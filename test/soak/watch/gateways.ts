import { isRunning, runningProcesses } from '../../support/processes.ts';
import type { Stage } from '../stage/stage.ts';

/** Returns the gateway over HTTP and the background gateways that pipes have started. */
export function gatewaysOf(stage: Stage): readonly number[] {
  const background = runningProcesses()
    .filter(({ commandLine }) => commandLine.includes('--background') && commandLine.includes(stage.home))
    .map(({ pid }) => pid);
  return [stage.gateway.pid, ...background].filter((pid) => isRunning(pid));
}
