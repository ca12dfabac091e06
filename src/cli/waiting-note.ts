import type { CliContext } from './context.ts';

/** For a person who starts by hand what clients start: without it nothing is to be seen of its waiting. */
export function noteWaiting({ stdin, out }: CliContext): void {
  if (stdin.isTTY !== true) return;
  out.note(
    'Waiting for an MCP client on standard input; Ctrl-C ends it. To have a client start this: trunkline connect CLIENT',
  );
}
