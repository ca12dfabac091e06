import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { type HttpFixture, startHttpFixture } from './fixture.ts';

const program = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const browser = fileURLToPath(new URL('approving-browser.mjs', import.meta.url));

/** See `test/support/servers/authorization/behaviour.mjs`. */
export type Behaviour = Readonly<Record<string, unknown>>;

export interface ProtectedServer extends HttpFixture {
  /** Changes its behaviour, or makes it act. */
  control(
    changes: Behaviour,
  ): Promise<{ readonly issuer: string; readonly base: string; readonly resource: string }>;
}

/** Starts an MCP server that requires a sign-in, with its authorization server. */
export async function startProtectedServer(
  behaviour: Behaviour = {},
  args: readonly string[] = [],
): Promise<ProtectedServer> {
  const fixture = await startHttpFixture('needs-sign-in', [
    '--era',
    'both',
    '--behaviour',
    JSON.stringify(behaviour),
    ...args,
  ]);
  return {
    ...fixture,
    [Symbol.asyncDispose]: () => fixture.stop(),
    async control(changes) {
      const answer = await fetch(new URL('/control', fixture.url), {
        method: 'POST',
        body: JSON.stringify(changes),
      });
      return (await answer.json()) as { issuer: string; base: string; resource: string };
    },
  };
}

/** Runs `trunkline login` with a browser that approves. */
export async function login(
  home: string,
  server: string,
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly stderr: string; readonly stdout: string }> {
  const config = join(home, 'config.jsonc');
  const child = spawn(process.execPath, [program, 'login', server, '--config', config, '--text', ...args], {
    env: { ...process.env, ...env, TRUNKLINE_HOME: home, BROWSER: `${process.execPath} ${browser}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  let stdout = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stderr, stdout };
}
