import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';

/**
 * Seconds that an installer may still run after its gateway has ended. An installer that is killed leaves a half-installed package in the
 * user's cache, which then fails outside of the gateway as well. Afterwards the server sees the end of its input and exits.
 */
export const INSTALLER_GRACE_S = 300;

/**
 * Reads `+ GROUP` for a server, `i GROUP` for one that may still install packages, and `- GROUP` from a pipe that only the gateway holds.
 * If the pipe ends while groups are left, the gateway was killed: the servers get a second to notice the end of their input, then SIGTERM,
 * and SIGKILL after another second. Installers get the time to finish.
 */
const SCRIPT = `
groups=""
installers=""
without() {
  rest=""
  for each in $1; do [ "$each" = "$group" ] || rest="$rest $each"; done
}
end() {
  for each in $1; do kill -s TERM -- "-$each" 2>/dev/null; done
  sleep 1
  for each in $1; do kill -s KILL -- "-$each" 2>/dev/null; done
}
while read -r sign group; do
  without "$groups"; groups="$rest"
  without "$installers"; installers="$rest"
  case "$sign" in
    +) groups="$groups $group" ;;
    i) installers="$installers $group" ;;
  esac
done
if [ -n "$groups" ]; then sleep 1; end "$groups"; fi
[ -n "$installers" ] || exit 0
left=${INSTALLER_GRACE_S}
for each in $installers; do
  while [ "$left" -gt 0 ] && kill -s 0 -- "-$each" 2>/dev/null; do sleep 1; left=$((left - 1)); done
done
[ "$left" -gt 0 ] || end "$installers"
exit 0
`;

/** Runs a small shell process that ends the servers if the gateway is killed; it then outlives the gateway by two seconds or by its installers. */
export class Watchdog implements AsyncDisposable {
  readonly #isSupported: boolean;
  #child: ChildProcess | undefined;

  constructor(options: { readonly platform: NodeJS.Platform }) {
    this.#isSupported = options.platform !== 'win32';
  }

  /** Guards a server, or an installer that becomes a server with the next call. */
  guard(group: number, kind: 'server' | 'installer' = 'server'): void {
    if (!this.#isSupported) return;
    this.#child ??= this.#start();
    this.#child.stdin?.write(`${kind === 'server' ? '+' : 'i'} ${group}\n`);
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
    // Detached, because a signal to the gateway's process group, such as Ctrl-C, must not reach the watchdog.
    const child = spawn('/bin/sh', ['-c', SCRIPT], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    child.on('error', () => {}); // Without a shell there is no watchdog; most servers still exit at the end of their input.
    child.stdin.on('error', () => {});
    child.unref();
    (child.stdin as unknown as { unref?: () => void }).unref?.(); // The pipe is a socket, although its type does not say so.
    return child;
  }
}
