import { useMemo, useState } from 'preact/hooks';

import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { useSettled } from '../../lib/use-settled.ts';
import { Button } from '../../parts/button.tsx';
import { PageHead } from '../../parts/page/page-head.tsx';
import { ProblemNote } from '../../parts/page/problem-note.tsx';
import { Section } from '../../parts/page/section.tsx';
import { Waiting } from '../../parts/page/waiting.tsx';
import { useLoaded, useStore } from '../../store/use-store.ts';
import { belongs, filterIn, queryOf, rangeIn } from './activity-filter.ts';
import { ActivityFilters } from './activity-filters.tsx';
import { Charts } from './charts.tsx';
import { RecordDetail } from './record-detail.tsx';
import { RecordTable } from './record-table.tsx';
import { useRecords } from './use-records.ts';

const SETTLE_MS = 150;

/** What was done, by whom, and how it ended: over time as charts, one by one below, as it happens. */
export function Activity() {
  const { now, router, status } = useStore();
  useLoaded(status);
  const query = router.query.value;
  const wanted = filterIn(query);
  // Every key press would be a question about all that was ever done; what is there already is sifted meanwhile.
  const filter = useSettled(wanted, SETTLE_MS);
  const range = rangeIn(query);
  const records = useRecords(filter, range);
  const scope = queryOf({ ...wanted, range: range.name });
  const shown = useMemo(
    () => records.list?.filter((record) => belongs(record, wanted)),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the scope is what is wanted in words
    [records.list, scope],
  );
  const [open, setOpen] = useState<AuditRecord>();
  const exported = (format: string): string =>
    `/api/audit/export?${queryOf({ ...wanted, since: String(now.peek() - range.ms), format })}`;
  return (
    <>
      <PageHead title="Activity" aside={records.isLive ? 'live' : undefined}>
        <a class="button" href={exported('csv')} download="activity.csv">
          Export CSV
        </a>
        <a class="button" href={exported('jsonl')} download="activity.jsonl">
          Export JSONL
        </a>
      </PageHead>
      <ActivityFilters servers={status.value.value?.servers.map(({ name }) => name) ?? []} />
      <Charts filter={filter} range={range} />
      <Section title="Records">
        {records.problem !== undefined && <ProblemNote problem={records.problem} onRetry={records.again} />}
        {shown === undefined ? <Waiting /> : <RecordTable records={shown} scope={scope} onOpen={setOpen} />}
        {records.hasOlder && <Button onPress={records.older}>Show older ones</Button>}
      </Section>
      {open !== undefined && <RecordDetail record={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}
