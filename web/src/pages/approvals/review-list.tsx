import { useComputed, type ReadonlySignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';

import { countdown } from '../../lib/format.ts';
import { useClock } from '../../lib/use-clock.ts';
import { visible } from '../../lib/visible.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import { useStore } from '../../store/use-store.ts';
import { decideHeld } from './decide.ts';
import type { ReviewGroup, ReviewItem } from './review-item.ts';
import { kinds, reasons, titleOf } from './review-words.ts';

interface Choosing {
  readonly chosen: ReadonlySignal<string | undefined>;
  readonly onChoose: (key: string) => void;
}

interface ReviewListProps extends Choosing {
  readonly groups: readonly ReviewGroup[];
}

/** Everything that waits, to be walked through with the arrow keys. */
export function ReviewList({ groups, chosen, onChoose }: ReviewListProps) {
  const id = useId();
  const first = groups[0]?.items[0]?.key;
  return (
    <div class="review-list">
      {groups.map((group, at) => (
        <section key={group.title} aria-labelledby={`${id}-${at}`}>
          <div class="review-head">
            <h2 id={`${id}-${at}`} class="cut">
              {group.title}
            </h2>
            <ApproveAll group={group} />
          </div>
          <div role="listbox" aria-labelledby={`${id}-${at}`}>
            {group.items.map((item) => (
              <Option
                key={item.key}
                item={item}
                isFirst={item.key === first}
                chosen={chosen}
                onChoose={onChoose}
              />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}

interface OptionProps extends Choosing {
  readonly item: ReviewItem;
  readonly isFirst: boolean;
}

function Option({ item, isFirst, chosen, onChoose }: OptionProps) {
  const { key } = item;
  const option = useRef<HTMLDivElement>(null);
  const isChosen = useComputed(() => chosen.value === key).value;
  const isReached = useComputed(() => isFirst && chosen.value === undefined).value || isChosen;
  useEffect(() => {
    if (isChosen) option.current?.scrollIntoView({ block: 'nearest' });
  }, [isChosen]);
  return (
    <div
      ref={option}
      role="option"
      aria-selected={isChosen}
      tabIndex={isReached ? 0 : -1}
      onClick={() => onChoose(key)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onChoose(key);
      }}
    >
      <ItemLine item={item} />
    </div>
  );
}

function ItemLine({ item }: { item: ReviewItem }) {
  if (item.kind === 'call') {
    const { name, caller, until } = item.call;
    return (
      <>
        <span class="cut item-name">{visible(name)}</span>
        <TimeLeft until={until} />
        <span class="cut small faint item-second">for {visible(caller)}</span>
      </>
    );
  }
  const { held } = item;
  const { word, kind } = reasons[held.reason];
  return (
    <>
      <span class="cut item-name">{held.kind === 'server' ? 'The server itself' : titleOf(held)}</span>
      <Badge kind={held.findings.length > 0 ? 'bad' : kind}>
        {held.findings.length > 0 ? `${word}, ${held.findings.length} found` : word}
      </Badge>
      {held.reason === 'refused' && (
        <span class="cut small faint item-second">
          {kinds[held.kind]} of {held.server}
        </span>
      )}
    </>
  );
}

function TimeLeft({ until }: { until: number }) {
  return <span class="small faint number">{countdown(until - useClock())} left</span>;
}

function ApproveAll({ group: { server, items } }: { group: ReviewGroup }) {
  const store = useStore();
  // Before the server itself is approved, nothing of it can be.
  const entries = items.filter((item) => item.kind === 'held').filter(({ held }) => held.kind !== 'server');
  if (server === undefined || entries.length < 2 || store.approvals.value.value?.lock !== undefined)
    return null;
  return (
    <Button
      isSmall
      kind="quiet"
      label={`Approve all ${entries.length} of ${server}`}
      onPress={async () => decideHeld(entries, 'accept', store)}
    >
      Approve all {entries.length}
    </Button>
  );
}
