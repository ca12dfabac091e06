const integerFormat = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const compactFormat = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const timeFormat = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const dateTimeFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export function formatCount(value: number): string {
  return integerFormat.format(value);
}

/** Formats with at most three significant digits: 1.23M. */
export function formatCompact(value: number): string {
  return Math.abs(value) < 1000 ? integerFormat.format(value) : compactFormat.format(value);
}

/** Formats a number with its noun, for example `1 tool` or `2,037 tools`. */
export function pluralize(value: number, one: string, many = `${one}s`): string {
  return `${integerFormat.format(value)} ${value === 1 ? one : many}`;
}

/** Formats the duration of a call: 0.4 ms, 12 ms, 1.2 s, 3 min. */
export function formatDuration(ms: number): string {
  if (ms < 10) return `${Number(ms.toPrecision(2))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toPrecision(2))} s`;
  return formatSpan(ms);
}

/** Formats a period in its largest unit: 45 s, 12 min, 3 h, 5 d. */
export function formatSpan(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** Formats the remaining time as minutes and seconds, for example `1:43`. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  if (minutes >= 60) return formatSpan(ms);
  return `${minutes}:${String(rest).padStart(2, '0')}`;
}

/** Formats a time relative to now, for example `12 min ago` or `in 4 s`. */
export function formatRelative(at: number, now: number): string {
  if (Math.abs(now - at) < 1500) return 'now';
  return at < now ? `${formatSpan(now - at)} ago` : `in ${formatSpan(at - now)}`;
}

export function formatTime(at: number): string {
  return timeFormat.format(at);
}

export function formatDateTime(at: number): string {
  return dateTimeFormat.format(at);
}

export function formatBytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? size : Number(size.toPrecision(3))} ${units[unit] ?? ''}`;
}
