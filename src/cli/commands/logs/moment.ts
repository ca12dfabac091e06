import { GatewayError } from '../../../model/errors.ts';

const UNITS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Milliseconds since 1970 of a text such as `30m`, meaning half an hour ago, or of a date. */
export function moment(text: string, flag: string, now: number): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  if (number !== undefined && unit !== undefined)
    return Math.round(now - Number(number) * UNITS[unit as keyof typeof UNITS]); // The pattern admits no other.
  const at = /^\d{4}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new GatewayError(
    'USAGE',
    `${flag} needs a duration such as 30m, 2h or 7d, or a date such as 2026-01-31 or 2026-01-31T12:00.`,
  );
}
