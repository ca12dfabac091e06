import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../lib/atomic-file.ts';

const MARK = '__trunkline_path__';
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * PATH as a login shell has it, after our own. Clients started from a desktop hand down a PATH without `npx`, `uvx` or
 * the version manager's shims. The shell is asked once a day, for two seconds at most.
 */
export async function loginPath(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stateDir: string;
  readonly now: number;
  readonly platform: NodeJS.Platform;
}): Promise<string | undefined> {
  const own = options.env['PATH'];
  const shell = options.env['SHELL'];
  if (options.platform === 'win32' || shell === undefined || !shell.startsWith('/')) return own;
  const file = join(options.stateDir, 'login-path.json');
  const asked = (await remembered(file, shell, options.now)) ?? (await askShell(shell, options.env));
  if (asked === undefined) return own;
  if (asked.fresh) {
    // Best effort: without it the shell is asked again next time.
    await writeFileAtomic(file, JSON.stringify({ shell, path: asked.path, at: options.now }), 0o600).catch(
      () => {},
    );
  }
  return joinPaths(own, asked.path);
}

export function joinPaths(own: string | undefined, more: string): string {
  const entries = `${own ?? ''}:${more}`.split(':').filter((entry) => entry !== '');
  return [...new Set(entries)].join(':');
}

async function remembered(
  file: string,
  shell: string,
  now: number,
): Promise<{ readonly path: string; readonly fresh: boolean } | undefined> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as {
      shell?: unknown;
      path?: unknown;
      at?: unknown;
    };
    if (value.shell !== shell || typeof value.path !== 'string' || typeof value.at !== 'number')
      return undefined;
    return now - value.at < MAX_AGE_MS ? { path: value.path, fresh: false } : undefined;
  } catch {
    return undefined; // Missing or damaged: the shell is asked.
  }
}

function askShell(
  shell: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly path: string; readonly fresh: boolean } | undefined> {
  return new Promise((resolve) => {
    const command = shell.endsWith('fish')
      ? `echo ${MARK}(string join : $PATH)${MARK}`
      : `echo "${MARK}\${PATH}${MARK}"`;
    const child = spawn(shell, ['-l', '-i', '-c', command], {
      env: { ...env, DISABLE_AUTO_UPDATE: 'true' },
      stdio: ['ignore', 'pipe', 'ignore'],
      // An interactive shell must not take the terminal away from us.
      detached: true,
    });
    let output = '';
    const settle = (): void => {
      const [, path = '', rest] = output.split(MARK);
      resolve(path === '' || rest === undefined ? undefined : { path, fresh: true });
      // Something that the profile started in the background may hold it for ever.
      child.stdout.destroy();
    };
    const timer = setTimeout(() => {
      if (child.pid !== undefined) killGroup(child.pid);
      settle();
    }, 2000);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (output.length < 65_536) output += text;
      if (output.split(MARK).length > 2) settle();
    });
    const end = (): void => {
      clearTimeout(timer);
      settle();
    };
    child.on('error', end);
    child.on('close', end);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Gone already.
  }
}
