import { useMemo } from 'preact/hooks';

import type { AdminApprovals } from '../../../../src/admin/contract/contract.ts';
import { plural } from '../../lib/format.ts';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { Loaded } from '../../parts/page/loaded.tsx';
import { PageHead } from '../../parts/page/page-head.tsx';
import { ProblemNote } from '../../parts/page/problem-note.tsx';
import { useLoaded, useStore } from '../../store/use-store.ts';
import { Review } from './review.tsx';
import { reviewGroups } from './review-item.ts';

/** What waits for a person; `?server=` and `?call=` say where to begin. */
export function Approvals() {
  const { approvals, status } = useStore();
  useLoaded(approvals, status);
  const known = approvals.value.value;
  const trouble = status.value.value?.held.problem;
  return (
    <>
      <PageHead title="Approvals" aside={known && summary(known)} />
      {trouble !== undefined && <ProblemNote problem={{ message: trouble, advice: undefined }} />}
      <Loaded from={approvals}>{(value) => <All approvals={value} />}</Loaded>
    </>
  );
}

function All({ approvals }: { approvals: AdminApprovals }) {
  const groups = useMemo(() => reviewGroups(approvals), [approvals]);
  return groups.length === 0 ? <Nothing /> : <Review groups={groups} />;
}

function Nothing() {
  return (
    <EmptyState title="Nothing waits for you">
      <p>
        This is where you find tools that are not what you approved any more, everything new of servers that
        you want to look at first, and calls that one of your rules asks you about.
      </p>
      <p>
        To look at all that a server offers before anybody sees it, set its approvals to manual under{' '}
        <a href="/servers">Servers</a>. To be asked before a call, write a rule with the effect{' '}
        <code>ask</code> into <code>policy</code> of the configuration.
      </p>
    </EmptyState>
  );
}

function summary({ held, calls }: AdminApprovals): string {
  const undecided = held.filter(({ reason }) => reason !== 'refused');
  const refused = held.length - undecided.length;
  const parts = [
    calls.length > 0 && plural(calls.length, 'call waits', 'calls wait'),
    undecided.length > 0 && `${undecided.length} held`,
    refused > 0 && `${refused} refused`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}
