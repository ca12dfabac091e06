import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

import { useStore } from '../store/use-store.ts';

interface ButtonProps {
  readonly children: ComponentChildren;
  /** `main` once per view: what one came for. */
  readonly kind?: 'main' | 'plain' | 'quiet' | 'danger';
  readonly isDisabled?: boolean;
  readonly isSmall?: boolean;
  /** For a form's own button; then `onPress` is not needed. */
  readonly type?: 'button' | 'submit';
  readonly label?: string;
  /** While it lasts the button is busy; what goes wrong is shown over the page. */
  readonly onPress?: () => unknown;
}

export function Button(props: ButtonProps) {
  const { children, kind = 'plain', isDisabled = false, isSmall = false, type = 'button', label } = props;
  const { notices } = useStore();
  const [isBusy, setBusy] = useState(false);
  const isThere = useRef(true);
  const press = async (): Promise<void> => {
    if (isBusy || props.onPress === undefined) return;
    const going = props.onPress();
    if (!(going instanceof Promise)) return;
    setBusy(true);
    try {
      await going;
    } catch (error) {
      notices.fail(error);
    } finally {
      if (isThere.current) setBusy(false);
    }
  };
  return (
    <button
      type={type}
      class={`button ${kind} ${isSmall ? 'is-small' : ''}`}
      aria-label={label}
      // Stays focusable while busy, so that the keyboard does not lose its place.
      aria-disabled={isBusy || undefined}
      aria-busy={isBusy || undefined}
      disabled={isDisabled}
      onClick={() => void press()}
    >
      {children}
    </button>
  );
}
