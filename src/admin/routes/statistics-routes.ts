import { localDate } from '../../core/lib/local-date.ts';
import { GatewayError } from '../../core/errors.ts';
import type { DailyTokens } from '../../observability/audit/daily-tokens.ts';
import type { JsonObject } from '../../core/json.ts';
import { estimateListingCost } from '../../exposure/estimate-listing-cost.ts';
import { addRoute, readNumber, readText } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';
import { parseAuditFilter } from '../audit-filter.ts';
import type { AdminTokenCounts } from '../contract/dashboard-contract.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MAX_BUCKETS = 1000;
const DEFAULT_DAYS = 7;
const MAX_DAYS = 366;

/** Adds the routes behind the charts of the dashboard. The audit thread computes the numbers. */
export function addStatisticsRoutes(app: AdminApp, deps: AdminDeps): void {
  const { audit, meter } = deps;
  addRoute(app, 'GET /api/audit/series', async (request) => {
    const { from, to, bucket } = parseBuckets(request.query, Date.now());
    const by = readText(request.query, 'by');
    if (by !== undefined && by !== 'server') throw new GatewayError('USAGE', '"by" must be "server".');
    const filter = parseAuditFilter(request, deps);
    const series = await audit.query('series', {
      ...filter,
      from,
      to,
      bucket,
      isByServer: by === 'server',
    });
    const at = Array.from({ length: Math.ceil((to - from) / bucket) }, (_, index) => from + index * bucket);
    return { from, to, bucket, at, series };
  });
  addRoute(app, 'GET /api/latency', async () => {
    const to = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
    const times = { from: to - HOUR_MS, to, bucket: MINUTE_MS };
    const series = await audit.query('series', { ...times, isByServer: true });
    const servers = series.map(({ server = '', calls, p50 }) => ({
      server,
      calls: calls.reduce((sum, count) => sum + count, 0),
      p50,
    }));
    return { ...times, servers };
  });
  addRoute(app, 'GET /api/tokens/listing', ({ caller }) =>
    estimateListingCost(deps.gateway.visibility.view(caller), deps.config().value.expose),
  );
  addRoute(app, 'GET /api/tokens', async ({ query }) => {
    const count = readNumber(query, 'days') ?? DEFAULT_DAYS;
    if (!Number.isInteger(count) || count < 1 || count > MAX_DAYS)
      throw new GatewayError('USAGE', `"days" must be a whole number from 1 to ${MAX_DAYS}.`);
    await meter.flush();
    const days = lastDays(count, new Date());
    const stored = await audit.query('tokens', { from: days[0] ?? '' });
    const daily = days.map((day) => ({ day, ...sumTokens(stored.filter((row) => row.day === day)) }));
    return { ...sumTokens(stored), days: daily };
  });
}

function parseBuckets(query: JsonObject, now: number): { from: number; to: number; bucket: number } {
  const to = Math.floor(readNumber(query, 'to') ?? now);
  const from = Math.floor(readNumber(query, 'from') ?? to - DAY_MS);
  // The default is 96 buckets: 15 minutes each if the period is a day.
  const bucket = Math.floor(readNumber(query, 'bucket') ?? Math.max(1000, Math.ceil((to - from) / 96)));
  if (from >= to) throw new GatewayError('USAGE', '"from" must be before "to".');
  if (bucket < 1000 || (to - from) / bucket > MAX_BUCKETS)
    throw new GatewayError(
      'USAGE',
      `"bucket" must be at least 1000 ms, and divide the period into at most ${MAX_BUCKETS} buckets.`,
    );
  return { from, to, bucket };
}

function sumTokens(days: readonly DailyTokens[]): AdminTokenCounts {
  const sum = (key: Exclude<keyof DailyTokens, 'day'>): number =>
    days.reduce((total, day) => total + day[key], 0);
  const [whole, menu, search] = [sum('whole'), sum('menu'), sum('search')];
  return {
    whole,
    menu,
    search,
    saved: whole - menu - search,
    lists: sum('lists'),
    searches: sum('searches'),
  };
}

/** Returns the dates of the last `count` days, today included, the oldest first. Uses noon, which exists even on days when the clocks change. */
function lastDays(count: number, today: Date): readonly string[] {
  return Array.from({ length: count }, (_, index) => {
    const day = today.getDate() - (count - 1 - index);
    const date = new Date(today.getFullYear(), today.getMonth(), day, 12);
    return localDate(date);
  });
}
