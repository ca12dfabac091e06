import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

import { IconButton } from '../icon-button.tsx';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  /** The buttons at the bottom, the main one last. */
  readonly actions?: ComponentChildren;
  readonly size?: 'small' | 'medium' | 'large';
  /** Whether a click outside leaves the dialog open. Set it if closing the dialog by accident would lose input. */
  readonly isSticky?: boolean;
  /** Called for Escape, the close button and a click outside. The parent must then remove the dialog. */
  readonly onClose: () => void;
}

/** A modal dialog. The focus stays inside, and returns to the previous element when the dialog is closed. */
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
    const element = dialog.current;
    const previousFocus = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      // The browser does not restore the focus if the dialog has already been removed from the page.
      requestAnimationFrame(() => {
        if (document.activeElement === document.body && previousFocus instanceof HTMLElement)
          previousFocus.focus();
      });
    };
  }, []);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- Escape closes it by keyboard
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
