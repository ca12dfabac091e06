/** Resolves with the output of a command. Rejects if it failed. */
export async function succeed(running, what) {
  const { code, output } = await running;
  if (code !== 0) throw new Error(`${what} failed with exit code ${code}: ${lastLines(output)}`);
  return output;
}

export function lastLines(text) {
  return withoutColours(text).trim().split('\n').slice(-3).join(' / ').slice(0, 300);
}

export function withoutColours(text) {
  return text.replaceAll(/\u001b\[[\d;]*m/g, '');
}
