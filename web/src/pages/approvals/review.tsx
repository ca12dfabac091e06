import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { useNarrow } from '../../lib/use-narrow.ts';
import { useStore } from '../../store/use-store.ts';
import { decide, type Decision } from './decide.ts';
import {
  firstEntryKey,
  initialKey,
  isSameVersion,
  mayDecide,
  type ReviewGroup,
  type ReviewItem,
} from './review-item.ts';
import { ReviewList } from './review-list.tsx';
import { ReviewPane } from './review-pane.tsx';
import { useReviewKeys } from './use-review-keys.ts';

/** Shows the list of held items beside the selected item. On a phone, shows either the list or the item. */
export function Review({ groups }: { groups: readonly ReviewGroup[] }) {
  const store = useStore();
  const isNarrow = useNarrow();
  const items = groups.flatMap((group) => group.items);
  const box = useRef<HTMLDivElement>(null);
  const { selected, shown, select, startingServer, setStartingServer } = useSelection(groups, isNarrow);
  const current = items.find((item) => item.key === selected.value);
  const [expanded, setExpanded] = useState<ReviewItem>();
  const isDeciding = useRef(false);
  const handleDecision = async (decision: Decision): Promise<void> => {
    if (shown === undefined || isDeciding.current || !mayDecide(shown, decision, expanded)) return;
    isDeciding.current = true;
    try {
      const index = items.findIndex((item) => item.key === shown.key);
      const next = items[index + 1] ?? items[index - 1];
      if (!(await decide(shown, decision, store))) return;
      const started = decision === 'accept' ? serverStartedBy(shown) : undefined;
      select(isNarrow || started !== undefined ? undefined : next?.key);
      // On a phone, the list is shown instead, and the entries of the started server appear there.
      if (!isNarrow) setStartingServer(started);
      focusSelected(box.current);
    } finally {
      isDeciding.current = false;
    }
  };
  useReviewKeys({
    move(by) {
      const index = items.findIndex((item) => item.key === selected.value);
      const next = items[Math.min(items.length - 1, Math.max(0, index + by))];
      if (next === undefined) return;
      select(next.key);
      focusSelected(box.current);
    },
    decide(decision) {
      if (shown === undefined || !isSameVersion(current, shown)) return;
      handleDecision(decision).catch((error: unknown) => store.notices.showError(error));
    },
  });
  // Memoized, so that selecting one of thousands of items renders only two of them again.
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- `select` depends on the groups only
  const list = useMemo(() => <ReviewList groups={groups} selected={selected} onSelect={select} />, [groups]);
  return (
    <div class="review" ref={box}>
      {!(isNarrow && shown !== undefined) && list}
      {shown !== undefined && (
        <ReviewPane
          key={shown.key}
          current={current}
          shown={shown}
          expanded={expanded}
          onExpand={() => setExpanded(shown)}
          onShowCurrent={() => select(selected.value)}
          onDecide={handleDecision}
          onBack={isNarrow ? () => select(undefined) : undefined}
        />
      )}
      {shown === undefined && !isNarrow && <NoSelection startingServer={startingServer} />}
    </div>
  );
}

/** Manages the selected item, its shown version, and the starting server whose first entry is selected when it arrives. */
function useSelection(groups: readonly ReviewGroup[], isNarrow: boolean) {
  const { router } = useStore();
  const items = groups.flatMap((group) => group.items);
  const query = router.query.value;
  const hasTarget = query.has('call') || query.has('server');
  const [firstKey] = useState(() => (isNarrow && !hasTarget ? undefined : initialKey(groups, query)));
  const selected = useSignal(firstKey);
  const [shown, setShown] = useState<ReviewItem | undefined>(() =>
    items.find((item) => item.key === firstKey),
  );
  const [startingServer, setStartingServer] = useState<string>();
  const select = (key: string | undefined): void => {
    setStartingServer(undefined);
    selected.value = key;
    setShown(items.find((item) => item.key === key));
  };
  // Selects another item when the URL changes while the page is open.
  const target = query.toString();
  useEffect(() => {
    if (hasTarget) select(initialKey(groups, query));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only another URL selects another item
  }, [target]);
  // The entries of an approved server arrive after it has started. The first of them is then selected.
  useEffect(() => {
    const next = startingServer === undefined ? undefined : firstEntryKey(startingServer, groups);
    if (next !== undefined) select(next);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only new groups contain new entries
  }, [groups, startingServer]);
  return { selected, shown, select, startingServer, setStartingServer };
}

function NoSelection({ startingServer }: { startingServer: string | undefined }) {
  return (
    <p class="soft" role="status">
      {startingServer === undefined
        ? 'Select an item.'
        : `${startingServer} is starting. Its entries appear here if they are held.`}
    </p>
  );
}

/** Returns the server that starts when the item is approved. */
function serverStartedBy(item: ReviewItem): string | undefined {
  return item.kind === 'held' && item.held.kind === 'server' ? item.held.server : undefined;
}

/** Focuses the selected item after the list is rendered. */
function focusSelected(box: HTMLElement | null): void {
  requestAnimationFrame(() => box?.querySelector<HTMLElement>('[role="option"][tabindex="0"]')?.focus());
}
