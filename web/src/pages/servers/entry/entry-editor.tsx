import { useState } from 'preact/hooks';

import type { AdminServerConfig } from '../../../../../src/admin/contract/contract.ts';
import type { Api } from '../../../api/api.ts';
import { toProblem, Problem } from '../../../api/problem.ts';
import { Button } from '../../../components/button.tsx';
import { JsonInput } from '../../../components/form/json-input.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { ResourceContent } from '../../../components/page/resource-content.tsx';
import { hasInvisible } from '../../../lib/escape-invisible.ts';
import { useResource } from '../../../store/use-resource.ts';
import { useStore } from '../../../store/use-store.ts';
import { reportChange } from '../run-server-action.ts';
import { diffEntries } from './diff-entries.ts';
import { toEntry, toFields, validateFields } from './entry-fields.ts';
import { EntryForm } from './entry-form.tsx';
import { EntryText } from './entry-text.tsx';
import { RadioGroup } from './radio-group.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

/** Edits the configuration entry of a server in a form or as JSON. */
export function EntryEditor({ name }: { name: string }) {
  const { api, config } = useStore();
  const [isJson, setJson] = useState(false);
  const resource = useResource(async () => api.request('GET /api/servers/:name/config', { name }), name);
  return (
    <ResourceContent resource={resource}>
      {(saved) => (
        <Editor
          key={saved.revision}
          saved={saved}
          isJson={isJson}
          onJson={setJson}
          isReadOnly={config.value.value?.readOnly === true}
          onSaved={async () => resource.load()}
        />
      )}
    </ResourceContent>
  );
}

interface EditorProps {
  readonly saved: AdminServerConfig;
  readonly isJson: boolean;
  readonly onJson: (isJson: boolean) => void;
  readonly isReadOnly: boolean;
  readonly onSaved: () => Promise<void>;
}

function Editor({ saved, isJson, onJson, isReadOnly, onSaved }: EditorProps) {
  const { name, entry } = saved;
  const [draft, setDraft] = useState<unknown>(entry);
  /** Increases with each undo, so that the inputs start again with the saved entry. */
  const [undoCount, setUndoCount] = useState(0);
  const draftEntry = isObject(draft) ? draft : undefined;
  const changes = draftEntry === undefined ? {} : diffEntries(entry, draftEntry);
  const { problem, setProblem, save } = useSave(saved, changes, onSaved);
  const changedKeys = Object.keys(changes);
  const validationProblem = validateDraft(draftEntry, isJson);
  const undo = (): void => {
    setDraft(entry);
    setUndoCount(undoCount + 1);
    setProblem(undefined);
  };
  return (
    <div class="entry frame">
      <RadioGroup
        label="Edit as"
        options={[
          ['form', 'Form'],
          ['json', 'JSON'],
        ]}
        value={isJson ? 'json' : 'form'}
        onChange={(format) => onJson(format === 'json')}
      />
      {isJson || draftEntry === undefined ? (
        <JsonInput
          key={`json ${undoCount}`}
          label={`Entry of ${name} as JSON`}
          value={draft}
          rows={18}
          onChange={setDraft}
        />
      ) : (
        <FieldsForm key={`form ${undoCount}`} entry={draftEntry} onChange={setDraft} />
      )}
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div class="entry-foot">
        <p class="small soft" aria-live="polite">
          {changedKeys.length === 0 ? 'No changes.' : `Changed: ${changedKeys.join(', ')}`}
          {validationProblem !== undefined && <span class="problem"> {validationProblem}</span>}
        </p>
        <Button isDisabled={changedKeys.length === 0} onPress={undo}>
          Undo
        </Button>
        <Button
          kind="main"
          isDisabled={isReadOnly || changedKeys.length === 0 || validationProblem !== undefined}
          onPress={save}
        >
          Save
        </Button>
      </div>
    </div>
  );
}

function validateDraft(draft: JsonObject | undefined, isJson: boolean): string | undefined {
  if (draft === undefined) return 'The entry must be an object.';
  return isJson ? undefined : validateFields(toFields(draft));
}

function useSave(saved: AdminServerConfig, changes: JsonObject, onSaved: () => Promise<void>) {
  const store = useStore();
  const { name } = saved;
  const [problem, setProblem] = useState<Problem>();
  const save = async (): Promise<void> => {
    try {
      const expected = await findRevision(saved, store.api);
      const response = await store.api.request('PATCH /api/servers/:name', { name, changes, expected });
      reportChange(response, `${name} was changed: ${response.changed.join(', ')}.`, store);
      setProblem(undefined);
      store.status.refresh();
      await onSaved();
    } catch (error) {
      setProblem(toProblem(error));
    }
  };
  return { problem, setProblem, save };
}

/** Returns the current revision of the file. Throws if this entry has changed since it was loaded; other parts may have changed. */
async function findRevision({ name, entry }: AdminServerConfig, { request }: Api): Promise<string> {
  const current = await request('GET /api/servers/:name/config', { name });
  if (JSON.stringify(current.entry) === JSON.stringify(entry)) return current.revision;
  throw new Problem({
    code: 'REVISION_CONFLICT',
    message: `The entry of ${name} was changed elsewhere; your changes were not saved.`,
    advice: 'Note your changes, then load the page again to see the current entry.',
  });
}

/** Keeps the fields as typed, because converting them to an entry and back would remove trailing spaces and empty rows while typing. */
function FieldsForm({ entry, onChange }: { entry: JsonObject; onChange: (entry: JsonObject) => void }) {
  const [base] = useState(entry);
  const [fields, setFields] = useState(() => toFields(base));
  const [isExpanded, setExpanded] = useState(false);
  return (
    <>
      <EntryForm
        fields={fields}
        onChange={(next) => {
          setFields(next);
          onChange(toEntry(next, base));
        }}
      />
      {hasInvisible(entry) && (
        <EntryText entry={entry} isExpanded={isExpanded} onExpand={() => setExpanded(true)} />
      )}
    </>
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
