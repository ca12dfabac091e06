import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileAtomic } from '../../core/lib/write-file-atomic.ts';

/** Encloses the PATH in the output of the shell, because profiles may print text of their own. */
const MARK = '__trunkline_path__';
const MAX_AGE_MS = 24 * 60 * 60 * 1000;

/**
 * Returns our own PATH followed by that of a login shell. Clients started from a desktop pass a PATH without `npx`, `uvx` or the shims
 * of a version manager. The shell is run at most once a day if it succeeds, for at most two seconds.
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
  const login = (await readCache(file, shell, options.now)) ?? (await runShell(shell, options.env));
  if (login === undefined) return own;
  if (login.isFresh) {
    // A failure is ignored: the shell is run again next time.
    await writeFileAtomic(file, JSON.stringify({ shell, path: login.path, at: options.now }), 0o600).catch(
      () => {},
    );
  }
  return joinPaths(own, login.path);
}

export function joinPaths(own: string | undefined, more: string): string {
  const entries = `${own ?? ''}:${more}`.split(':').filter((entry) => entry !== '');
  return [...new Set(entries)].join(':');
}

async function readCache(
  file: string,
  shell: string,
  now: number,
): Promise<{ readonly path: string; readonly isFresh: boolean } | undefined> {
  try {
    const value = JSON.parse(await readFile(file, 'utf8')) as {
      shell?: unknown;
      path?: unknown;
      at?: unknown;
    };
    if (value.shell !== shell || typeof value.path !== 'string' || typeof value.at !== 'number')
      return undefined;
    return now - value.at < MAX_AGE_MS ? { path: value.path, isFresh: false } : undefined;
  } catch {
    return undefined; // Missing or damaged: the shell is run.
  }
}

function runShell(
  shell: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly path: string; readonly isFresh: boolean } | undefined> {
  return new Promise((resolve) => {
    const command = shell.endsWith('fish')
      ? `echo ${MARK}(string join : $PATH)${MARK}`
      : `echo "${MARK}\${PATH}${MARK}"`;
    const child = spawn(shell, ['-l', '-i', '-c', command], {
      env: { ...env, DISABLE_AUTO_UPDATE: 'true' },
      stdio: ['ignore', 'pipe', 'ignore'],
      // An interactive shell must not take over our terminal.
      detached: true,
    });
    let output = '';
    const settle = (): void => {
      const [, path = '', rest] = output.split(MARK);
      resolve(path === '' || rest === undefined ? undefined : { path, isFresh: true });
      // A background process that the profile started may hold the pipe forever.
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
    // It has already exited.
  }
}
