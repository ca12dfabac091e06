import { spawn } from 'node:child_process';

/** The exit code of a shell for a command that it cannot find. */
const NOT_FOUND = 127;

/** Shows a text in the pager, and waits until the person closes it. Returns false if the pager cannot be started. */
export function showInPager(pager: string, text: string): Promise<boolean> {
  // Without these options, less shows colours as codes and clears the text when it ends.
  const command = `LESS="\${LESS-FRX}"; export LESS; ${pager}`;
  const child = spawn('/bin/sh', ['-c', command], { stdio: ['pipe', 'inherit', 'ignore'] });
  // A person may close the pager before it has read everything.
  child.stdin.on('error', () => {});
  child.stdin.end(text);
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('exit', (code) => resolve(code !== NOT_FOUND));
  });
}
