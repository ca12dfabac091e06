/** The levels of MCP log messages, the least severe first. */
const LEVELS: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

export function isLogLevel(level: unknown): level is string {
  return typeof level === 'string' && LEVELS.includes(level);
}

/** Whether a client with the minimum level `wanted` gets a message of this level. */
export function isLevelEnabled(level: unknown, wanted: string | undefined): boolean {
  return wanted !== undefined && isLogLevel(level) && LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);
}

/** Returns the level that lets more messages through. */
export function pickMoreVerbose(one: string, other: string | undefined): string {
  return other === undefined || LEVELS.indexOf(one) < LEVELS.indexOf(other) ? one : other;
}
