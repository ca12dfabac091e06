import { useId } from 'preact/hooks';

interface ChoiceProps {
  readonly label: string;
  readonly choices: readonly (readonly [value: string, title: string])[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** One of a few, all of them seen. */
export function Choice({ label, choices, value, onChange }: ChoiceProps) {
  const name = useId();
  return (
    <fieldset class="choice">
      <legend class="hidden-text">{label}</legend>
      {choices.map(([each, title]) => (
        <label key={each}>
          <input type="radio" name={name} checked={each === value} onChange={() => onChange(each)} />
          {title}
        </label>
      ))}
    </fieldset>
  );
}
