import { useMemo, useState } from 'preact/hooks';

import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { useStore } from '../../store/use-store.ts';
import { CallDetail } from './call-detail.tsx';
import type { Decision } from './decide.ts';
import { HeldDetail } from './held-detail.tsx';
import { isSameVersion, mayDecide, type ReviewItem } from './review-item.ts';

interface ReviewPaneProps {
  /** The current version of the item. Undefined if the item is no longer held. */
  readonly current: ReviewItem | undefined;
  /** The version that the user reads. It stays the same even if the item changes in the meantime. */
  readonly shown: ReviewItem;
  /** The version whose long definition or arguments are shown whole. */
  readonly expanded: ReviewItem | undefined;
  readonly onExpand: () => void;
  readonly onShowCurrent: () => void;
  readonly onDecide: (decision: Decision) => Promise<void>;
  readonly onBack: (() => void) | undefined;
}

/** Shows an item with the buttons to approve and refuse it. */
export function ReviewPane(props: ReviewPaneProps) {
  const { current, shown, expanded, onExpand, onShowCurrent, onDecide, onBack } = props;
  const { approvals } = useStore();
  const lock = approvals.value.value?.lock;
  const isLocked = lock !== undefined && shown.kind === 'held' && shown.held.kind !== 'server';
  const hasChanged = current !== undefined && !isSameVersion(current, shown);
  const canDecide = current !== undefined && !hasChanged && !isLocked;
  const isShownWhole = useMemo(() => mayDecide(shown, 'accept', expanded), [shown, expanded]);
  return (
    <article class="review-pane frame" aria-label="Item under review">
      {onBack !== undefined && (
        <button type="button" class="link back" onClick={onBack}>
          <Icon name="right" />
          All held items
        </button>
      )}
      {hasChanged && (
        <div class="note warn" role="alert">
          <p>The item changed again while you were reading. The new version is not approved.</p>
          <Button isSmall onPress={onShowCurrent}>
            Show the new version
          </Button>
        </div>
      )}
      {current === undefined && (
        <p class="note" role="status">
          This item is no longer held.
        </p>
      )}
      {isLocked && (
        <p class="note">
          <span>
            The lockfile <code>{lock}</code> decides which entries are approved. To accept this change, update
            the lockfile with <code>trunkline lock</code>.
          </span>
        </p>
      )}
      {shown.kind === 'call' ? (
        <CallDetail call={shown.call} isExpanded={shown === expanded} onExpand={onExpand} />
      ) : (
        <HeldDetail held={shown.held} isExpanded={shown === expanded} onExpand={onExpand} />
      )}
      {!isShownWhole && (
        <p class="note">A part of this item is not shown. Show all of it before you approve it.</p>
      )}
      <DecisionButtons
        canDecide={canDecide}
        canAccept={canDecide && isShownWhole}
        isRefused={shown.kind === 'held' && shown.held.reason === 'refused'}
        onDecide={onDecide}
      />
    </article>
  );
}

interface DecisionButtonsProps {
  readonly canDecide: boolean;
  readonly canAccept: boolean;
  readonly isRefused: boolean;
  readonly onDecide: (decision: Decision) => Promise<void>;
}

function DecisionButtons({ canDecide, canAccept, isRefused, onDecide }: DecisionButtonsProps) {
  const [isBusy, setBusy] = useState(false);
  const handler = (decision: Decision) => async (): Promise<void> => {
    setBusy(true);
    try {
      await onDecide(decision);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="review-foot">
      <p class="small faint keys" aria-hidden="true">
        <kbd>↑</kbd> <kbd>↓</kbd> select <kbd>A</kbd> approve <kbd>R</kbd> refuse
      </p>
      {!isRefused && (
        <Button kind="danger" isDisabled={!canDecide || isBusy} onPress={handler('refuse')}>
          Refuse
        </Button>
      )}
      <Button kind="main" isDisabled={!canAccept || isBusy} onPress={handler('accept')}>
        Approve
      </Button>
    </div>
  );
}
