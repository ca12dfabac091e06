import { useState } from 'preact/hooks';

import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import { useStore } from '../../store/use-store.ts';
import { CallDetail } from './call-detail.tsx';
import type { Decision } from './decide.ts';
import { HeldDetail } from './held-detail.tsx';
import { isAsShown, type ReviewItem } from './review-item.ts';

interface ReviewPaneProps {
  /** As it is now; undefined when it does not wait any more. */
  readonly item: ReviewItem | undefined;
  /** As it was when the person began to read. */
  readonly shown: ReviewItem;
  readonly onShowNow: () => void;
  readonly onDecide: (decision: Decision) => Promise<void>;
  readonly onBack: (() => void) | undefined;
}

/** One thing with what there is to know about it, and the two buttons. What is on the page does not change while it is read. */
export function ReviewPane({ item, shown, onShowNow, onDecide, onBack }: ReviewPaneProps) {
  const { approvals } = useStore();
  const lock = approvals.value.value?.lock;
  const isLocked = lock !== undefined && shown.kind === 'held' && shown.held.kind !== 'server';
  const isOther = item !== undefined && !isAsShown(item, shown);
  const canDecide = item !== undefined && !isOther && !isLocked;
  return (
    <article class="review-pane frame" aria-label="What is decided about">
      {onBack !== undefined && (
        <button type="button" class="link back" onClick={onBack}>
          <Icon name="right" />
          All that waits
        </button>
      )}
      {isOther && (
        <div class="note warn" role="alert">
          <p>It was changed again while you were reading. Nothing of it is approved.</p>
          <Button isSmall onPress={onShowNow}>
            Show it as it is now
          </Button>
        </div>
      )}
      {item === undefined && (
        <p class="note" role="status">
          It does not wait any more.
        </p>
      )}
      {isLocked && (
        <p class="note">
          <span>
            The lockfile <code>{lock}</code> decides about what servers offer. Review the change there:{' '}
            <code>trunkline lock</code> writes it anew.
          </span>
        </p>
      )}
      {shown.kind === 'call' ? <CallDetail call={shown.call} /> : <HeldDetail held={shown.held} />}
      <Foot
        canDecide={canDecide}
        isRefused={shown.kind === 'held' && shown.held.reason === 'refused'}
        onDecide={onDecide}
      />
    </article>
  );
}

interface FootProps {
  readonly canDecide: boolean;
  readonly isRefused: boolean;
  readonly onDecide: (decision: Decision) => Promise<void>;
}

function Foot({ canDecide, isRefused, onDecide }: FootProps) {
  const [isBusy, setBusy] = useState(false);
  const press = (decision: Decision) => async (): Promise<void> => {
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
        <kbd>↑</kbd> <kbd>↓</kbd> next <kbd>A</kbd> approve <kbd>R</kbd> refuse
      </p>
      {!isRefused && (
        <Button kind="danger" isDisabled={!canDecide || isBusy} onPress={press('refuse')}>
          Refuse
        </Button>
      )}
      <Button kind="main" isDisabled={!canDecide || isBusy} onPress={press('accept')}>
        Approve
      </Button>
    </div>
  );
}
