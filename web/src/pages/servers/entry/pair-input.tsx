import { Button } from '../../../parts/button.tsx';
import { Field } from '../../../parts/form/field.tsx';
import type { Pair } from './entry-fields.ts';

interface PairInputProps {
  readonly label: string;
  /** What one of them is called, such as `variable`. */
  readonly each: string;
  readonly hint: string;
  readonly pairs: readonly Pair[];
  readonly onChange: (pairs: readonly Pair[]) => void;
}

/** Names with values, as many as one wants. */
export function PairInput({ label, each, hint, pairs, onChange }: PairInputProps) {
  const change = (at: number, pair: Pair): void => onChange(pairs.with(at, pair));
  return (
    <Field label={label} hint={hint} isGroup>
      {pairs.map(([name, value], at) => {
        const called = name === '' ? `${each} ${at + 1}` : name;
        return (
          <div key={at} class="pair">
            <input
              class="mono"
              aria-label={`Name of ${each} ${at + 1}`}
              placeholder="NAME"
              spellcheck={false}
              autocomplete="off"
              value={name}
              onInput={(event) => change(at, [event.currentTarget.value, value])}
            />
            <input
              class="mono"
              aria-label={`Value of ${called}`}
              placeholder="value"
              spellcheck={false}
              autocomplete="off"
              value={value}
              // What stands for a secret is replaced whole or not at all.
              onFocus={(event) => value.includes('•••') && event.currentTarget.select()}
              onInput={(event) => change(at, [name, event.currentTarget.value])}
            />
            <Button
              kind="quiet"
              isSmall
              label={`Remove ${called}`}
              onPress={() => onChange(pairs.toSpliced(at, 1))}
            >
              Remove
            </Button>
          </div>
        );
      })}
      <div>
        <Button isSmall onPress={() => onChange([...pairs, ['', '']])}>
          Add a {each}
        </Button>
      </div>
    </Field>
  );
}
