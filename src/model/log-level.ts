/** Levels of a server's log messages, the most verbose first. */
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

/** Whether a client that asked for `wanted` is told of a message of this level. */
export function reaches(level: unknown, wanted: string | undefined): boolean {
  return wanted !== undefined && isLogLevel(level) && LEVELS.indexOf(level) >= LEVELS.indexOf(wanted);
}

export function moreVerbose(one: string, other: string | undefined): string {
  return other === undefined || LEVELS.indexOf(one) < LEVELS.indexOf(other) ? one : other;
}
