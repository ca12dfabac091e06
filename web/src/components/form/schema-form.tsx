import { listMembers, resolveReferences } from '../../lib/schema-field.ts';
import { GroupInput } from './value-input.tsx';
import { JsonInput } from './json-input.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

interface SchemaFormProps {
  /** The schema of an object, such as the `inputSchema` of a tool. It comes from a server and may be anything. */
  readonly schema: JsonObject;
  readonly value: JsonObject;
  readonly onChange: (value: JsonObject) => void;
}

/** A form for a JSON schema. Values without a simple field are entered as JSON, and empty optional fields are omitted. */
export function SchemaForm({ schema, value, onChange }: SchemaFormProps) {
  const resolved = resolveReferences(schema, schema);
  const members = listMembers(resolved, schema);
  if (members.length === 0) {
    const allowsAnyProperty =
      resolved['additionalProperties'] !== false && resolved['properties'] === undefined;
    return allowsAnyProperty ? (
      <JsonInput
        label="Arguments as JSON"
        value={value}
        onChange={(next) => onChange((next ?? {}) as JsonObject)}
      />
    ) : (
      <p class="soft">The tool takes no arguments.</p>
    );
  }
  return (
    <div class="form">
      <GroupInput members={members} root={schema} depth={0} value={value} onChange={onChange} />
    </div>
  );
}
