import type { AdminLogLine } from '../../../../../src/admin/contract/contract.ts';

export const logLevels = ['error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof logLevels)[number];

/** The beginning of a line, in which programs write its level. Later words are part of the message. */
const MAX_CHARS = 80;
const WORDS: readonly (readonly [LogLevel, RegExp])[] = [
  ['error', /\b(?:error|err|fatal|panic|critical|exception|traceback)\b|error:/i],
  ['warn', /\bwarn(?:ing)?\b/i],
  ['debug', /\b(?:debug|trace|verbose)\b/i],
];

/** Returns the level of a log line. The gateway states it; other programs write it in many ways, so it is guessed from their words. */
export function logLevelOf({ from, text }: AdminLogLine): LogLevel {
  if (from === 'gateway') {
    const stated = /^(info|warn|error): /.exec(text)?.[1];
    return logLevels.find((level) => level === stated) ?? 'info';
  }
  const beginning = text.slice(0, MAX_CHARS);
  return WORDS.find(([, pattern]) => pattern.test(beginning))?.[0] ?? 'info';
}

/** Whether a line is at least as severe as the level, and contains the text. */
export function matchesLogFilter(
  line: AdminLogLine,
  { level, query }: { readonly level: LogLevel; readonly query: string },
): boolean {
  const isSevere = logLevels.indexOf(logLevelOf(line)) <= logLevels.indexOf(level);
  return isSevere && line.text.toLowerCase().includes(query.trim().toLowerCase());
}
