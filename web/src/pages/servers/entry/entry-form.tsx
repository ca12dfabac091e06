import { useId } from 'preact/hooks';

import { Field } from '../../../components/form/field.tsx';
import type { EntryFields } from './entry-fields.ts';
import { KeyValueInput } from './key-value-input.tsx';
import { RadioGroup } from './radio-group.tsx';
import { TextInput } from './text-input.tsx';

interface EntryFormProps {
  readonly fields: EntryFields;
  readonly onChange: (fields: EntryFields) => void;
}

interface FieldGroupProps {
  readonly fields: EntryFields;
  readonly set: (changes: Partial<EntryFields>) => void;
}

const SECRETS_HINT =
  'Instead of a secret, write ${env:NAME} for an environment variable of the gateway, ${file:PATH} for the content of a file, or ${keychain:NAME} for an entry of the keychain.';
const MASK_HINT = ' ••• stands for a hidden value; leave it to keep the value.';

/** The form for the configuration entry of a server. */
export function EntryForm({ fields, onChange }: EntryFormProps) {
  const set = (changes: Partial<EntryFields>): void => onChange({ ...fields, ...changes });
  return (
    <div class="form">
      <RadioGroup
        label="Connection"
        options={[
          ['program', 'A program on this machine'],
          ['url', 'A URL'],
        ]}
        value={fields.kind}
        onChange={(kind) => set({ kind: kind === 'program' ? 'program' : 'url' })}
      />
      {fields.kind === 'program' ? (
        <ProgramFields fields={fields} set={set} />
      ) : (
        <UrlFields fields={fields} set={set} />
      )}
      <TextInput
        label="Description"
        placeholder="What it is for, in a few words"
        value={fields.description}
        onChange={(description) => set({ description })}
      />
      <details class="more">
        <summary>More settings</summary>
        <MoreFields fields={fields} set={set} />
      </details>
    </div>
  );
}

function ProgramFields({ fields, set }: FieldGroupProps) {
  return (
    <>
      <TextInput
        label="Command"
        isRequired
        isCode
        placeholder="npx -y @modelcontextprotocol/server-filesystem ~/src"
        hint="The program and its arguments. No shell is used; quote arguments that contain spaces."
        value={fields.command}
        onChange={(command) => set({ command })}
      />
      <KeyValueInput
        label="Environment"
        itemName="variable"
        hint={SECRETS_HINT + maskHint(fields.env)}
        rows={fields.env}
        onChange={(env) => set({ env })}
      />
    </>
  );
}

function UrlFields({ fields, set }: FieldGroupProps) {
  return (
    <>
      <TextInput
        label="URL"
        isRequired
        isCode
        placeholder="https://example.com/mcp"
        value={fields.url}
        onChange={(url) => set({ url })}
      />
      <KeyValueInput
        label="Headers"
        itemName="header"
        hint={`${SECRETS_HINT} A server with a sign-in needs no headers.${maskHint(fields.headers)}`}
        rows={fields.headers}
        onChange={(headers) => set({ headers })}
      />
    </>
  );
}

function MoreFields({ fields, set }: FieldGroupProps) {
  const id = useId();
  return (
    <div class="form">
      {fields.kind === 'program' && (
        <TextInput
          label="Working folder"
          isCode
          hint="Relative to the configuration file."
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
          <option value="">default</option>
          <option value="all">all clients share one connection</option>
          <option value="session">every client session has its own connection</option>
          <option value="fleet">one gateway of the fleet runs it for all</option>
        </select>
      </Field>
      <Field label="Approvals" id={`${id}-trust`}>
        <select
          id={`${id}-trust`}
          value={fields.trust}
          onChange={(event) => set({ trust: event.currentTarget.value })}
        >
          <option value="">default</option>
          <option value="first-sight">first-sight: approve the first listing, hold changes</option>
          <option value="scan">scan: hold what the scanner finds suspicious</option>
          <option value="manual">manual: hold everything until a person approves it</option>
        </select>
      </Field>
    </div>
  );
}

function maskHint(rows: EntryFields['env']): string {
  return rows.some(([, value]) => value.includes('•••')) ? MASK_HINT : '';
}
