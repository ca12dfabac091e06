import { setTimeout as delay } from 'node:timers/promises';
import type { AdminAuditFilter } from '../../admin/contract/contract.ts';
import type { ExitCode } from '../../model/errors.ts';
import type { AuditRecord } from '../../observe/audit/audit-record.ts';
import { exportHead, exportText } from '../../observe/audit/export-text.ts';
import type { ExportFormat } from '../../observe/audit/export-text.ts';
import type { CliContext } from '../context.ts';
import type { GlobalOptions } from '../declare.ts';
import { inOneLine } from '../harmless.ts';
import { onLine } from '../line/on-line.ts';
import { when } from '../when.ts';
import type { Work } from '../line/on-line.ts';
import { moment } from './logs/moment.ts';

interface LogsOptions extends GlobalOptions, Omit<AdminAuditFilter, 'since' | 'until'> {
  readonly limit?: number;
  readonly follow?: boolean;
  readonly export?: ExportFormat;
  /** The server whose own log is wanted instead. */
  readonly process?: string;
  readonly since?: string;
  readonly until?: string;
}

const LIMIT = 50;
const PAGE = 1000;
const LOOK_EVERY_MS = 300;

/** What was done: the newest, what comes, or everything. */
export async function logs(options: LogsOptions, context: CliContext): Promise<ExitCode> {
  if (options.process !== undefined) {
    const { processLog } = await import('./logs/process-log.ts');
    return processLog(options.process, options, context);
  }
  const filter = filterOf(options, Date.now());
  return onLine(
    { ...(options.config !== undefined && { config: options.config }) },
    context,
    async (line) => {
      if (options.export !== undefined) return exportAll(line, filter, options.export, context);
      const { out } = context;
      const asked = { ...filter, limit: options.limit ?? LIMIT };
      const newest = (await line.client.ask('GET /api/audit', asked, line)).toReversed();
      if (options.follow === true) return follow(line, filter, newest, context);
      if (out.style.format === 'json') out.json(newest);
      else if (newest.length === 0)
        out.line(
          `Nothing ${Object.keys(filter).length === 0 ? 'was recorded yet' : 'of that kind was recorded'}.`,
        );
      else print(newest, context);
      return 0;
    },
    { reach: 'any' },
  );
}

function filterOf(options: LogsOptions, now: number): AdminAuditFilter {
  const { server, tool, caller, client, profile, kind, outcome, code, group, tier, rule, errors } = options;
  const since = options.since === undefined ? undefined : moment(options.since, '--since', now);
  const until = options.until === undefined ? undefined : moment(options.until, '--until', now);
  const all = { server, tool, caller, client, profile, kind, outcome, code, group, tier, rule, errors };
  return Object.fromEntries(
    Object.entries({ ...all, since, until }).filter(([, value]) => value !== undefined),
  );
}

/** One line of JSON, or of text, per record, until somebody stops it. */
async function follow(
  line: Work,
  filter: AdminAuditFilter,
  newest: readonly AuditRecord[],
  context: CliContext,
): Promise<ExitCode> {
  const { out, stdout } = context;
  const tell = (records: readonly AuditRecord[]): void => {
    if (out.style.format === 'json') for (const record of records) out.line(JSON.stringify(record));
    else print(records, context);
  };
  tell(newest);
  let after = newest.at(-1)?.seq ?? (await last(line));
  while (!stdout.destroyed && stdout.errored === null) {
    const records = await line.client.ask(
      'GET /api/audit',
      { ...filter, after, order: 'asc', limit: PAGE },
      line,
    );
    tell(records);
    after = records.at(-1)?.seq ?? after;
    if (records.length < PAGE) await delay(LOOK_EVERY_MS, undefined, { signal: line.signal });
  }
  return 0;
}

async function last(line: Work): Promise<number> {
  return (await line.client.ask('GET /api/audit', { limit: 1 }, line))[0]?.seq ?? 0;
}

async function exportAll(
  line: Work,
  filter: AdminAuditFilter,
  format: ExportFormat,
  { stdout }: CliContext,
): Promise<ExitCode> {
  stdout.write(exportHead(format));
  for (let after = 0, isMore = true; isMore && !stdout.destroyed;) {
    const records = await line.client.ask(
      'GET /api/audit',
      { ...filter, after, order: 'asc', limit: PAGE },
      line,
    );
    // A pipe that is read slowly must not fill our memory.
    if (!stdout.write(exportText(records, format)) && stdout.errored === null)
      await new Promise<void>((resolve) => {
        stdout
          .once('drain', resolve)
          .once('close', resolve)
          .once('error', () => resolve());
      });
    isMore = records.length === PAGE;
    after = records.at(-1)?.seq ?? after;
  }
  return 0;
}

function print(records: readonly AuditRecord[], { out }: CliContext): void {
  const { dim, green, red, yellow, bold } = out.paint;
  const paints = { ok: green, 'tool-error': red, refused: yellow, failed: red, cancelled: yellow };
  const now = Date.now();
  out.table(
    records.map((record) => [
      { text: when(record.at, { now, width: out.style.width }), paint: dim },
      { text: record.code ?? record.outcome, paint: paints[record.outcome] },
      { text: inOneLine([record.server, record.entry].filter(Boolean).join(' ')), paint: bold },
      record.ms === undefined ? (record.action ?? '') : shownMs(record.ms),
      record.tokensOut === undefined ? '' : `${record.tokensIn ?? 0}→${record.tokensOut} tok`,
      { text: inOneLine([record.caller, record.client].filter(Boolean).join(' ')), paint: dim },
    ]),
    { drop: [4, 5, 3], whole: [0] },
  );
}

function shownMs(ms: number): string {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 10_000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
