import { useEffect, useId, useState } from 'preact/hooks';

import type { AdminAddedServers } from '../../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../../api/problem.ts';
import { plural } from '../../../lib/format.ts';
import { Button } from '../../../parts/button.tsx';
import { Field } from '../../../parts/form/field.tsx';
import { ProblemNote } from '../../../parts/page/problem-note.tsx';
import { useStore } from '../../../store/use-store.ts';
import { TextInput } from '../entry/text-input.tsx';
import { AddedList } from './added-list.tsx';

const SETTLE_MS = 250;
const EXAMPLE = `{
  "mcpServers": {
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] }
  }
}`;

/** A snippet of any client's settings; each server in it is shown with what would become of it before anything is added. */
export function AddPaste({ onClose }: { onClose: () => void }) {
  const { api, notices, status } = useStore();
  const id = useId();
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  const [replace, setReplace] = useState(false);
  const [plan, setPlan] = useState<AdminAddedServers>();
  const [problem, setProblem] = useState<Problem>();
  const given = { text, replace, ...(name.trim() !== '' && { name: name.trim() }) };
  const isDone = plan?.dryRun === false;
  useEffect(() => {
    if (isDone) return undefined;
    if (text.trim() === '') {
      setPlan(undefined);
      setProblem(undefined);
      return undefined;
    }
    const stopping = new AbortController();
    const look = async (): Promise<void> => {
      try {
        const { signal } = stopping;
        const planned = await api.ask('POST /api/servers', { ...given, dryRun: true }, { signal });
        setPlan(planned);
        setProblem(undefined);
      } catch (error) {
        if (stopping.signal.aborted) return;
        setPlan(undefined);
        setProblem(asProblem(error));
      }
    };
    const timer = setTimeout(() => void look(), SETTLE_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- what is given is made of these
  }, [text, name, replace, isDone]);
  const addable = plan?.results.filter(({ result }) => result === 'added').length ?? 0;
  const add = async (): Promise<void> => {
    const added = await api.ask('POST /api/servers', given);
    setPlan(added);
    await status.load();
    const many = added.results.filter(({ result }) => result === 'added').length;
    const later = added.applied.state === 'later' ? ` ${added.applied.reason}` : '';
    notices.say(`${plural(many, 'server was', 'servers were')} added.${later}`);
  };
  return (
    <div class="form">
      {!isDone && (
        <>
          <Field
            label="Snippet"
            id={id}
            hint="From the settings of Claude, Cursor, VS Code, Zed, Codex or another client: JSON with comments, YAML or TOML."
          >
            <textarea
              id={id}
              class="mono"
              aria-describedby={`${id}-hint`}
              rows={9}
              spellcheck={false}
              placeholder={EXAMPLE}
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </Field>
          <TextInput label="Name, where the snippet has none" isCode value={name} onChange={setName} />
        </>
      )}
      {problem !== undefined && <ProblemNote problem={problem} />}
      {plan !== undefined && <AddedList added={plan} />}
      {!isDone && (replace || plan?.results.some(({ result }) => result === 'refused') === true) && (
        <label class="check small">
          <input
            type="checkbox"
            checked={replace}
            onChange={(event) => setReplace(event.currentTarget.checked)}
          />
          Replace servers that have the same name
        </label>
      )}
      <div class="form-foot">
        {isDone ? (
          <Button kind="main" onPress={onClose}>
            Done
          </Button>
        ) : (
          <Button kind="main" isDisabled={addable === 0} onPress={add}>
            {addable === 0 ? 'Add' : `Add ${plural(addable, 'server')}`}
          </Button>
        )}
      </div>
    </div>
  );
}
