import { useMemo, useState } from 'preact/hooks';

import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { Button } from '../../components/button.tsx';
import { LoadingNote } from '../../components/page/loading-note.tsx';
import { PageHead } from '../../components/page/page-head.tsx';
import { ProblemNote } from '../../components/page/problem-note.tsx';
import { Section } from '../../components/page/section.tsx';
import { useDebounced } from '../../lib/use-debounced.ts';
import { useLoad, useStore } from '../../store/use-store.ts';
import { ActivityCharts } from './activity-charts.tsx';
import { formatQuery, matchesFilter, parseFilter, parseRange } from './activity-filter.ts';
import { ActivityFilters } from './activity-filters.tsx';
import { RecordDetail } from './record-detail.tsx';
import { RecordTable } from './record-table.tsx';
import { useRecords } from './use-records.ts';

const DEBOUNCE_MS = 150;

/** Shows the audit records: as charts over time, and one by one as they are written. */
export function Activity() {
  const { now, router, status } = useStore();
  useLoad(status);
  const query = router.query.value;
  const filter = parseFilter(query);
  // A request for every key press would be slow, so requests are debounced. In the meantime, the loaded records are filtered here.
  const debouncedFilter = useDebounced(filter, DEBOUNCE_MS);
  const range = parseRange(query);
  const records = useRecords(debouncedFilter, range);
  const scope = formatQuery({ ...filter, range: range.name });
  const matching = useMemo(
    () => records.list?.filter((record) => matchesFilter(record, filter)),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the scope represents the filter
    [records.list, scope],
  );
  const [opened, setOpened] = useState<AuditRecord>();
  const exportUrl = (format: string): string =>
    `/api/audit/export?${formatQuery({ ...filter, since: String(now.peek() - range.ms), format })}`;
  return (
    <>
      <PageHead title="Activity" aside={records.isLive ? 'live' : undefined}>
        <a class="button" href={exportUrl('csv')} download="activity.csv">
          Export CSV
        </a>
        <a class="button" href={exportUrl('jsonl')} download="activity.jsonl">
          Export JSONL
        </a>
      </PageHead>
      <ActivityFilters servers={status.value.value?.servers.map(({ name }) => name) ?? []} />
      <ActivityCharts filter={debouncedFilter} range={range} />
      <Section title="Records">
        {records.problem !== undefined && <ProblemNote problem={records.problem} onRetry={records.reload} />}
        {matching === undefined ? (
          <LoadingNote />
        ) : (
          <RecordTable records={matching} scope={scope} onOpen={setOpened} />
        )}
        {records.hasOlder && <Button onPress={records.loadOlder}>Show older records</Button>}
      </Section>
      {opened !== undefined && <RecordDetail record={opened} onClose={() => setOpened(undefined)} />}
    </>
  );
}
