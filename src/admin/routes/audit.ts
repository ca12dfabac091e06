import { GatewayError } from '../../model/errors.ts';
import { exportHead, exportText } from '../../observe/audit/export-text.ts';
import type { ExportFormat } from '../../observe/audit/export-text.ts';
import type { AuditConditions, AuditRecord } from '../../observe/audit/audit-record.ts';
import { auditFilter, auditOrder } from '../audit-filter.ts';
import type { AdminDeps } from '../deps.ts';
import { askedIn, optionalNumber, optionalText, route } from '../route.ts';
import type { AdminApp } from '../route.ts';

const RECORDS = 100;
const MAX_RECORDS = 10_000;
const PAGE = 1000;
const LOOK_EVERY_MS = 250;

/** The record of operations: questions, statistics, the check of its chain, export and live events. */
export function auditRoutes(app: AdminApp, deps: AdminDeps): void {
  const { audit } = deps;
  route(app, 'GET /api/audit', (asked) => {
    const { query } = asked;
    const limit = Math.min(optionalNumber(query, 'limit') ?? RECORDS, MAX_RECORDS);
    return audit.ask('query', { ...auditFilter(asked, deps), limit, order: auditOrder(query) });
  });
  route(app, 'GET /api/audit/totals', (asked) => audit.ask('totals', auditFilter(asked, deps)));
  route(app, 'GET /api/audit/verify', ({ query }) => {
    const expect = hashIn(optionalText(query, 'expect'));
    return audit.ask('verify', expect === undefined ? {} : { expect });
  });
  route(app, 'GET /api/stats', (asked) => {
    const { server, entry } = auditFilter(asked, deps);
    return audit.ask('stats', {
      ...(server !== undefined && { server }),
      ...(entry !== undefined && { entry }),
    });
  });
  app.get('/api/audit/export', async (context) => {
    const asked = await askedIn(context);
    const format = formatOf(optionalText(asked.query, 'format') ?? 'jsonl');
    const pages = pagesOf(deps, auditFilter(asked, deps));
    const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
    return new Response(textStream(exported(pages, format)), {
      headers: {
        'content-type': type,
        'content-disposition': `attachment; filename="trunkline-audit.${format}"`,
        'cache-control': 'no-store',
      },
    });
  });
  app.get('/api/audit/events', async (context) => {
    const asked = await askedIn(context);
    return new Response(textStream(events(deps, auditFilter(asked, deps), asked.signal)), {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    });
  });
}

/** What can be in no chain says nothing about this one. */
function hashIn(text: string | undefined): string | undefined {
  const hash = text?.toLowerCase();
  if (hash === undefined || /^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new GatewayError(
    'USAGE',
    'The hash to expect is not one: it has 64 digits from 0 to 9 and a to f, as `trunkline audit verify` prints it after "head".',
  );
}

function formatOf(text: string): ExportFormat {
  if (text === 'csv' || text === 'jsonl') return text;
  throw new GatewayError('USAGE', '"format" must be "csv" or "jsonl".');
}

/** The oldest first, a page at a time, so that a long record is never in memory. */
async function* pagesOf(
  { audit }: AdminDeps,
  filter: AuditConditions,
): AsyncGenerator<readonly AuditRecord[]> {
  let { after = 0 } = filter;
  for (;;) {
    const records = await audit.ask('query', { ...filter, after, limit: PAGE, order: 'asc' });
    if (records.length > 0) yield records;
    if (records.length < PAGE) return;
    after = records.at(-1)?.seq ?? after;
  }
}

async function* exported(
  pages: AsyncIterable<readonly AuditRecord[]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  yield exportHead(format);
  for await (const records of pages) yield exportText(records, format);
}

/** Asks again and again, so that what other processes record comes as well. */
async function* events(
  deps: AdminDeps,
  filter: AuditConditions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let { after } = filter;
  after ??= (await deps.audit.ask('query', { limit: 1, order: 'desc' }))[0]?.seq ?? 0;
  yield ': open\n\n';
  while (!signal.aborted) {
    for await (const records of pagesOf(deps, { ...filter, after })) {
      after = records.at(-1)?.seq ?? after;
      yield records.map((record) => `event: record\ndata: ${JSON.stringify(record)}\n\n`).join('');
    }
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, LOOK_EVERY_MS);
      signal.addEventListener('abort', end);
    });
  }
}

function textStream(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await texts.next();
      if (next.done === true) controller.close();
      else controller.enqueue(encoder.encode(next.value));
    },
    async cancel() {
      await texts.return(undefined);
    },
  });
}
