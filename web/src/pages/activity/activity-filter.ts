import type { AdminAuditFilter, AuditRecord } from '../../../../src/admin/contract/contract.ts';

/** Which records are looked at; it is in the address. */
export interface ActivityFilter {
  readonly server?: string;
  /** A part of its name. */
  readonly entry?: string;
  readonly caller?: string;
  readonly errors?: boolean;
}

export interface Range {
  readonly name: string;
  readonly words: string;
  readonly ms: number;
  /** Of the charts. */
  readonly bucketMs: number;
}

const HOUR = 3_600_000;

export const ranges: readonly [Range, ...Range[]] = [
  { name: '1h', words: 'Last hour', ms: HOUR, bucketMs: HOUR / 60 },
  { name: '24h', words: 'Last day', ms: 24 * HOUR, bucketMs: HOUR / 2 },
  { name: '7d', words: 'Last week', ms: 7 * 24 * HOUR, bucketMs: 3 * HOUR },
  { name: '30d', words: 'Last 30 days', ms: 30 * 24 * HOUR, bucketMs: 12 * HOUR },
];

export function rangeIn(query: URLSearchParams): Range {
  return ranges.find(({ name }) => name === query.get('range')) ?? ranges[0];
}

export function filterIn(query: URLSearchParams): ActivityFilter {
  const [server, tool, caller] = [query.get('server'), query.get('tool'), query.get('caller')];
  return {
    ...(server !== null && { server }),
    ...(tool !== null && { entry: `*${tool}*` }),
    ...(caller !== null && { caller: `*${caller}*` }),
    ...(query.get('errors') === 'true' && { errors: true }),
  };
}

/** The same question in an address. */
export function queryOf(input: Readonly<Record<string, string | boolean | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) if (value !== undefined) query.set(name, String(value));
  return query.toString();
}

/** Whether a record that has just come belongs to what is shown; the gateway decides about all others. */
export function belongs(record: AuditRecord, { server, entry, caller, errors }: AdminAuditFilter): boolean {
  if (server !== undefined && record.server !== server) return false;
  if (entry !== undefined && !fits(record.entry ?? '', entry)) return false;
  if (caller !== undefined && !fits(record.caller, caller)) return false;
  return errors !== true || record.outcome !== 'ok';
}

function fits(text: string, glob: string): boolean {
  return text.toLowerCase().includes(glob.replaceAll('*', '').toLowerCase());
}
