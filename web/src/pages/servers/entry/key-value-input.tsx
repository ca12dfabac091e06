import { Button } from '../../../components/button.tsx';
import { Field } from '../../../components/form/field.tsx';
import type { KeyValue } from './entry-fields.ts';

interface KeyValueInputProps {
  readonly label: string;
  /** The name of an item, such as `variable`. */
  readonly itemName: string;
  readonly hint: string;
  readonly rows: readonly KeyValue[];
  readonly onChange: (rows: readonly KeyValue[]) => void;
}

/** An input for names with values, with buttons to add and remove rows. */
export function KeyValueInput({ label, itemName, hint, rows, onChange }: KeyValueInputProps) {
  const change = (index: number, row: KeyValue): void => onChange(rows.with(index, row));
  return (
    <Field label={label} hint={hint} isGroup>
      {rows.map(([name, value], index) => {
        const rowLabel = name === '' ? `${itemName} ${index + 1}` : name;
        return (
          <div key={index} class="key-value">
            <input
              class="mono"
              aria-label={`Name of ${itemName} ${index + 1}`}
              placeholder="NAME"
              spellcheck={false}
              autocomplete="off"
              value={name}
              onInput={(event) => change(index, [event.currentTarget.value, value])}
            />
            <input
              class="mono"
              aria-label={`Value of ${rowLabel}`}
              placeholder="value"
              spellcheck={false}
              autocomplete="off"
              value={value}
              // Selects the whole masked secret, because it can only be replaced as a whole.
              onFocus={(event) => value.includes('•••') && event.currentTarget.select()}
              onInput={(event) => change(index, [name, event.currentTarget.value])}
            />
            <Button
              kind="quiet"
              isSmall
              label={`Remove ${rowLabel}`}
              onPress={() => onChange(rows.toSpliced(index, 1))}
            >
              Remove
            </Button>
          </div>
        );
      })}
      <div>
        <Button isSmall onPress={() => onChange([...rows, ['', '']])}>
          Add a {itemName}
        </Button>
      </div>
    </Field>
  );
}
