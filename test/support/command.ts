import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { temporaryFolder } from './test-run.ts';

export interface CommandOptions {
  /** The whole standard input. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
}

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A temporary home with a configuration, in which the built program runs. */
export interface CommandHome {
  readonly home: string;
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  run(args: readonly string[], options?: CommandOptions): Promise<CommandResult>;
  /** Runs a command and parses its output as JSON. */
  json(args: readonly string[], options?: CommandOptions): Promise<unknown>;
}

export const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export function commandHome(
  mcpServers: Readonly<Record<string, unknown>> = {},
  config: Readonly<Record<string, unknown>> = {},
): CommandHome {
  const home = temporaryFolder('trunkline-home');
  const configFile = join(home, 'config.jsonc');
  writeFileSync(configFile, JSON.stringify({ mcpServers, ...config }, null, 2), { mode: 0o600 });
  const env = { TRUNKLINE_HOME: home, NO_COLOR: undefined, FORCE_COLOR: undefined };
  const run = (args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> =>
    runCommand(args, { ...options, cwd: options.cwd ?? home, env: { ...env, ...options.env } });
  return {
    home,
    configFile,
    env,
    run,
    async json(args, options) {
      const { code, stdout, stderr } = await run(args, options);
      if (code !== 0) throw new Error(`trunkline ${args.join(' ')} ended with ${code}: ${stderr}`);
      return JSON.parse(stdout);
    },
  };
}

/** Runs the built program until it exits, with pipes for its output. */
async function runCommand(
  args: readonly string[],
  { input = '', env, cwd }: CommandOptions,
): Promise<CommandResult> {
  const all = Object.entries({ ...process.env, ...env }).filter(([, value]) => value !== undefined);
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: Object.fromEntries(all),
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 25_000,
  });
  const texts = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (texts.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (texts.stderr += text));
  // The program may exit before it has read its input.
  child.stdin.on('error', () => {});
  child.stdin.end(input);
  await once(child, 'close');
  return { code: child.exitCode, ...texts };
}
