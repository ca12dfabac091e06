import { spawn } from 'node:child_process';

/** Starts a program that outlives this one, such as a browser. Returns false if it cannot be started. */
export function startDetached(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true });
    child.once('error', () => resolve(false));
    child.once('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
