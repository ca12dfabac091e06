import { useState } from 'preact/hooks';

import type { AdminServerConfig } from '../../../../../src/admin/contract/contract.ts';
import type { Api } from '../../../api/api.ts';
import { asProblem, Problem } from '../../../api/problem.ts';
import { Button } from '../../../parts/button.tsx';
import { JsonInput } from '../../../parts/form/json-input.tsx';
import { Loaded } from '../../../parts/page/loaded.tsx';
import { ProblemNote } from '../../../parts/page/problem-note.tsx';
import { useAsked } from '../../../store/use-asked.ts';
import { useStore } from '../../../store/use-store.ts';
import { changed } from '../act-on-server.ts';
import { changesBetween } from './changes-between.ts';
import { Choice } from './choice.tsx';
import { entryOf, fieldsOf, fieldsProblem } from './entry-fields.ts';
import { EntryForm } from './entry-form.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

/** What is written of a server, to be changed in a form or as it stands in the file. */
export function EntryEditor({ name }: { name: string }) {
  const { api, config } = useStore();
  const [isRaw, setRaw] = useState(false);
  const asked = useAsked(async () => api.ask('GET /api/servers/:name/config', { name }), name);
  return (
    <Loaded from={asked}>
      {(shown) => (
        <Editor
          key={shown.revision}
          shown={shown}
          isRaw={isRaw}
          onRaw={setRaw}
          isReadOnly={config.value.value?.readOnly === true}
          onSaved={async () => asked.load()}
        />
      )}
    </Loaded>
  );
}

interface EditorProps {
  readonly shown: AdminServerConfig;
  readonly isRaw: boolean;
  readonly onRaw: (isRaw: boolean) => void;
  readonly isReadOnly: boolean;
  readonly onSaved: () => Promise<void>;
}

function Editor({ shown, isRaw, onRaw, isReadOnly, onSaved }: EditorProps) {
  const store = useStore();
  const { name, entry } = shown;
  const [next, setNext] = useState<unknown>(entry);
  const [problem, setProblem] = useState<Problem>();
  /** Fields begin anew with it. */
  const [turn, setTurn] = useState(0);
  const written = isEntry(next) ? next : undefined;
  const changes = written === undefined ? {} : changesBetween(entry, written);
  const keys = Object.keys(changes);
  const wrong =
    written === undefined ? 'An entry is an object.' : isRaw ? undefined : fieldsProblem(fieldsOf(written));
  const save = async (): Promise<void> => {
    try {
      const expected = await unchangedRevision(shown, store.api);
      const answer = await store.api.ask('PATCH /api/servers/:name', { name, changes, expected });
      changed(answer, `${name} was changed: ${answer.changed.join(', ')}.`, store);
      setProblem(undefined);
      store.status.refresh();
      await onSaved();
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  const undo = (): void => {
    setNext(entry);
    setTurn(turn + 1);
    setProblem(undefined);
  };
  return (
    <div class="entry frame">
      <Choice
        label="Show as"
        choices={[
          ['form', 'Form'],
          ['raw', 'As in the file'],
        ]}
        value={isRaw ? 'raw' : 'form'}
        onChange={(way) => onRaw(way === 'raw')}
      />
      {isRaw || written === undefined ? (
        <JsonInput
          key={`raw ${turn}`}
          label={`Entry of ${name} as JSON`}
          value={next}
          rows={18}
          onChange={setNext}
        />
      ) : (
        <FormOf key={`form ${turn}`} entry={written} onChange={setNext} />
      )}
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div class="entry-foot">
        <p class="small soft" aria-live="polite">
          {keys.length === 0 ? 'Nothing is changed.' : `Changed: ${keys.join(', ')}`}
          {wrong !== undefined && <span class="problem"> {wrong}</span>}
        </p>
        <Button isDisabled={keys.length === 0} onPress={undo}>
          Undo
        </Button>
        <Button
          kind="main"
          isDisabled={isReadOnly || keys.length === 0 || wrong !== undefined}
          onPress={save}
        >
          Save
        </Button>
      </div>
    </div>
  );
}

/** Keeps what is typed as it is typed: an entry forgets blanks and rows that are still empty. */
function FormOf({ entry, onChange }: { entry: JsonObject; onChange: (entry: JsonObject) => void }) {
  const [base] = useState(entry);
  const [fields, setFields] = useState(() => fieldsOf(base));
  return (
    <EntryForm
      fields={fields}
      onChange={(next) => {
        setFields(next);
        onChange(entryOf(next, base));
      }}
    />
  );
}

/** The file may be another one meanwhile, as long as this entry is what was looked at. */
async function unchangedRevision({ name, entry }: AdminServerConfig, { ask }: Api): Promise<string> {
  const now = await ask('GET /api/servers/:name/config', { name });
  if (JSON.stringify(now.entry) === JSON.stringify(entry)) return now.revision;
  throw new Problem({
    code: 'REVISION_CONFLICT',
    message: `The entry of ${name} was changed elsewhere meanwhile; yours was not saved.`,
    advice: 'Note what you wanted to change, then look at the entry as it is now.',
  });
}

function isEntry(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
