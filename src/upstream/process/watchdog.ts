import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * Reads `+ GROUP` and `- GROUP` from a pipe that only the gateway holds. If the pipe ends while groups are left, the gateway was killed:
 * the servers get a second to notice the end of their input, then SIGTERM, and SIGKILL after another second.
 */
const SCRIPT = `
groups=""
while read -r sign group; do
  if [ "$sign" = + ]; then groups="$groups $group"
  else
    rest=""
    for each in $groups; do [ "$each" = "$group" ] || rest="$rest $each"; done
    groups="$rest"
  fi
done
[ -n "$groups" ] || exit 0
sleep 1
for each in $groups; do kill -s TERM -- "-$each" 2>/dev/null; done
sleep 1
for each in $groups; do kill -s KILL -- "-$each" 2>/dev/null; done
exit 0
`;

/** Runs a small shell process that ends the servers if the gateway is killed; it then outlives the gateway by two seconds. */
export class Watchdog implements AsyncDisposable {
  readonly #isSupported: boolean;
  #child: ChildProcess | undefined;

  constructor(options: { readonly platform: NodeJS.Platform }) {
    this.#isSupported = options.platform !== 'win32';
  }

  guard(group: number): void {
    if (!this.#isSupported) return;
    this.#child ??= this.#start();
    this.#child.stdin?.write(`+ ${group}\n`);
  }

  release(group: number): void {
    this.#child?.stdin?.write(`- ${group}\n`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.ref();
    child.stdin?.end();
    await exited;
  }

  #start(): ChildProcess {
    // The shell is detached, because a signal to the gateway's process group, such as Ctrl-C, must not reach the watchdog.
    const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    child.on('error', () => {}); // Without a shell there is no watchdog; most servers still exit at the end of their input.
    child.stdin.on('error', () => {});
    child.unref();
    (child.stdin as unknown as { unref?: () => void }).unref?.(); // The pipe is a socket, although its type does not say so.
    return child;
  }
}
