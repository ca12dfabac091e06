import { useMemo } from 'preact/hooks';

import type { AdminApprovals } from '../../../../src/admin/contract/contract.ts';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { PageHead } from '../../components/page/page-head.tsx';
import { ProblemNote } from '../../components/page/problem-note.tsx';
import { ResourceContent } from '../../components/page/resource-content.tsx';
import { pluralize } from '../../lib/format.ts';
import { useLoad, useStore } from '../../store/use-store.ts';
import { groupItems } from './review-item.ts';
import { Review } from './review.tsx';

/** Shows everything that is held for approval. `?server=` and `?call=` select the first item. */
export function Approvals() {
  const { approvals, status } = useStore();
  useLoad(approvals, status);
  const known = approvals.value.value;
  const problem = status.value.value?.held.problem;
  return (
    <>
      <PageHead title="Approvals" aside={known && summarize(known)} />
      {problem !== undefined && <ProblemNote problem={{ message: problem, advice: undefined }} />}
      <ResourceContent resource={approvals}>
        {(value) => <ApprovalsContent approvals={value} />}
      </ResourceContent>
    </>
  );
}

function ApprovalsContent({ approvals }: { approvals: AdminApprovals }) {
  const groups = useMemo(() => groupItems(approvals), [approvals]);
  return groups.length === 0 ? <NothingHeld /> : <Review groups={groups} />;
}

function NothingHeld() {
  return (
    <EmptyState title="Nothing is held for approval">
      <p>
        This page lists tools that changed since you approved them, new entries of servers that you review
        first, and calls that a rule holds.
      </p>
      <p>
        To review everything that a server offers before clients see it, set its approvals to manual under{' '}
        <a href="/servers">Servers</a>. To approve calls before they run, add a rule with the effect{' '}
        <code>ask</code> to <code>policy</code> in the configuration.
      </p>
    </EmptyState>
  );
}

function summarize({ held, calls }: AdminApprovals): string {
  const undecided = held.filter(({ reason }) => reason !== 'refused');
  const refused = held.length - undecided.length;
  const parts = [
    calls.length > 0 && `${pluralize(calls.length, 'call')} held`,
    undecided.length > 0 && `${pluralize(undecided.length, 'item')} held`,
    refused > 0 && `${refused} refused`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}
