import { isRunning, runningProcesses } from '../../support/processes.ts';
import type { SoakEnvironment } from '../environment/soak-environment.ts';

/** Returns the gateway over HTTP and the background gateways that pipes have started. */
export function gatewaysOf(environment: SoakEnvironment): readonly number[] {
  const background = runningProcesses()
    .filter(
      ({ commandLine }) => commandLine.includes('--background') && commandLine.includes(environment.home),
    )
    .map(({ pid }) => pid);
  return [environment.gateway.pid, ...background].filter((pid) => isRunning(pid));
}
