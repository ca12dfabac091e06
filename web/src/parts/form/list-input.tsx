import type { ComponentChildren } from 'preact';

import { Button } from '../button.tsx';

interface Each {
  readonly label: string;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

interface ListInputProps {
  readonly label: string;
  /** What a new one is at first. */
  readonly empty: unknown;
  readonly values: readonly unknown[];
  readonly onChange: (values: readonly unknown[]) => void;
  /** The input of one of them. */
  readonly children: (each: Each) => ComponentChildren;
}

/** Values of one kind, as many as one wants. */
export function ListInput({ label, empty, values, onChange, children }: ListInputProps) {
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
        <Button isSmall onPress={() => onChange([...values, empty])}>
          Add
        </Button>
      </div>
    </>
  );
}
