/** Escape sequences and control characters of somebody else must not reach a terminal or a file that is read in one. */
export function printable(line: string): string {
  return line
    .trimEnd()
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
