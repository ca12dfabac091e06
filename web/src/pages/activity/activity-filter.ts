import type { AdminAuditFilter, AuditRecord } from '../../../../src/admin/contract/contract.ts';

/** The filter for audit records. It is part of the URL. */
export interface ActivityFilter {
  readonly server?: string;
  /** A glob for the name of an entry, such as `*read*`. */
  readonly entry?: string;
  readonly caller?: string;
  readonly errors?: boolean;
}

export interface TimeRange {
  readonly name: string;
  readonly label: string;
  readonly ms: number;
  /** The length of a bucket in the charts. */
  readonly bucketMs: number;
}

const HOUR_MS = 3_600_000;

export const timeRanges: readonly [TimeRange, ...TimeRange[]] = [
  { name: '1h', label: 'Last hour', ms: HOUR_MS, bucketMs: HOUR_MS / 60 },
  { name: '24h', label: 'Last day', ms: 24 * HOUR_MS, bucketMs: HOUR_MS / 2 },
  { name: '7d', label: 'Last week', ms: 7 * 24 * HOUR_MS, bucketMs: 3 * HOUR_MS },
  { name: '30d', label: 'Last 30 days', ms: 30 * 24 * HOUR_MS, bucketMs: 12 * HOUR_MS },
];

export function parseRange(query: URLSearchParams): TimeRange {
  return timeRanges.find(({ name }) => name === query.get('range')) ?? timeRanges[0];
}

export function parseFilter(query: URLSearchParams): ActivityFilter {
  const [server, tool, caller] = [query.get('server'), query.get('tool'), query.get('caller')];
  return {
    ...(server !== null && { server }),
    ...(tool !== null && { entry: `*${tool}*` }),
    ...(caller !== null && { caller: `*${caller}*` }),
    ...(query.get('errors') === 'true' && { errors: true }),
  };
}

export function formatQuery(input: Readonly<Record<string, string | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) if (value !== undefined) query.set(name, String(value));
  return query.toString();
}

/** Returns whether a record matches the filter. Used for records that are already in the browser; the gateway filters the others. */
export function matchesFilter(
  record: AuditRecord,
  { server, entry, caller, errors }: AdminAuditFilter,
): boolean {
  if (server !== undefined && record.server !== server) return false;
  if (entry !== undefined && !containsGlob(record.entry ?? '', entry)) return false;
  if (caller !== undefined && !containsGlob(record.caller, caller)) return false;
  return errors !== true || record.outcome !== 'ok';
}

/** Matches only globs of the form `*text*`, as `parseFilter` creates them. */
function containsGlob(text: string, glob: string): boolean {
  return text.toLowerCase().includes(glob.replaceAll('*', '').toLowerCase());
}
