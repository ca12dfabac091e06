import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';

import { useStore } from '../store/use-store.ts';

interface ButtonProps {
  readonly children: ComponentChildren;
  /** `main` marks the most important button of a view. */
  readonly kind?: 'main' | 'plain' | 'quiet' | 'danger';
  readonly isDisabled?: boolean;
  readonly isSmall?: boolean;
  /** A submit button of a form needs no `onPress`. */
  readonly type?: 'button' | 'submit';
  readonly label?: string;
  /** If it returns a promise, the button is busy until the promise settles, and an error is shown over the page. */
  readonly onPress?: () => unknown;
}

export function Button(props: ButtonProps) {
  const { children, kind = 'plain', isDisabled = false, isSmall = false, type = 'button', label } = props;
  const { notices } = useStore();
  const [isBusy, setBusy] = useState(false);
  const press = async (): Promise<void> => {
    if (isBusy || props.onPress === undefined) return;
    const action = props.onPress();
    if (!(action instanceof Promise)) return;
    setBusy(true);
    try {
      await action;
    } catch (error) {
      notices.showError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <button
      type={type}
      class={`button ${kind} ${isSmall ? 'is-small' : ''}`}
      aria-label={label}
      // A busy button stays focusable, so that keyboard users do not lose their position.
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      disabled={isDisabled}
      onClick={() => void press()}
    >
      {children}
    </button>
  );
}
