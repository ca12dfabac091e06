import { useComputed, type ReadonlySignal } from '@preact/signals';
import { useEffect, useId, useRef } from 'preact/hooks';

import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { formatCountdown, pluralize } from '../../lib/format.ts';
import { useClock } from '../../lib/use-clock.ts';
import { useStore } from '../../store/use-store.ts';
import { decideHeld } from './decide.ts';
import { isLong, type ReviewGroup, type ReviewItem } from './review-item.ts';
import { itemTitle, kindLabels, reasonStyles } from './review-text.ts';

interface Selection {
  readonly selected: ReadonlySignal<string | undefined>;
  readonly onSelect: (key: string) => void;
}

interface ReviewListProps extends Selection {
  readonly groups: readonly ReviewGroup[];
}

/** Lists all held items. `useReviewKeys` handles the arrow keys. */
export function ReviewList({ groups, selected, onSelect }: ReviewListProps) {
  const id = useId();
  const firstKey = groups[0]?.items[0]?.key;
  return (
    <div class="review-list">
      {groups.map((group, index) => (
        <section key={group.title} aria-labelledby={`${id}-${index}`}>
          <div class="review-head">
            <h2 id={`${id}-${index}`} class="truncated">
              {group.title}
            </h2>
            <ApproveAllButton group={group} />
          </div>
          <div role="listbox" aria-labelledby={`${id}-${index}`}>
            {group.items.map((item) => (
              <Option
                key={item.key}
                item={item}
                isFirst={item.key === firstKey}
                selected={selected}
                onSelect={onSelect}
              />
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}

interface OptionProps extends Selection {
  readonly item: ReviewItem;
  readonly isFirst: boolean;
}

function Option({ item, isFirst, selected, onSelect }: OptionProps) {
  const { key } = item;
  const option = useRef<HTMLDivElement>(null);
  const isSelected = useComputed(() => selected.value === key).value;
  const isFocusable = useComputed(() => isFirst && selected.value === undefined).value || isSelected;
  useEffect(() => {
    if (isSelected) option.current?.scrollIntoView({ block: 'nearest' });
  }, [isSelected]);
  return (
    <div
      ref={option}
      role="option"
      aria-selected={isSelected}
      tabIndex={isFocusable ? 0 : -1}
      onClick={() => onSelect(key)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        onSelect(key);
      }}
    >
      <ItemSummary item={item} />
    </div>
  );
}

function ItemSummary({ item }: { item: ReviewItem }) {
  if (item.kind === 'call') {
    const { name, caller, until } = item.call;
    return (
      <>
        <span class="truncated item-name">{escapeInvisible(name)}</span>
        <TimeLeft until={until} />
        <span class="truncated small faint item-second">by {escapeInvisible(caller)}</span>
      </>
    );
  }
  const { held } = item;
  const { label, kind } = reasonStyles[held.reason];
  const findings = held.findings.length;
  return (
    <>
      <span class="truncated item-name">
        {held.kind === 'server' ? 'The server itself' : itemTitle(held)}
      </span>
      <Badge kind={findings > 0 ? 'bad' : kind}>
        {findings > 0 ? `${label}, ${pluralize(findings, 'finding')}` : label}
      </Badge>
      {held.reason === 'refused' && (
        <span class="truncated small faint item-second">
          {kindLabels[held.kind]} of {held.server}
        </span>
      )}
    </>
  );
}

function TimeLeft({ until }: { until: number }) {
  return <span class="small faint number">{formatCountdown(until - useClock())} left</span>;
}

function ApproveAllButton({ group: { server, items } }: { group: ReviewGroup }) {
  const store = useStore();
  // The server itself is left out, because it must be approved before its entries.
  const entries = items.filter((item) => item.kind === 'held').filter(({ held }) => held.kind !== 'server');
  if (server === undefined || entries.length < 2 || store.approvals.value.value?.lock !== undefined)
    return null;
  return (
    <Button
      isSmall
      kind="quiet"
      label={`Approve all ${entries.length} of ${server}`}
      onPress={async () => {
        // Long definitions are approved one by one, after they were shown whole.
        const short = entries.filter((item) => !isLong(item));
        if (short.length < entries.length)
          store.notices.showMessage(
            `${pluralize(entries.length - short.length, 'long entry', 'long entries')} cannot be approved here. Open each of them to approve it.`,
          );
        if (short.length > 0) await decideHeld(short, 'accept', store);
      }}
    >
      Approve all {entries.length}
    </Button>
  );
}
