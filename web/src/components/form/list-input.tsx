import type { ComponentChildren } from 'preact';

import { Button } from '../button.tsx';

interface ListItem {
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

interface ListInputProps {
  readonly label: string;
  /** The value of a new item. */
  readonly emptyItem: unknown;
  readonly values: readonly unknown[];
  readonly onChange: (values: readonly unknown[]) => void;
  /** Renders the input of an item. */
  readonly children: (item: ListItem) => ComponentChildren;
}

/** An input for a list of values, with buttons to add and remove items. */
export function ListInput({ label, emptyItem, values, onChange, children }: ListInputProps) {
  return (
    <>
      {values.map((value, index) => (
        <div key={index} class="list-item">
          {children({
            label: `${label} ${index + 1}`,
            value,
            onChange: (next) => onChange(values.with(index, next)),
          })}
          <Button
            kind="quiet"
            isSmall
            label={`Remove ${label} ${index + 1}`}
            onPress={() => onChange(values.toSpliced(index, 1))}
          >
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button isSmall onPress={() => onChange([...values, emptyItem])}>
          Add
        </Button>
      </div>
    </>
  );
}
