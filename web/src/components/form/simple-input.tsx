import type { SchemaField } from '../../lib/schema-field.ts';

interface SimpleInputProps {
  readonly id: string;
  readonly field: Extract<SchemaField, { kind: 'text' | 'choice' | 'number' | 'boolean' }>;
  readonly isRequired: boolean;
  readonly placeholder: string | undefined;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** An input for a text, number, boolean or choice. An empty input means that the value is absent, except for a required text. */
export function SimpleInput(props: SimpleInputProps) {
  const { id, field, isRequired, placeholder, value, onChange } = props;
  const shared = { id, 'aria-describedby': `${id}-hint`, required: isRequired, placeholder };
  const text = typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
  switch (field.kind) {
    case 'text':
      return <TextArea {...props} shared={shared} text={text} isLong={field.isLong} />;
    case 'number':
      return (
        <input
          {...shared}
          type="number"
          step={field.isInteger ? 1 : 'any'}
          min={field.minimum}
          max={field.maximum}
          value={text}
          onInput={({ currentTarget: { value: next } }) => onChange(next === '' ? undefined : Number(next))}
        />
      );
    case 'boolean':
      return (
        <select
          {...shared}
          value={text}
          onChange={({ currentTarget: { value: next } }) =>
            onChange(next === '' ? undefined : next === 'true')
          }
        >
          <option value="">not set</option>
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
          <option value="">{isRequired ? 'choose' : 'not set'}</option>
          {field.choices.map((choice) => (
            <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
              {typeof choice === 'string' ? choice : JSON.stringify(choice)}
            </option>
          ))}
        </select>
      );
  }
}

interface TextAreaProps extends SimpleInputProps {
  readonly shared: object;
  readonly text: string;
  readonly isLong: boolean;
}

/** An input for text of several lines. Shift+Enter starts a new line, and Enter submits the form unless the text is long. */
function TextArea({ shared, text, isLong, isRequired, onChange }: TextAreaProps) {
  return (
    <textarea
      {...shared}
      class="grows"
      rows={isLong ? 4 : 1}
      autocomplete="off"
      spellcheck={false}
      value={text}
      onInput={({ currentTarget: { value: next } }) =>
        onChange(next === '' && !isRequired ? undefined : next)
      }
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing || isLong) return;
        event.preventDefault();
        event.currentTarget.form?.requestSubmit();
      }}
    />
  );
}
