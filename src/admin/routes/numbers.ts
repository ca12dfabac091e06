import { dayOf } from '../../lib/day-of.ts';
import { GatewayError } from '../../model/errors.ts';
import type { DayTokens } from '../../observe/audit/day-tokens.ts';
import type { JsonObject } from '../../model/json.ts';
import { auditFilter } from '../audit-filter.ts';
import type { AdminTokenCounts } from '../contract/dashboard-contract.ts';
import type { AdminDeps } from '../deps.ts';
import { optionalNumber, optionalText, route } from '../route.ts';
import type { AdminApp } from '../route.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MAX_BUCKETS = 1000;
const DAYS = 7;
const MAX_DAYS = 366;

/** What the charts of a dashboard show; the thread of the record counts it. */
export function numberRoutes(app: AdminApp, deps: AdminDeps): void {
  const { audit, meter } = deps;
  route(app, 'GET /api/audit/series', async (asked) => {
    const { from, to, bucket } = bucketsIn(asked.query, Date.now());
    const by = optionalText(asked.query, 'by');
    if (by !== undefined && by !== 'server') throw new GatewayError('USAGE', '"by" must be "server".');
    const filter = auditFilter(asked, deps);
    const series = await audit.ask('series', { ...filter, from, to, bucket, isByServer: by === 'server' });
    const at = Array.from({ length: Math.ceil((to - from) / bucket) }, (_, place) => from + place * bucket);
    return { from, to, bucket, at, series };
  });
  route(app, 'GET /api/latency', async () => {
    const to = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS;
    const times = { from: to - HOUR_MS, to, bucket: MINUTE_MS };
    const series = await audit.ask('series', { ...times, isByServer: true });
    const servers = series.map(({ server = '', calls, p50 }) => ({
      server,
      calls: calls.reduce((sum, each) => sum + each, 0),
      p50,
    }));
    return { ...times, servers };
  });
  route(app, 'GET /api/tokens', async ({ query }) => {
    const count = optionalNumber(query, 'days') ?? DAYS;
    if (!Number.isInteger(count) || count < 1 || count > MAX_DAYS)
      throw new GatewayError('USAGE', `"days" must be a whole number from 1 to ${MAX_DAYS}.`);
    await meter.saved();
    const days = lastDays(count, new Date());
    const stored = await audit.ask('tokens', { from: days[0] ?? '' });
    const counted = days.map((day) => ({ day, ...countsOf(stored.filter((each) => each.day === day)) }));
    return { ...countsOf(stored), days: counted };
  });
}

function bucketsIn(query: JsonObject, now: number): { from: number; to: number; bucket: number } {
  const to = Math.floor(optionalNumber(query, 'to') ?? now);
  const from = Math.floor(optionalNumber(query, 'from') ?? to - DAY_MS);
  const bucket = Math.floor(optionalNumber(query, 'bucket') ?? Math.max(1000, Math.ceil((to - from) / 96)));
  if (from >= to) throw new GatewayError('USAGE', '"from" must be before "to".');
  if (bucket < 1000 || (to - from) / bucket > MAX_BUCKETS)
    throw new GatewayError(
      'USAGE',
      `"bucket" must be at least 1000 ms, and large enough that there are at most ${MAX_BUCKETS}.`,
    );
  return { from, to, bucket };
}

function countsOf(days: readonly DayTokens[]): AdminTokenCounts {
  const sum = (key: Exclude<keyof DayTokens, 'day'>): number => days.reduce((all, day) => all + day[key], 0);
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

/** As they are stored, the oldest first; in the hour of noon no clock is put forward. */
function lastDays(count: number, today: Date): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const date = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (count - 1 - at), 12);
    return dayOf(date);
  });
}
