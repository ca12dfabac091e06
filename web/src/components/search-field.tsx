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
        }}
      />
      {hasShortcut && value === '' && <kbd aria-hidden="true">/</kbd>}
    </label>
  );
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null;
}
