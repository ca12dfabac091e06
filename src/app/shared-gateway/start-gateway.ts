import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../../core/lib/make-folder.ts';
import { errorTable, GatewayError } from '../../core/errors.ts';
import type { ErrorCode } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';

/** The command that starts this program as a background gateway. */
interface StartCommand {
  readonly program: readonly [string, ...string[]];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working folder of servers without `cwd`. It must not depend on which client started the gateway. */
  readonly cwd: string;
  readonly stateDir: string;
}

/** The file descriptor on which a gateway reports that it listens, or the reason why it cannot. */
export const READY_DESCRIPTOR = 3;
const READY_TIMEOUT_MS = 20_000;

export function gatewayLogPath(stateDir: string): string {
  return join(stateDir, 'logs', 'gateway.log');
}

/**
 * Starts a gateway that outlives this process. Resolves when it listens and rejects with the error that it reports.
 *
 * Some clients end all descendants of the `serve` process that they started. Therefore a launcher starts the gateway and exits at once, which
 * makes the gateway a child of the init process and not a descendant of `serve`.
 */
export async function startGateway(command: StartCommand): Promise<void> {
  const { program, args, env, cwd, stateDir } = command;
  const log = gatewayLogPath(stateDir);
  await makeFolder(dirname(log), 0o700);
  // Node writes the reason of a crash to standard error.
  const stderr = openSync(log, 'a', 0o600);
  try {
    const hasShell = process.platform !== 'win32' && existsSync('/bin/sh');
    const [launcher, ...launcherArgs] = hasShell ? SHELL_LAUNCHER : NODE_LAUNCHER;
    const child = spawn(launcher, [...launcherArgs, ...program, ...args], {
      env: { ...env },
      cwd,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'pipe', stderr, 'pipe'],
    });
    let pid = '';
    child.stdout?.on('data', (chunk: Buffer) => (pid += chunk.toString()));
    const readyStream = child.stdio[READY_DESCRIPTOR];
    const line = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => {
        killIfRunning(Number(pid));
        reject(unavailable(`it was not ready within ${READY_TIMEOUT_MS / 1000} s`));
      }, READY_TIMEOUT_MS);
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        then();
      };
      let text = '';
      readyStream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
      readyStream?.on('end', () => settle(() => resolve(text)));
      child.on('error', (error) => settle(() => reject(unavailable(error.message, error))));
    });
    child.unref();
    const problem = parseReadyLine(line);
    if (problem !== undefined) throw problem;
  } finally {
    closeSync(stderr);
  }
}

/** Starts the program that its arguments name in the background, prints the process id and exits. */
export const SHELL_LAUNCHER = ['/bin/sh', '-c', '"$@" >/dev/null & echo $!', 'sh'] as const;

/** Does the same where there is no shell. */
export const NODE_LAUNCHER = [
  process.execPath,
  '-e',
  `const [file, ...args] = process.argv.slice(1);
const options = { detached: true, windowsHide: true, stdio: ['ignore', 'ignore', 2, ${READY_DESCRIPTOR}] };
const child = require('node:child_process').spawn(file, args, options);
child.unref();
console.log(child.pid);`,
  '--',
] as const;

function killIfRunning(pid: number): void {
  // `pid` is 0 or NaN if the launcher did not start a process.
  if (!(pid > 0)) return;
  try {
    process.kill(pid);
  } catch {
    // The process has already exited.
  }
}

/** Returns the line that the gateway writes to the readiness descriptor. */
export function readyLine(problem?: GatewayError): string {
  if (problem === undefined) return '{"ready":true}\n';
  const { code, message, details } = problem;
  return `${JSON.stringify({ error: { code, message, details } })}\n`;
}

/** Returns the error that the gateway reports in its ready line, or undefined if it is ready. */
function parseReadyLine(line: string): GatewayError | undefined {
  if (line === '')
    return unavailable('it exited at once. The reason is in logs/gateway.log in the state folder');
  try {
    const value: unknown = JSON.parse(line);
    const { ready, error } = isJsonObject(value) ? value : {};
    if (ready === true) return undefined;
    if (isJsonObject(error)) {
      const { code, message, details } = error;
      if (typeof code === 'string' && Object.hasOwn(errorTable, code) && typeof message === 'string')
        return new GatewayError(code as ErrorCode, message, {
          details: isJsonObject(details) ? details : {},
        });
    }
  } catch {
    // The line is not JSON, which is reported below.
  }
  return unavailable('it reported its state in an unknown format');
}

function unavailable(reason: string, cause?: unknown): GatewayError {
  const message = `The background gateway cannot be started: ${reason}.`;
  return new GatewayError('GATEWAY_UNAVAILABLE', message, { cause });
}
