import { spawn } from 'node:child_process';

/** The system's store for secrets of this user. */
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
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/**
 * Returns the keychain of macOS, the secret service of a Linux desktop, or the credential locker of Windows; undefined on other systems.
 * Names and secrets must consist of letters, digits and `+/=_.-`.
 */
export function findSystemKeychain(options: {
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string | undefined>>;
}): Keychain | undefined {
  const { platform, env } = options;
  if (platform === 'darwin') {
    const item = (name: string): string[] => ['-s', SERVICE, '-a', name];
    return createKeychain('security', env, {
      read: (name) => ({ args: ['find-generic-password', ...item(name), '-w'] }),
      // The command is sent to standard input, because other users can read command lines.
      write: (name, secret) => ({
        args: ['-i'],
        stdin: `add-generic-password -U -s ${SERVICE} -a ${name} -w ${secret}\n`,
      }),
      remove: (name) => ({ args: ['delete-generic-password', ...item(name)] }),
    });
  }
  if (platform === 'win32') return createKeychain('powershell.exe', env, windowsInvocations);
  if (platform !== 'linux') return undefined;
  const item = (name: string): string[] => ['service', SERVICE, 'account', name];
  return createKeychain('secret-tool', env, {
    read: (name) => ({ args: ['lookup', ...item(name)] }),
    write: (name, secret) => ({ args: ['store', '--label=Trunkline', ...item(name)], stdin: secret }),
    remove: (name) => ({ args: ['clear', ...item(name)] }),
  });
}

interface KeychainInvocations {
  readonly read: (name: string) => Invocation;
  readonly write: (name: string, secret: string) => Invocation;
  readonly remove: (name: string) => Invocation;
}

const OPEN_LOCKER =
  "$ErrorActionPreference='Stop';[void][Windows.Security.Credentials.PasswordVault,Windows.Security.Credentials,ContentType=WindowsRuntime];$v=New-Object Windows.Security.Credentials.PasswordVault;";

/** Windows PowerShell reaches the credential locker without a native module. The secret is sent to standard input. */
const windowsInvocations: KeychainInvocations = {
  read: (name) => powershell(`$c=$v.Retrieve('${SERVICE}','${name}');$c.RetrievePassword();$c.Password`),
  write: (name, secret) => {
    const credential = `New-Object Windows.Security.Credentials.PasswordCredential('${SERVICE}','${name}',$s)`;
    return { ...powershell(`$s=[Console]::In.ReadToEnd().Trim();$v.Add((${credential}))`), stdin: secret };
  },
  remove: (name) => powershell(`$v.Remove($v.Retrieve('${SERVICE}','${name}'))`),
};

function powershell(script: string): Invocation {
  return { args: ['-NoProfile', '-NonInteractive', '-Command', OPEN_LOCKER + script] };
}

function createKeychain(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  invocations: KeychainInvocations,
): Keychain {
  return {
    async read(name) {
      const { code, stdout } = await run(command, env, invocations.read(name));
      const secret = stdout.trim();
      return code === 0 && secret !== '' ? secret : undefined;
    },
    async write(name, secret) {
      const { code } = await run(command, env, invocations.write(name, secret));
      if (code !== 0) throw new Error(`${command} exited with code ${code}.`);
    },
    async remove(name) {
      await run(command, env, invocations.remove(name));
    },
  };
}

/** Runs the command and returns its exit code and output. Ignores standard error, which may contain the name of the item. */
function run(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  { args, stdin }: Invocation,
): Promise<{ readonly code: number | null; readonly stdout: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env, stdio: ['pipe', 'pipe', 'ignore'], timeout: TIMEOUT_MS });
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < MAX_BYTES) stdout += text;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout }));
    // If the program exits without reading its input, its exit code reports the problem.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin ?? '');
  });
}
