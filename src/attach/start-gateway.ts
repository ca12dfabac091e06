import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../lib/make-folder.ts';
import { errorTable, GatewayError } from '../model/errors.ts';
import type { ErrorCode } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';

/** How this program is started, as a gateway in the background. */
export interface StartCommand {
  readonly program: readonly [string, ...string[]];
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Servers without a folder of their own are started there: whose client was first must not matter. */
  readonly cwd: string;
  readonly stateDir: string;
}

/** The descriptor on which a gateway says that it listens, or why it does not. */
export const READY_DESCRIPTOR = 3;
const READY_WITHIN_MS = 20_000;

export function gatewayLog(stateDir: string): string {
  return join(stateDir, 'logs', 'gateway.log');
}

/** Starts a gateway that outlives us; resolves when it listens, rejects with what it says is wrong. */
export async function startGateway(command: StartCommand): Promise<void> {
  const { program, args, env, cwd, stateDir } = command;
  const [executable, ...before] = program;
  const log = gatewayLog(stateDir);
  await makeFolder(dirname(log), 0o700);
  // What Node itself says at a crash has no other place to go.
  const stderr = openSync(log, 'a', 0o600);
  try {
    const child = spawn(executable, [...before, ...args], {
      env: { ...env },
      cwd,
      detached: true,
      windowsHide: true,
      stdio: ['ignore', 'ignore', stderr, 'pipe'],
    });
    const said = child.stdio[READY_DESCRIPTOR];
    const line = await new Promise<string>((resolve, reject) => {
      const timer = setTimeout(() => {
        child.kill();
        reject(unavailable('it took too long to start'));
      }, READY_WITHIN_MS);
      const settle = (then: () => void): void => {
        clearTimeout(timer);
        then();
      };
      let text = '';
      said?.on('data', (chunk: Buffer) => (text += chunk.toString()));
      said?.on('end', () => settle(() => resolve(text)));
      child.on('error', (error) => settle(() => reject(unavailable(error.message, error))));
    });
    child.unref();
    const problem = readProblem(line);
    if (problem !== undefined) throw problem;
  } finally {
    closeSync(stderr);
  }
}

/** What the gateway writes to the descriptor, once. */
export function readyLine(problem?: GatewayError): string {
  if (problem === undefined) return '{"ready":true}\n';
  const { code, message, details } = problem;
  return `${JSON.stringify({ error: { code, message, details } })}\n`;
}

function readProblem(line: string): GatewayError | undefined {
  if (line === '') return unavailable('it ended at once; logs/gateway.log in the state folder says why');
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
    // Told below.
  }
  return unavailable('it said something that this program does not understand');
}

function unavailable(reason: string, cause?: unknown): GatewayError {
  const message = `The gateway in the background cannot be started: ${reason}.`;
  return new GatewayError('GATEWAY_UNAVAILABLE', message, { cause });
}
