import { Badge } from '../../../components/badge.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import {
  listMembers,
  resolveReferences,
  toSchemaField,
  type SchemaField,
  type SchemaMember,
} from '../../../lib/schema-field.ts';

type Schema = Readonly<Record<string, unknown>>;

interface SchemaViewProps {
  readonly schema: Schema;
  /** Shown if the schema has no members. */
  readonly emptyText: string;
}

/** The maximum nesting of members in this view. Deeper members are shown only in the tab with the definition. */
const MAX_DEPTH = 4;

/** Shows the members of a schema with their types and descriptions, the required ones first. */
export function SchemaView({ schema, emptyText }: SchemaViewProps) {
  const members = listMembers(resolveReferences(schema, schema), schema);
  if (members.length === 0) return <p class="soft">{emptyText}</p>;
  return <Members members={members} root={schema} depth={0} />;
}

interface MembersProps {
  readonly members: readonly SchemaMember[];
  readonly root: Schema;
  readonly depth: number;
}

function Members({ members, root, depth }: MembersProps) {
  return (
    <dl class="schema">
      {members.map(({ name, schema, isRequired }) => {
        const inner = depth < MAX_DEPTH ? innerMembers(schema, root) : [];
        return (
          <div key={name}>
            <dt>
              <code>{escapeInvisible(name)}</code>
              <span class="faint">{escapeInvisible(describeType(schema, root))}</span>
              {isRequired && <Badge kind="accent">required</Badge>}
            </dt>
            <dd>
              {typeof schema['description'] === 'string' && <p>{escapeInvisible(schema['description'])}</p>}
              <p class="faint">{escapeInvisible(describeConstraints(schema).join(' · '))}</p>
              {inner.length > 0 && <Members members={inner} root={root} depth={depth + 1} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function innerMembers(schema: Schema, root: Schema): readonly SchemaMember[] {
  const field = toSchemaField(schema, root);
  if (field.kind === 'group') return field.members;
  return field.kind === 'list' ? listMembers(field.itemSchema, root) : [];
}

const typeLabels: Readonly<Record<SchemaField['kind'], string>> = {
  text: 'text',
  choice: 'one of',
  number: 'number',
  boolean: 'true or false',
  list: 'list',
  group: 'object',
  json: 'any JSON',
};

function describeType(schema: Schema, root: Schema): string {
  const field = toSchemaField(schema, root);
  if (field.kind === 'choice') return field.choices.map((choice) => JSON.stringify(choice)).join(', ');
  if (field.kind === 'number' && field.isInteger) return 'whole number';
  if (field.kind === 'list') return `list of ${describeType(field.itemSchema, root)}`;
  return typeLabels[field.kind];
}

const constraintLabels: Readonly<Record<string, string>> = {
  default: 'default',
  format: 'format',
  pattern: 'pattern',
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'minimum length',
  maxLength: 'maximum length',
  minItems: 'minimum items',
  maxItems: 'maximum items',
};

function describeConstraints(schema: Schema): readonly string[] {
  return Object.entries(constraintLabels).flatMap(([key, label]) =>
    key in schema ? [`${label} ${JSON.stringify(schema[key])}`] : [],
  );
}
