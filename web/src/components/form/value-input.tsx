import { useId } from 'preact/hooks';

import { emptyValue } from '../../lib/form-value.ts';
import { asObject, ownMember, toSchemaField, type SchemaMember } from '../../lib/schema-field.ts';
import { Field } from './field.tsx';
import { JsonInput } from './json-input.tsx';
import { ListInput } from './list-input.tsx';
import { SimpleInput } from './simple-input.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

interface SchemaPosition {
  /** The document in which `$ref`s are resolved. */
  readonly root: JsonObject;
  /** The nesting of the value. Deeply nested values are entered as JSON. */
  readonly depth: number;
}

interface GroupInputProps extends SchemaPosition {
  readonly members: readonly SchemaMember[];
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
}

/** The fields of an object. */
export function GroupInput({ members, value, onChange, ...position }: GroupInputProps) {
  return (
    <>
      {members.map(({ name, schema, isRequired }) => (
        <ValueInput
          {...position}
          key={name}
          label={name}
          schema={schema}
          isRequired={isRequired}
          value={ownMember(value, name)}
          onChange={(next) => {
            const { [name]: _old, ...rest } = value;
            onChange(next === undefined ? rest : { ...value, [name]: next });
          }}
        />
      ))}
    </>
  );
}

interface ValueInputProps extends SchemaPosition {
  readonly label: string;
  readonly schema: JsonObject;
  readonly isRequired: boolean;
  readonly value: unknown;
  readonly onChange: (value: unknown) => void;
}

/** The field for one value of a schema. */
function ValueInput({ label, schema, root, depth, isRequired, value, onChange }: ValueInputProps) {
  const id = useId();
  const field = toSchemaField(schema, root, depth);
  const hint = typeof schema['description'] === 'string' ? schema['description'] : undefined;
  const shared = { label, isRequired, hint };
  const inner = { root, depth: depth + 1 };
  switch (field.kind) {
    case 'group':
      return (
        <Field {...shared} isGroup>
          <GroupInput {...inner} members={field.members} value={asObject(value) ?? {}} onChange={onChange} />
        </Field>
      );
    case 'list':
      return (
        <Field {...shared} isGroup>
          <ListInput
            label={label}
            emptyItem={emptyValue(field.itemSchema, root, depth + 1)}
            values={Array.isArray(value) ? value : []}
            onChange={(next) => onChange(next.length === 0 && !isRequired ? undefined : next)}
          >
            {(item) => <ValueInput {...inner} {...item} schema={field.itemSchema} isRequired />}
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
