import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Tab<Name extends string> {
  readonly name: Name;
  readonly title: ComponentChildren;
}

interface TabsProps<Name extends string> {
  readonly label: string;
  readonly tabs: readonly Tab<Name>[];
  readonly selected: Name;
  readonly onSelect: (name: Name) => void;
  /** The content of the selected tab. */
  readonly children: ComponentChildren;
}

/** Tabs; the left and right arrow keys select the previous and next tab. */
export function Tabs<Name extends string>({ label, tabs, selected, onSelect, children }: TabsProps<Name>) {
  const id = useId();
  const move = (event: KeyboardEvent, by: number): void => {
    const current = tabs.findIndex(({ name }) => name === selected);
    const next = tabs[(current + by + tabs.length) % tabs.length];
    if (next === undefined) return;
    event.preventDefault();
    onSelect(next.name);
    document.getElementById(`${id}-${next.name}`)?.focus();
  };
  return (
    <div class="tabs">
      <div role="tablist" aria-label={label}>
        {tabs.map(({ name, title }) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === selected}
            aria-controls={`${id}-panel`}
            tabIndex={name === selected ? 0 : -1}
            onClick={() => onSelect(name)}
            onKeyDown={(event) => {
              if (event.key === 'ArrowRight') move(event, 1);
              if (event.key === 'ArrowLeft') move(event, -1);
            }}
          >
            {title}
          </button>
        ))}
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${selected}`}>
        {children}
      </div>
    </div>
  );
}
