const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 0 });
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

export function count(value: number): string {
  return whole.format(value);
}

/** At most three digits that count: 1.23M. */
export function compact(value: number): string {
  return Math.abs(value) < 1000 ? whole.format(value) : short.format(value);
}

/** `1 tool`, `2,037 tools`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${whole.format(value)} ${value === 1 ? one : many}`;
}

/** How long a call took: 0.4 ms, 12 ms, 1.2 s, 3 min. */
export function duration(ms: number): string {
  if (ms < 10) return `${Number(ms.toPrecision(2))} ms`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${Number((ms / 1000).toPrecision(2))} s`;
  return span(ms);
}

/** In one unit that suits: 45 s, 12 min, 3 h, 5 d. */
export function span(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** For what runs down before one's eyes: 1:43. */
export function countdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const [minutes, rest] = [Math.floor(seconds / 60), seconds % 60];
  if (minutes >= 60) return span(ms);
  return `${minutes}:${String(rest).padStart(2, '0')}`;
}

/** `12 min ago`, `in 4 s`. */
export function relative(at: number, now: number): string {
  if (Math.abs(now - at) < 1500) return 'now';
  return at < now ? `${span(now - at)} ago` : `in ${span(at - now)}`;
}

export function time(at: number): string {
  return clock.format(at);
}

export function dateTime(at: number): string {
  return full.format(at);
}

export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let size = value;
  let unit = 0;
  while (size >= 1000 && unit < units.length - 1) {
    size /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? size : Number(size.toPrecision(3))} ${units[unit] ?? ''}`;
}
