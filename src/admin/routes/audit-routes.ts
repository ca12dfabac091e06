import { GatewayError } from '../../core/errors.ts';
import { formatExportHeader, formatExportRecords } from '../../observability/audit/export-format.ts';
import type { ExportFormat } from '../../observability/audit/export-format.ts';
import type { AuditConditions, AuditRecord } from '../../observability/audit/audit-record.ts';
import { addRoute, eventStreamResponse, readNumber, readText, readRequest } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { parseAuditFilter, parseAuditOrder } from '../audit-filter.ts';

const DEFAULT_RECORDS = 100;
const MAX_RECORDS = 10_000;
/** Number of records that an export reads at a time. */
const PAGE_SIZE = 1000;
const POLL_INTERVAL_MS = 250;

/** Adds the routes of the audit log: queries, statistics, verification, export and live events. */
export function addAuditRoutes(app: AdminApp, deps: AdminDeps): void {
  const { audit } = deps;
  addRoute(app, 'GET /api/audit', (request) => {
    const { query } = request;
    const limit = Math.min(readNumber(query, 'limit') ?? DEFAULT_RECORDS, MAX_RECORDS);
    return audit.query('records', {
      ...parseAuditFilter(request, deps),
      limit,
      order: parseAuditOrder(query),
    });
  });
  addRoute(app, 'GET /api/audit/totals', (request) => audit.query('totals', parseAuditFilter(request, deps)));
  addRoute(app, 'GET /api/audit/verify', ({ query }) => {
    const expect = parseHash(readText(query, 'expect'));
    return audit.query('verify', expect === undefined ? {} : { expect });
  });
  addRoute(app, 'GET /api/stats', (request) => {
    const { server, entry } = parseAuditFilter(request, deps);
    return audit.query('stats', {
      server,
      entry,
    });
  });
  app.get('/api/audit/export', async (context) => {
    const request = await readRequest(context);
    const format = parseFormat(readText(request.query, 'format') ?? 'jsonl');
    const pages = readPages(deps, parseAuditFilter(request, deps));
    const type = format === 'csv' ? 'text/csv; charset=utf-8' : 'application/x-ndjson';
    return new Response(streamText(exportPages(pages, format)), {
      headers: {
        'content-type': type,
        'content-disposition': `attachment; filename="trunkline-audit.${format}"`,
        'cache-control': 'no-store',
      },
    });
  });
  app.get('/api/audit/events', async (context) => {
    const request = await readRequest(context);
    return eventStreamResponse(
      streamText(followRecords(deps, parseAuditFilter(request, deps), request.signal)),
    );
  });
}

/** Throws if the text is not a hash. Otherwise a mistyped hash would be reported as a changed audit log. */
function parseHash(text: string | undefined): string | undefined {
  const hash = text?.toLowerCase();
  if (hash === undefined || /^[0-9a-f]{64}$/.test(hash)) return hash;
  throw new GatewayError(
    'USAGE',
    '"expect" is not a hash. A hash has 64 hexadecimal digits; `trunkline audit verify` prints it after "head".',
  );
}

function parseFormat(text: string): ExportFormat {
  if (text === 'csv' || text === 'jsonl') return text;
  throw new GatewayError('USAGE', '"format" must be "csv" or "jsonl".');
}

/** Reads records page by page, the oldest first, so that memory use does not grow with the log. */
async function* readPages(
  { audit }: AdminDeps,
  filter: AuditConditions,
): AsyncGenerator<readonly AuditRecord[]> {
  let { after = 0 } = filter;
  for (;;) {
    const records = await audit.query('records', { ...filter, after, limit: PAGE_SIZE, order: 'asc' });
    if (records.length > 0) yield records;
    if (records.length < PAGE_SIZE) return;
    after = records.at(-1)?.seq ?? after;
  }
}

async function* exportPages(
  pages: AsyncIterable<readonly AuditRecord[]>,
  format: ExportFormat,
): AsyncGenerator<string> {
  yield formatExportHeader(format);
  for await (const records of pages) yield formatExportRecords(records, format);
}

/** Streams the records after `filter.after`, or only new records, as events. Polls, because other processes write to the same log. */
async function* followRecords(
  deps: AdminDeps,
  filter: AuditConditions,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let { after } = filter;
  after ??= (await deps.audit.query('records', { limit: 1, order: 'desc' }))[0]?.seq ?? 0;
  yield ': open\n\n';
  while (!signal.aborted) {
    for await (const records of readPages(deps, { ...filter, after })) {
      after = records.at(-1)?.seq ?? after;
      yield records.map((record) => `event: record\ndata: ${JSON.stringify(record)}\n\n`).join('');
    }
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, POLL_INTERVAL_MS);
      signal.addEventListener('abort', end);
    });
  }
}

function streamText(texts: AsyncGenerator<string>): ReadableStream<Uint8Array> {
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
