import { setTimeout as delay } from 'node:timers/promises';
import type { AdminAuditFilter } from '../../admin/contract/contract.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/errors.ts';
import type { AuditRecord } from '../../observability/audit/audit-record.ts';
import { formatExportHeader, formatExportRecords } from '../../observability/audit/export-format.ts';
import type { ExportFormat } from '../../observability/audit/export-format.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { sanitize, toOneLine } from '../sanitize.ts';
import { withGateway } from '../gateway-client/with-gateway.ts';
import { formatTime } from '../format-time.ts';
import type { CommandConnection } from '../gateway-client/with-gateway.ts';

interface LogsOptions extends GlobalOptions, Omit<AdminAuditFilter, 'since' | 'until'> {
  readonly limit?: number;
  readonly follow?: boolean;
  readonly export?: ExportFormat;
  /** The server whose process log is printed instead of the audit log. */
  readonly process?: string;
  readonly since?: string;
  readonly until?: string;
}

const DEFAULT_LIMIT = 50;
/** The number of records per request when following or exporting. */
const PAGE_SIZE = 1000;
const POLL_INTERVAL_MS = 300;
const DURATION_UNITS_MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Prints the newest audit records, follows new ones, or exports all. */
export async function runLogs(options: LogsOptions, context: CliContext): Promise<ExitCode> {
  if (options.process !== undefined) {
    const { printServerLog } = await import('./logs/print-server-log.ts');
    return printServerLog(options.process, options, context);
  }
  const filter = readFilter(options, Date.now());
  return withGateway(
    { config: options.config },
    context,
    async (gateway) => {
      if (options.export !== undefined) return exportAll(gateway, filter, options.export, context);
      const { out } = context;
      const query = { ...filter, limit: options.limit ?? DEFAULT_LIMIT };
      const newest = (await gateway.client.request('GET /api/audit', query, gateway)).toReversed();
      if (options.follow === true) return follow(gateway, filter, newest, context);
      if (out.style.format === 'json') out.json(newest);
      else if (newest.length === 0)
        out.line(
          Object.keys(filter).length === 0 ? 'There are no records yet.' : 'No record matches these filters.',
        );
      else printRecords(newest, context);
      return 0;
    },
    { gateway: 'any' },
  );
}

function readFilter(options: LogsOptions, now: number): AdminAuditFilter {
  const { server, tool, caller, client, profile, kind, outcome, code, group, tier, rule, errors } = options;
  const since = options.since === undefined ? undefined : parseMoment(options.since, '--since', now);
  const until = options.until === undefined ? undefined : parseMoment(options.until, '--until', now);
  const all = { server, tool, caller, client, profile, kind, outcome, code, group, tier, rule, errors };
  return Object.fromEntries(
    Object.entries({ ...all, since, until }).filter(([, value]) => value !== undefined),
  );
}

/** Converts a duration such as `30m` (half an hour ago) or a date to milliseconds since 1970. */
function parseMoment(text: string, flag: string, now: number): number {
  const [, number, unit] = /^(\d+(?:\.\d+)?)([smhdw])$/.exec(text) ?? [];
  // The pattern matches only the units of `DURATION_UNITS_MS`.
  if (number !== undefined && unit !== undefined)
    return Math.round(now - Number(number) * DURATION_UNITS_MS[unit as keyof typeof DURATION_UNITS_MS]);
  const at = /^\d{4}-\d{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw new GatewayError(
    'USAGE',
    `${flag} needs a duration such as 30m, 2h or 7d, or a date such as 2026-01-31 or 2026-01-31T12:00.`,
  );
}

/** Prints records as they are written, one line each, until the command is stopped. */
async function follow(
  gateway: CommandConnection,
  filter: AdminAuditFilter,
  newest: readonly AuditRecord[],
  context: CliContext,
): Promise<ExitCode> {
  const { out, stdout } = context;
  const printAll = (records: readonly AuditRecord[]): void => {
    if (out.style.format === 'json') for (const record of records) out.jsonText(JSON.stringify(record));
    else printRecords(records, context);
  };
  printAll(newest);
  let after = newest.at(-1)?.seq ?? (await fetchLastSequence(gateway));
  while (!stdout.destroyed && stdout.errored === null) {
    const records = await gateway.client.request(
      'GET /api/audit',
      { ...filter, after, order: 'asc', limit: PAGE_SIZE },
      gateway,
    );
    printAll(records);
    after = records.at(-1)?.seq ?? after;
    // A full page means that more records are waiting, so the next request follows at once.
    if (records.length < PAGE_SIZE) await delay(POLL_INTERVAL_MS, undefined, { signal: gateway.signal });
  }
  return 0;
}

/** Returns the sequence number of the newest record of any kind, from which following starts if no record matches the filter. */
async function fetchLastSequence(gateway: CommandConnection): Promise<number> {
  return (await gateway.client.request('GET /api/audit', { limit: 1 }, gateway))[0]?.seq ?? 0;
}

async function exportAll(
  gateway: CommandConnection,
  filter: AdminAuditFilter,
  format: ExportFormat,
  { stdout }: CliContext,
): Promise<ExitCode> {
  stdout.write(formatExportHeader(format));
  for (let after = 0, isMore = true; isMore && !stdout.destroyed;) {
    const records = await gateway.client.request(
      'GET /api/audit',
      { ...filter, after, order: 'asc', limit: PAGE_SIZE },
      gateway,
    );
    // Waits for a slow reader (back-pressure), so that the records do not fill the memory.
    const text = formatExportRecords(records, format);
    if (!stdout.write(stdout.isTTY === true ? sanitize(text) : text) && stdout.errored === null)
      await new Promise<void>((resolve) => {
        stdout
          .once('drain', resolve)
          .once('close', resolve)
          .once('error', () => resolve());
      });
    isMore = records.length === PAGE_SIZE;
    after = records.at(-1)?.seq ?? after;
  }
  return 0;
}

function printRecords(records: readonly AuditRecord[], { out }: CliContext): void {
  const { dim, green, red, yellow, bold } = out.paint;
  const paints = { ok: green, 'tool-error': red, refused: yellow, failed: red, cancelled: yellow };
  const now = Date.now();
  out.table(
    records.map((record) => [
      { text: formatTime(record.at, { now, width: out.style.width }), paint: dim },
      { text: record.code ?? record.outcome, paint: paints[record.outcome] },
      { text: toOneLine([record.server, record.entry].filter(Boolean).join(' ')), paint: bold },
      record.ms === undefined ? (record.action ?? '') : formatDuration(record.ms),
      record.tokensOut === undefined ? '' : `${record.tokensIn ?? 0}→${record.tokensOut} tok`,
      { text: toOneLine([record.caller, record.client].filter(Boolean).join(' ')), paint: dim },
    ]),
    { dropOrder: [4, 5, 3], wholeColumns: [0] },
  );
}

function formatDuration(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
