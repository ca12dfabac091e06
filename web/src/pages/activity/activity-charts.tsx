import { useEffect, useState } from 'preact/hooks';

import type { AdminTimeSeries } from '../../../../src/admin/contract/contract.ts';
import { toProblem, type Problem } from '../../api/problem.ts';
import { LineChart } from '../../components/charts/line-chart.tsx';
import { ProblemNote } from '../../components/page/problem-note.tsx';
import { formatCompact, formatDuration } from '../../lib/format.ts';
import { useStore } from '../../store/use-store.ts';
import { formatQuery, type ActivityFilter, type TimeRange } from './activity-filter.ts';

interface ActivityChartsProps {
  readonly filter: ActivityFilter;
  readonly range: TimeRange;
}

const REFRESH_INTERVAL_MS = 15_000;
const DAY_MS = 86_400_000;
/** The number of servers with their own line. More lines would be hard to distinguish, so all other servers share one line. */
const MAX_LINES = 5;

const minuteFormat = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', hour: '2-digit' });

const weekdayFormat = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric' });

/** Charts of calls, errors and durations per server over time. */
export function ActivityCharts({ filter, range }: ActivityChartsProps) {
  const { series, problem } = useSeries(filter, range);
  if (problem !== undefined) return <ProblemNote problem={problem} />;
  if (series === undefined || series.series.length === 0) return null;
  const isLong = range.ms > DAY_MS;
  const timeFormat = isLong ? dayFormat : minuteFormat;
  const axisFormat = isLong ? weekdayFormat : minuteFormat;
  const shared = {
    at: series.at,
    timeFormat: (at: number) => timeFormat.format(at),
    axisFormat: (at: number) => axisFormat.format(at),
  };
  return (
    <div class="charts">
      <LineChart {...shared} label="Calls" lines={toLines(series, 'calls')} format={formatCompact} />
      <LineChart {...shared} label="Errors" lines={toLines(series, 'errors')} format={formatCompact} />
      <LineChart
        {...shared}
        label="Duration, 95th percentile"
        lines={toLines(series, 'p95')}
        format={formatDuration}
      />
    </div>
  );
}

function useSeries(filter: ActivityFilter, range: TimeRange) {
  const { api } = useStore();
  const [series, setSeries] = useState<AdminTimeSeries>();
  const [problem, setProblem] = useState<Problem>();
  const query = formatQuery({ ...filter, range: range.name });
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const load = async (): Promise<void> => {
      const to = Date.now();
      const input = { ...filter, from: to - range.ms, to, bucket: range.bucketMs, by: 'server' as const };
      try {
        setSeries(await api.request('GET /api/audit/series', input, { signal }));
        setProblem(undefined);
      } catch (error) {
        if (!signal.aborted) setProblem(toProblem(error));
      }
    };
    void load();
    const timer = setInterval(() => void load(), REFRESH_INTERVAL_MS);
    return () => {
      controller.abort();
      clearInterval(timer);
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the query represents filter and range
  }, [api, query]);
  return { series, problem };
}

/** Returns a line per server for the busiest servers, and one for all others: the sum of their values, or the maximum duration. */
function toLines({ series }: AdminTimeSeries, key: 'calls' | 'errors' | 'p95') {
  const lines = series.slice(0, MAX_LINES).map((entry) => ({
    name: entry.server ?? 'all',
    values: entry[key],
  }));
  const others = series.slice(MAX_LINES).map((entry) => entry[key]);
  if (others.length === 0) return lines;
  const combined = (others[0] ?? []).map((_, index) => {
    const values = others.map((line) => line[index] ?? 0);
    return key === 'p95' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
  });
  return [...lines, { name: `${others.length} others`, values: combined }];
}
