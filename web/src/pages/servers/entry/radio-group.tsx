import { useId } from 'preact/hooks';

interface RadioGroupProps {
  readonly label: string;
  readonly options: readonly (readonly [value: string, title: string])[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A choice between a few visible options. */
export function RadioGroup({ label, options, value, onChange }: RadioGroupProps) {
  const name = useId();
  return (
    <fieldset class="radio-group">
      <legend class="hidden-text">{label}</legend>
      {options.map(([option, title]) => (
        <label key={option}>
          <input type="radio" name={name} checked={option === value} onChange={() => onChange(option)} />
          {title}
        </label>
      ))}
    </fieldset>
  );
}
