import { fieldOf, membersOf, resolved, type Field, type Member } from '../../../lib/schema-field.ts';
import { visible } from '../../../lib/visible.ts';
import { Badge } from '../../../parts/badge.tsx';

type Schema = Readonly<Record<string, unknown>>;

interface SchemaViewProps {
  readonly schema: Schema;
  /** Said where it names no members. */
  readonly empty: string;
}

/** Deeper than this, the definition itself says it better. */
const DEEPEST = 4;

/** A schema for people: names, kinds and what is said of them, the required ones first. */
export function SchemaView({ schema, empty }: SchemaViewProps) {
  const members = membersOf(resolved(schema, schema), schema);
  if (members.length === 0) return <p class="soft">{empty}</p>;
  return <Members members={members} root={schema} depth={0} />;
}

interface MembersProps {
  readonly members: readonly Member[];
  readonly root: Schema;
  readonly depth: number;
}

function Members({ members, root, depth }: MembersProps) {
  return (
    <dl class="schema">
      {members.map(({ name, schema, isRequired }) => {
        const inner = depth < DEEPEST ? innerMembers(schema, root) : [];
        return (
          <div key={name}>
            <dt>
              <code>{visible(name)}</code>
              <span class="faint">{visible(kindOf(schema, root))}</span>
              {isRequired && <Badge kind="accent">required</Badge>}
            </dt>
            <dd>
              {typeof schema['description'] === 'string' && <p>{visible(schema['description'])}</p>}
              <p class="faint">{visible(limitsOf(schema).join(' · '))}</p>
              {inner.length > 0 && <Members members={inner} root={root} depth={depth + 1} />}
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function innerMembers(schema: Schema, root: Schema): readonly Member[] {
  const field = fieldOf(schema, root);
  if (field.kind === 'group') return field.members;
  return field.kind === 'list' ? membersOf(field.of, root) : [];
}

const words: Readonly<Record<Field['kind'], string>> = {
  text: 'text',
  choice: 'one of',
  number: 'number',
  switch: 'yes or no',
  list: 'list',
  group: 'object',
  json: 'any JSON',
};

function kindOf(schema: Schema, root: Schema): string {
  const field = fieldOf(schema, root);
  if (field.kind === 'choice') return field.choices.map((choice) => JSON.stringify(choice)).join(', ');
  if (field.kind === 'number' && field.isWhole) return 'whole number';
  if (field.kind === 'list') return `list of ${kindOf(field.of, root)}`;
  return words[field.kind];
}

const limits: Readonly<Record<string, string>> = {
  default: 'unless told',
  format: 'as',
  pattern: 'fits',
  minimum: 'at least',
  maximum: 'at most',
  minLength: 'shortest',
  maxLength: 'longest',
  minItems: 'fewest',
  maxItems: 'most',
};

function limitsOf(schema: Schema): readonly string[] {
  return Object.entries(limits).flatMap(([key, word]) =>
    key in schema ? [`${word} ${JSON.stringify(schema[key])}`] : [],
  );
}
