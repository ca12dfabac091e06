import { spawn } from 'node:child_process';

/** Secrets that the system keeps for this user. */
export interface Keychain {
  read(name: string): Promise<string | undefined>;
  write(name: string, secret: string): Promise<void>;
  remove(name: string): Promise<void>;
}

interface Invocation {
  readonly args: readonly string[];
  readonly stdin?: string;
}

const SERVICE = 'trunkline';
const PATIENCE_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** The keychain of macOS, or the secret service of a Linux desktop; undefined where we know of none. */
export function systemKeychain(options: {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Keychain | undefined {
  const { platform, env } = options;
  if (platform === 'darwin') {
    const item = (name: string): string[] => ['-s', SERVICE, '-a', name];
    return keychain('security', env, {
      read: (name) => ({ args: ['find-generic-password', ...item(name), '-w'] }),
      // Commands come from standard input, so that no secret is on a command line.
      write: (name, secret) => ({
        args: ['-i'],
        stdin: `add-generic-password -U -s ${SERVICE} -a ${name} -w ${secret}\n`,
      }),
      remove: (name) => ({ args: ['delete-generic-password', ...item(name)] }),
    });
  }
  if (platform !== 'linux') return undefined;
  const item = (name: string): string[] => ['service', SERVICE, 'account', name];
  return keychain('secret-tool', env, {
    read: (name) => ({ args: ['lookup', ...item(name)] }),
    write: (name, secret) => ({ args: ['store', '--label=Trunkline', ...item(name)], stdin: secret }),
    remove: (name) => ({ args: ['clear', ...item(name)] }),
  });
}

function keychain(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  how: {
    readonly read: (name: string) => Invocation;
    readonly write: (name: string, secret: string) => Invocation;
    readonly remove: (name: string) => Invocation;
  },
): Keychain {
  return {
    async read(name) {
      const { code, stdout } = await run(command, env, how.read(name));
      const secret = stdout.trim();
      return code === 0 && secret !== '' ? secret : undefined;
    },
    async write(name, secret) {
      const { code } = await run(command, env, how.write(name, secret));
      if (code !== 0) throw new Error(`${command} ended with ${code}.`);
    },
    async remove(name) {
      await run(command, env, how.remove(name));
    },
  };
}

/** What it says on standard error is for nobody: it may name what was looked for. */
function run(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  { args, stdin }: Invocation,
): Promise<{ readonly code: number | null; readonly stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'], timeout: PATIENCE_MS });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < MAX_BYTES) stdout += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout }));
    // One that ends without reading is known by its code.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin ?? '');
  });
}
