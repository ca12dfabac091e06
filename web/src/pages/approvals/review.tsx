import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

import { useNarrow } from '../../lib/use-narrow.ts';
import { useStore } from '../../store/use-store.ts';
import { decide, type Decision } from './decide.ts';
import { firstKey, isAsShown, offeredBy, type ReviewGroup, type ReviewItem } from './review-item.ts';
import { ReviewList } from './review-list.tsx';
import { ReviewPane } from './review-pane.tsx';
import { useReviewKeys } from './use-review-keys.ts';

/** The list of what waits beside the one thing that is read; on a phone, one of both. */
export function Review({ groups }: { groups: readonly ReviewGroup[] }) {
  const store = useStore();
  const isNarrow = useNarrow();
  const items = groups.flatMap((group) => group.items);
  const query = store.router.query.value;
  const isLedHere = query.has('call') || query.has('server');
  const [first] = useState(() => (isNarrow && !isLedHere ? undefined : firstKey(groups, query)));
  const chosen = useSignal(first);
  const key = chosen.value;
  const [shown, setShown] = useState<ReviewItem | undefined>(() => items.find((item) => item.key === key));
  const box = useRef<HTMLDivElement>(null);
  const isDeciding = useRef(false);
  const item = items.find((each) => each.key === key);
  const [awaited, setAwaited] = useState<string>();
  const choose = (next: string | undefined): void => {
    setAwaited(undefined);
    chosen.value = next;
    setShown(items.find((each) => each.key === next));
  };
  // Another address leads elsewhere, also while the page is open.
  const led = query.toString();
  useEffect(() => {
    if (isLedHere) choose(firstKey(groups, query));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only another address does
  }, [led]);
  // What an approved server offers comes when it has started, and is what one looks at next.
  useEffect(() => {
    const next = awaited === undefined ? undefined : offeredBy(awaited, groups);
    if (next !== undefined) choose(next);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only what waits brings it
  }, [groups, awaited]);
  const onDecide = async (decision: Decision): Promise<void> => {
    if (shown === undefined || isDeciding.current) return;
    isDeciding.current = true;
    try {
      const at = items.findIndex((each) => each.key === shown.key);
      const next = items[at + 1] ?? items[at - 1];
      if (!(await decide(shown, decision, store))) return;
      const started = decision === 'accept' ? startedBy(shown) : undefined;
      choose(isNarrow || started !== undefined ? undefined : next?.key);
      // On a phone the list is shown, in which it appears.
      if (!isNarrow) setAwaited(started);
      focusOn(box.current);
    } finally {
      isDeciding.current = false;
    }
  };
  useReviewKeys({
    move(by) {
      const at = items.findIndex((each) => each.key === key);
      const next = items[Math.min(items.length - 1, Math.max(0, at + by))];
      if (next === undefined) return;
      choose(next.key);
      focusOn(box.current);
    },
    decide(decision) {
      if (shown === undefined || !isAsShown(item, shown)) return;
      onDecide(decision).catch((error: unknown) => store.notices.fail(error));
    },
  });
  // The same element as long as the same things wait: walking through thousands touches two of them.
  // oxlint-disable-next-line react-hooks/exhaustive-deps -- what chooses knows these items
  const list = useMemo(() => <ReviewList groups={groups} chosen={chosen} onChoose={choose} />, [groups]);
  const isPaneOnly = isNarrow && shown !== undefined;
  return (
    <div class="review" ref={box}>
      {!isPaneOnly && list}
      {shown !== undefined && (
        <ReviewPane
          key={shown.key}
          item={item}
          shown={shown}
          onShowNow={() => choose(key)}
          onDecide={onDecide}
          onBack={isNarrow ? () => choose(undefined) : undefined}
        />
      )}
      {shown === undefined && !isNarrow && (
        <p class="soft" role="status">
          {awaited === undefined
            ? 'Choose what to look at.'
            : `${awaited} is being started. What it offers comes here if you are to look at it.`}
        </p>
      )}
    </div>
  );
}

/** The server that approving it starts. */
function startedBy(item: ReviewItem): string | undefined {
  return item.kind === 'held' && item.held.kind === 'server' ? item.held.server : undefined;
}

/** After the list has drawn itself anew. */
function focusOn(box: HTMLElement | null): void {
  requestAnimationFrame(() => box?.querySelector<HTMLElement>('[role="option"][tabindex="0"]')?.focus());
}
