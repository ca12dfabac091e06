/** Removes escape sequences and control characters, which must not reach a terminal or a log file. */
export function stripControls(line: string): string {
  return line
    .trimEnd()
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}
