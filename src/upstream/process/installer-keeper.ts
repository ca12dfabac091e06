import { spawn } from 'node:child_process';
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import { deferred } from '../../core/lib/deferred.ts';
import { getPipeDescriptor } from './get-pipe-descriptor.ts';

/** Seconds that an installer may still run after the gateway has abandoned it. */
const GRACE_S = 300;

/**
 * Waits until the gateway writes a line, which releases the installer, or abandons the installer by closing the pipe or by exiting for any
 * reason. An abandoned installer gets time to finish. Its output and error output, descriptors 3 and 4, are kept open and read once a second, because npm
 * fails half-way if they are closed. The descriptors do not block, so `cat` exits when there is nothing to read.
 */
const SCRIPT = `
read -r line && exit 0
left=${GRACE_S}
while [ "$left" -gt 0 ] && kill -s 0 -- "-$1"; do
  cat <&3
  cat <&4
  sleep 1
  left=$((left - 1))
done
[ "$left" -gt 0 ] && exit 0
kill -s TERM -- "-$1"
sleep 1
kill -s KILL -- "-$1"
exit 0
`;

/**
 * Protects a process that may be installing packages. An installer that is killed leaves a half-installed package in the user's cache,
 * which then fails outside of the gateway as well. A small shell keeps the output of the installer open and outlives the gateway, however
 * that ends. Once the package is installed, the server reaches the end of its input and exits; after five minutes, the shell ends it.
 */
export class InstallerKeeper {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #gone = deferred<void>();
  /** Undefined on Windows, where the installer loses its output when the gateway ends. */
  readonly #shell: ChildProcess | undefined;

  /** `child` is the leader of the process group `group`. */
  constructor(child: ChildProcessWithoutNullStreams, group: number) {
    this.#child = child;
    this.#shell = process.platform === 'win32' ? undefined : startShell(child, group);
    const last = this.#shell ?? child;
    last.once('exit', () => this.#gone.resolve());
    // Without a shell, the installer is treated as on Windows.
    last.once('error', () => this.#gone.resolve());
  }

  /** Ends the protection: the process serves, or it has exited. */
  release(): void {
    this.#shell?.stdin?.end('release\n');
  }

  /** Leaves the installer to the shell; resolves when its process group is gone. */
  leave(): Promise<void> {
    this.#shell?.stdin?.destroy();
    this.#child.unref();
    for (const pipe of [this.#child.stdout, this.#child.stderr]) pipe.destroy();
    return this.#gone.promise;
  }
}

function startShell(child: ChildProcessWithoutNullStreams, group: number): ChildProcess {
  const [output, errors] = [child.stdout, child.stderr].map((pipe) => getPipeDescriptor(pipe) ?? 'ignore');
  // The shell is detached, because a signal to the gateway's process group, such as Ctrl-C, must not reach it.
  const shell = spawn('/bin/sh', ['-c', SCRIPT, 'sh', String(group)], {
    stdio: ['pipe', 'ignore', 'ignore', output, errors],
    detached: true,
  });
  shell.stdin?.on('error', () => {});
  shell.unref();
  return shell;
}
