import { useEffect, useRef } from 'preact/hooks';

import { Icon } from './icon.tsx';

interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  readonly placeholder?: string;
  /** Called for every key press; debounce network requests. */
  readonly onChange: (value: string) => void;
  /** Whether pressing `/` anywhere on the page focuses this field. */
  readonly hasShortcut?: boolean;
}

export function SearchField({ label, value, placeholder, onChange, hasShortcut = false }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (!hasShortcut) return undefined;
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, [hasShortcut]);
  return (
    <label class="search">
      <span class="hidden-text">{label}</span>
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        value={value}
        placeholder={placeholder ?? label}
        autocomplete="off"
        spellcheck={false}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Escape' && value !== '') onChange('');
          if (event.key === 'ArrowDown' || event.key === 'Enter') sendToList(event);
        }}
      />
      {hasShortcut && value === '' && <kbd aria-hidden="true">/</kbd>}
    </label>
  );
}

/** Passes a key to the list of results below: arrow down selects the first result, and Enter opens the selected one. */
function sendToList(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const list = event.currentTarget
    .closest('main')
    ?.querySelector<HTMLElement>('[role="grid"], [role="listbox"]');
  if (list === null || list === undefined || event.isComposing) return;
  event.preventDefault();
  list.focus();
  if (event.key === 'Enter') list.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' }));
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null;
}
