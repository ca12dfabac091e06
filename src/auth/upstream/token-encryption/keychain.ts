import { spawn } from 'node:child_process';

import type { RunningPrograms } from '../../../config/reference-command.ts';

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

interface KeychainOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Ends the keychain program when it is disposed of; absent in commands. */
  readonly running?: RunningPrograms | undefined;
}

const SERVICE = 'trunkline';
const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/**
 * Returns the keychain of macOS, the secret service of a Linux desktop, or the credential locker of Windows; undefined on other systems.
 * Names and secrets must consist of letters, digits and `+/=_.-`.
 */
export function findSystemKeychain({
  platform,
  ...options
}: KeychainOptions & { readonly platform: NodeJS.Platform }): Keychain | undefined {
  if (platform === 'darwin') {
    const item = (name: string): string[] => ['-s', SERVICE, '-a', name];
    return createKeychain('security', options, {
      read: (name) => ({ args: ['find-generic-password', ...item(name), '-w'] }),
      // The command is sent to standard input, because other users can read command lines.
      write: (name, secret) => ({
        args: ['-i'],
        stdin: `add-generic-password -U -s ${SERVICE} -a ${name} -w ${secret}\n`,
      }),
      remove: (name) => ({ args: ['delete-generic-password', ...item(name)] }),
    });
  }
  if (platform === 'win32') return createKeychain('powershell.exe', options, windowsInvocations);
  if (platform !== 'linux') return undefined;
  const item = (name: string): string[] => ['service', SERVICE, 'account', name];
  return createKeychain('secret-tool', options, {
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
  options: KeychainOptions,
  invocations: KeychainInvocations,
): Keychain {
  return {
    async read(name) {
      const { code, stdout } = await run(command, options, invocations.read(name));
      const secret = stdout.trim();
      return code === 0 && secret !== '' ? secret : undefined;
    },
    async write(name, secret) {
      const { code } = await run(command, options, invocations.write(name, secret));
      if (code !== 0) throw new Error(`${command} exited with code ${code}.`);
    },
    async remove(name) {
      await run(command, options, invocations.remove(name));
    },
  };
}

/** Runs the command and returns its exit code and output. Ignores standard error, which may contain the name of the item. */
function run(
  command: string,
  { env, running }: KeychainOptions,
  { args, stdin }: Invocation,
): Promise<{ readonly code: number | null; readonly stdout: string }> {
  if (running?.isClosed === true)
    return Promise.reject(new Error(`${command} was not started, because the gateway is stopping.`));
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
      timeout: TIMEOUT_MS,
      killSignal: 'SIGKILL',
      // A group of its own can be ended as a whole.
      detached: running !== undefined && process.platform !== 'win32',
    });
    running?.add(child);
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length < MAX_BYTES) stdout += text;
    });
    child.once('error', reject);
    // A process that the program started may still hold the pipe open.
    child.once('exit', (_, signal) => signal !== null && child.stdout.destroy());
    child.once('close', (code) => resolve({ code, stdout }));
    // If the program exits without reading its input, its exit code reports the problem.
    child.stdin.on('error', () => {});
    child.stdin.end(stdin ?? '');
  });
}
