import { useId } from 'preact/hooks';

import { Field } from '../../../parts/form/field.tsx';
import { Choice } from './choice.tsx';
import type { EntryFields } from './entry-fields.ts';
import { PairInput } from './pair-input.tsx';
import { TextInput } from './text-input.tsx';

interface EntryFormProps {
  readonly fields: EntryFields;
  readonly onChange: (fields: EntryFields) => void;
}

const VALUES =
  'Better than a secret itself: ${env:NAME} takes it from where the gateway was started, ${file:PATH} from a file, ${keychain:NAME} from the keychain.';
const MASKS = ' ••• stands for a value that is not shown; leave it to keep it.';

/** How a server is reached, and what is said about it. */
export function EntryForm({ fields, onChange }: EntryFormProps) {
  const id = useId();
  const set = (changes: Partial<EntryFields>): void => onChange({ ...fields, ...changes });
  const isProgram = fields.kind === 'program';
  return (
    <div class="form">
      <Choice
        label="Reached as"
        choices={[
          ['program', 'A program on this machine'],
          ['address', 'An address'],
        ]}
        value={fields.kind}
        onChange={(kind) => set({ kind: kind === 'program' ? 'program' : 'address' })}
      />
      {isProgram ? (
        <>
          <TextInput
            label="Command"
            isRequired
            isCode
            placeholder="npx -y @modelcontextprotocol/server-filesystem ~/src"
            hint="The program and its arguments; no shell is involved. Quote what holds blanks."
            value={fields.command}
            onChange={(command) => set({ command })}
          />
          <PairInput
            label="Environment"
            each="variable"
            hint={VALUES + masks(fields.env)}
            pairs={fields.env}
            onChange={(env) => set({ env })}
          />
        </>
      ) : (
        <>
          <TextInput
            label="Address"
            isRequired
            isCode
            placeholder="https://example.com/mcp"
            value={fields.url}
            onChange={(url) => set({ url })}
          />
          <PairInput
            label="Headers"
            each="header"
            hint={`${VALUES} A server with a sign-in needs none.${masks(fields.headers)}`}
            pairs={fields.headers}
            onChange={(headers) => set({ headers })}
          />
        </>
      )}
      <TextInput
        label="Description"
        placeholder="What it is for, in a few words"
        value={fields.description}
        onChange={(description) => set({ description })}
      />
      <details class="more">
        <summary>More</summary>
        <div class="form">
          {isProgram && (
            <TextInput
              label="Folder"
              isCode
              hint="Where it is run, relative to the configuration file."
              value={fields.cwd}
              onChange={(cwd) => set({ cwd })}
            />
          )}
          <Field label="Share" id={`${id}-share`}>
            <select
              id={`${id}-share`}
              value={fields.share}
              onChange={(event) => set({ share: event.currentTarget.value })}
            >
              <option value="">as usual</option>
              <option value="all">all clients use one connection</option>
              <option value="session">every client session has its own</option>
              <option value="fleet">one gateway of the fleet runs it for all</option>
            </select>
          </Field>
          <Field label="Approvals" id={`${id}-trust`}>
            <select
              id={`${id}-trust`}
              value={fields.trust}
              onChange={(event) => set({ trust: event.currentTarget.value })}
            >
              <option value="">as usual</option>
              <option value="first-sight">what is there at first is approved, changes are held</option>
              <option value="scan">held is what the scanner finds suspicious</option>
              <option value="manual">everything is held until a person approves it</option>
            </select>
          </Field>
        </div>
      </details>
    </div>
  );
}

function masks(pairs: EntryFields['env']): string {
  return pairs.some(([, value]) => value.includes('•••')) ? MASKS : '';
}
