import type { CliContext } from './context.ts';

/** Explains at a terminal why nothing happens: the program waits for an MCP client, which usually starts it. */
export function noteWaitingForClient({ stdin, out }: CliContext): void {
  if (stdin.isTTY !== true) return;
  out.note(
    'Waiting for an MCP client on standard input. Press Ctrl-C to stop. To let a client start Trunkline, run: trunkline connect CLIENT',
  );
}
