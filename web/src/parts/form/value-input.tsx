import { useId } from 'preact/hooks';

import { emptyOf } from '../../lib/filled.ts';
import { fieldOf, schemaIn, type Member } from '../../lib/schema-field.ts';
import { Field } from './field.tsx';
import { JsonInput } from './json-input.tsx';
import { ListInput } from './list-input.tsx';
import { SimpleInput } from './simple-input.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

interface Inside {
  /** Where references lead to. */
  readonly root: JsonObject;
  readonly depth: number;
}

interface ValueInputProps extends Inside {
  readonly label: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

interface GroupInputProps extends Inside {
  readonly members: readonly Member[];
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
}

/** One value of a schema, by whatever field fits it. */
function ValueInput({ label, schema, root, depth, isRequired, value, onChange }: ValueInputProps) {
  const id = useId();
  const field = fieldOf(schema, root, depth);
  const hint = typeof schema['description'] === 'string' ? schema['description'] : undefined;
  const shared = { label, isRequired, hint };
  const below = { root, depth: depth + 1 };
  switch (field.kind) {
    case 'group':
      return (
        <Field {...shared} isGroup>
          <GroupInput {...below} members={field.members} value={schemaIn(value) ?? {}} onChange={onChange} />
        </Field>
      );
    case 'list':
      return (
        <Field {...shared} isGroup>
          <ListInput
            label={label}
            empty={emptyOf(field.of, root, depth + 1)}
            values={Array.isArray(value) ? value : []}
            onChange={(next) => onChange(next.length === 0 && !isRequired ? undefined : next)}
          >
            {(each) => <ValueInput {...below} {...each} schema={field.of} isRequired />}
          </ListInput>
        </Field>
      );
    case 'json':
      return (
        <Field {...shared} isGroup>
          <JsonInput label={`${label} as JSON`} value={value} onChange={onChange} />
        </Field>
      );
    default:
      return (
        <Field {...shared} id={id}>
          <SimpleInput
            id={id}
            field={field}
            isRequired={isRequired}
            placeholder={'default' in schema ? JSON.stringify(schema['default']) : undefined}
            value={value}
            onChange={onChange}
          />
        </Field>
      );
  }
}

/** The fields of an object. */
export function GroupInput({ members, value, onChange, ...inside }: GroupInputProps) {
  return (
    <>
      {members.map(({ name, schema, isRequired }) => (
        <ValueInput
          {...inside}
          key={name}
          label={name}
          schema={schema}
          isRequired={isRequired}
          value={value[name]}
          onChange={(next) => {
            const { [name]: _old, ...rest } = value;
            onChange(next === undefined ? rest : { ...value, [name]: next });
          }}
        />
      ))}
    </>
  );
}
