import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { IconButton } from '../icon-button.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** Buttons at its foot, the main one last. */
  readonly actions?: ComponentChildren;
  readonly size?: 'small' | 'medium' | 'large';
  /** Whether a press beside it does nothing, where closing it by mistake loses something. */
  readonly isSticky?: boolean;
  /** Escape, the cross and a press beside it; whoever opened it takes it away. */
  readonly onClose: () => void;
}

/** Over the page; the focus stays inside, and goes back to where it was. */
export function Dialog({
  title,
  children,
  actions,
  size = 'medium',
  isSticky = false,
  onClose,
}: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const shown = dialog.current;
    const before = document.activeElement;
    shown?.showModal();
    return () => {
      shown?.close();
      // The browser gives the focus back only while the dialog is still in the page.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body && before instanceof HTMLElement) before.focus();
      });
    };
  }, []);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape is its key
    <dialog
      class={`dialog ${size}`}
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onMouseDown={(event) => {
        if (event.target === dialog.current && !isSticky) onClose();
      }}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2 id={heading}>{title}</h2>
          <IconButton icon="close" label="Close" onPress={onClose} />
        </div>
        <div class="dialog-content">{children}</div>
        {actions !== undefined && <div class="dialog-foot">{actions}</div>}
      </div>
    </dialog>
  );
}
