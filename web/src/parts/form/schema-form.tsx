import { membersOf, resolved } from '../../lib/schema-field.ts';
import { GroupInput } from './value-input.tsx';
import { JsonInput } from './json-input.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

interface SchemaFormProps {
  /** Of an object, as a tool's `inputSchema`; comes from a server and may be anything. */
  readonly schema: JsonObject;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
}

/** A form made from a JSON schema; what has no simple field is written as JSON. Absent is what was left empty. */
export function SchemaForm({ schema, value, onChange }: SchemaFormProps) {
  const whole = resolved(schema, schema);
  const members = membersOf(whole, schema);
  if (members.length === 0) {
    const takesMore = whole['additionalProperties'] !== false && whole['properties'] === undefined;
    return takesMore ? (
      <JsonInput
        label="Arguments as JSON"
        value={value}
        onChange={(next) => onChange((next ?? {}) as JsonObject)}
      />
    ) : (
      <p class="soft">It takes no arguments.</p>
    );
  }
  return (
    <div class="form">
      <GroupInput members={members} root={schema} depth={0} value={value} onChange={onChange} />
    </div>
  );
}
