import { useEffect, useRef } from 'preact/hooks';

interface ReviewKeys {
  readonly move: (by: number) => void;
  readonly decide: (decision: 'accept' | 'refuse') => void;
}

/** Arrows, j and k walk; a and r decide. Not while one types, and not under a question that is open. */
export function useReviewKeys(keys: ReviewKeys): void {
  const now = useRef(keys);
  now.current = keys;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isElsewhere(event.target)) return;
      const act = actionOf(event.key, event.target, now.current);
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
}

function actionOf(key: string, target: EventTarget | null, keys: ReviewKeys): (() => void) | undefined {
  // What can be scrolled needs the arrows itself.
  const mayMove = !(target instanceof Element) || target.closest('pre, .diff, [role="tablist"]') === null;
  switch (key) {
    case 'ArrowDown':
      return mayMove ? () => keys.move(1) : undefined;
    case 'ArrowUp':
      return mayMove ? () => keys.move(-1) : undefined;
    case 'j':
      return () => keys.move(1);
    case 'k':
      return () => keys.move(-1);
    case 'a':
      return () => keys.decide('accept');
    case 'r':
      return () => keys.decide('refuse');
    default:
      return undefined;
  }
}

function isElsewhere(target: EventTarget | null): boolean {
  if (document.querySelector('dialog[open]') !== null) return true;
  return target instanceof Element && target.closest('input, textarea, select') !== null;
}
