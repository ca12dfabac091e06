import { useEffect, useState } from 'preact/hooks';

import type { AdminSeries } from '../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../api/problem.ts';
import { compact, duration } from '../../lib/format.ts';
import { LineChart } from '../../parts/charts/line-chart.tsx';
import { ProblemNote } from '../../parts/page/problem-note.tsx';
import { useStore } from '../../store/use-store.ts';
import { queryOf, type ActivityFilter, type Range } from './activity-filter.ts';

interface ChartsProps {
  readonly filter: ActivityFilter;
  readonly range: Range;
}

const REFRESH_MS = 15_000;
/** Others are one line together; more cannot be told apart. */
const MOST_LINES = 5;

/** Calls, errors and durations by server over time. */
export function Charts({ filter, range }: ChartsProps) {
  const { api } = useStore();
  const [series, setSeries] = useState<AdminSeries>();
  const [problem, setProblem] = useState<Problem>();
  const question = queryOf({ ...filter, range: range.name });
  useEffect(() => {
    const asking = new AbortController();
    const ask = async (): Promise<void> => {
      const to = Date.now();
      const input = { ...filter, from: to - range.ms, to, bucket: range.bucketMs, by: 'server' as const };
      try {
        setSeries(await api.ask('GET /api/audit/series', input, { signal: asking.signal }));
        setProblem(undefined);
      } catch (error) {
        if (!asking.signal.aborted) setProblem(asProblem(error));
      }
    };
    void ask();
    const timer = setInterval(() => void ask(), REFRESH_MS);
    return () => {
      asking.abort();
      clearInterval(timer);
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the question is the filter in words
  }, [api, question]);
  if (problem !== undefined) return <ProblemNote problem={problem} />;
  if (series === undefined || series.series.length === 0) return null;
  const timeFormat = range.ms > 86_400_000 ? day : minute;
  const shared = { at: series.at, timeFormat: (at: number) => timeFormat.format(at) };
  return (
    <div class="charts">
      <LineChart {...shared} label="Calls" lines={linesOf(series, 'calls')} format={compact} />
      <LineChart {...shared} label="Errors" lines={linesOf(series, 'errors')} format={compact} />
      <LineChart
        {...shared}
        label="Duration, 95th percentile"
        lines={linesOf(series, 'p95')}
        format={duration}
      />
    </div>
  );
}

const minute = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const day = new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', hour: '2-digit' });

function linesOf({ series }: AdminSeries, what: 'calls' | 'errors' | 'p95') {
  const shown = series
    .slice(0, MOST_LINES)
    .map((each) => ({ name: each.server ?? 'all', values: each[what] }));
  const others = series.slice(MOST_LINES).map((each) => each[what]);
  if (others.length === 0) return shown;
  const together = (others[0] ?? []).map((_, index) => {
    const values = others.map((line) => line[index] ?? 0);
    return what === 'p95' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
  });
  return [...shown, { name: `${others.length} others`, values: together }];
}
