import type { Field } from '../../lib/schema-field.ts';

interface SimpleInputProps {
  readonly id: string;
  readonly field: Extract<Field, { kind: 'text' | 'choice' | 'number' | 'switch' }>;
  readonly isRequired: boolean;
  readonly placeholder: string | undefined;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** A text, a number, a choice or a yes; empty means absent unless it must be there. */
export function SimpleInput({ id, field, isRequired, placeholder, value, onChange }: SimpleInputProps) {
  const shared = { id, 'aria-describedby': `${id}-hint`, required: isRequired, placeholder };
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  const said = (next: string): void => onChange(next === '' && !isRequired ? undefined : next);
  switch (field.kind) {
    case 'text':
      return (
        // Any text may have lines: Shift and Enter make one where Enter sends.
        <textarea
          {...shared}
          class="grows"
          rows={field.isLong ? 4 : 1}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => said(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing || field.isLong) return;
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }}
        />
      );
    case 'number':
      return (
        <input
          {...shared}
          type="number"
          step={field.isWhole ? 1 : 'any'}
          min={field.least}
          max={field.most}
          value={text}
          onInput={({ currentTarget: { value: next } }) => onChange(next === '' ? undefined : Number(next))}
        />
      );
    case 'switch':
      return (
        <select
          {...shared}
          value={text}
          onChange={({ currentTarget: { value: next } }) =>
            onChange(next === '' ? undefined : next === 'true')
          }
        >
          <option value="">not said</option>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      );
    case 'choice':
      return (
        <select
          {...shared}
          value={value === undefined ? '' : JSON.stringify(value)}
          onChange={({ currentTarget: { value: next } }) =>
            onChange(next === '' ? undefined : (JSON.parse(next) as unknown))
          }
        >
          <option value="">{isRequired ? 'choose' : 'not said'}</option>
          {field.choices.map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {typeof choice === 'string' ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      );
  }
}
