import { useEffect, useRef } from 'preact/hooks';

interface ReviewKeyHandlers {
  readonly move: (by: number) => void;
  readonly decide: (decision: 'accept' | 'refuse') => void;
}

/** Handles keys: arrows, j and k select an item, a approves and r refuses it. Keys are ignored in inputs and while a dialog is open. */
export function useReviewKeys(handlers: ReviewKeyHandlers): void {
  // The listener is added only once, so it reads the handlers of the latest render from here.
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const handleKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isIgnored(event.target)) return;
      const action = actionFor(event.key, event.target, latest.current);
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', handleKey);
    return () => document.removeEventListener('keydown', handleKey);
  }, []);
}

function isIgnored(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true;
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}

function actionFor(
  key: string,
  target: EventTarget | null,
  handlers: ReviewKeyHandlers,
): (() => void) | undefined {
  // Scrollable elements and tabs use the arrow keys themselves.
  const canMove = !(target instanceof Element) || target.closest('pre, .diff, [role="tablist"]') === null;
  switch (key) {
    case 'ArrowDown':
      return canMove ? () => handlers.move(1) : undefined;
    case 'ArrowUp':
      return canMove ? () => handlers.move(-1) : undefined;
    case 'j':
      return () => handlers.move(1);
    case 'k':
      return () => handlers.move(-1);
    case 'a':
      return () => handlers.decide('accept');
    case 'r':
      return () => handlers.decide('refuse');
    default:
      return undefined;
  }
}
