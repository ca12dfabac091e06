import { useId } from 'preact/hooks';

import { Field } from '../../../components/form/field.tsx';

interface TextInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint?: string;
  readonly problem?: string | undefined;
  readonly placeholder?: string;
  readonly isRequired?: boolean;
  readonly isCode?: boolean;
}

/** A labelled single-line input. */
export function TextInput(props: TextInputProps) {
  const { label, value, onChange, hint, problem, placeholder, isRequired = false, isCode = false } = props;
  const id = useId();
  return (
    <Field label={label} id={id} isRequired={isRequired} hint={hint} problem={problem}>
      <input
        id={id}
        type="text"
        class={isCode ? 'mono' : ''}
        aria-describedby={hint === undefined ? undefined : `${id}-hint`}
        aria-invalid={problem !== undefined}
        autocomplete="off"
        spellcheck={!isCode}
        placeholder={placeholder}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}
