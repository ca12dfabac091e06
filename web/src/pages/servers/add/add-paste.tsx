import { useEffect, useId, useState } from 'preact/hooks';

import type {
  AdminAddServersResult,
  AdminAddServersInput,
} from '../../../../../src/admin/contract/contract.ts';
import { toProblem, type Problem } from '../../../api/problem.ts';
import { Button } from '../../../components/button.tsx';
import { Field } from '../../../components/form/field.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { pluralize } from '../../../lib/format.ts';
import { useStore } from '../../../store/use-store.ts';
import { TextInput } from '../entry/text-input.tsx';
import { AddResultList } from './add-result-list.tsx';

const DEBOUNCE_MS = 250;
const EXAMPLE = `{
  "mcpServers": {
    "memory": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"] }
  }
}`;

/** Adds the servers of a snippet from the settings of any client. Before that, shows what would happen to each server. */
export function AddPaste({ onClose }: { onClose: () => void }) {
  const { api, notices, status } = useStore();
  const [text, setText] = useState('');
  const [name, setName] = useState('');
  const [replace, setReplace] = useState(false);
  const [result, setResult] = useState<AdminAddServersResult>();
  const input = { text, replace, ...(name.trim() !== '' && { name: name.trim() }) };
  const { plan, problem } = usePlan(input);
  const add = async (): Promise<void> => {
    const added = await api.request('POST /api/servers', input);
    setResult(added);
    await status.load();
    const later = added.applied.state === 'later' ? ` ${added.applied.reason}` : '';
    notices.showMessage(`${pluralize(countAdded(added), 'server was', 'servers were')} added.${later}`);
  };
  if (result !== undefined) {
    return (
      <div class="form">
        <AddResultList added={result} />
        <div class="form-foot">
          <Button kind="main" onPress={onClose}>
            Done
          </Button>
        </div>
      </div>
    );
  }
  const addable = plan === undefined ? 0 : countAdded(plan);
  const hasRefused = plan?.results.some((server) => server.result === 'refused') === true;
  return (
    <div class="form">
      <SnippetField text={text} onChange={setText} />
      <TextInput label="Name, if the snippet has none" isCode value={name} onChange={setName} />
      {problem !== undefined && <ProblemNote problem={problem} />}
      {plan !== undefined && <AddResultList added={plan} />}
      {(replace || hasRefused) && (
        <label class="check small">
          <input
            type="checkbox"
            checked={replace}
            onChange={(event) => setReplace(event.currentTarget.checked)}
          />
          Replace servers with the same name
        </label>
      )}
      <div class="form-foot">
        <Button kind="main" isDisabled={addable === 0} onPress={add}>
          {addable === 0 ? 'Add' : `Add ${pluralize(addable, 'server')}`}
        </Button>
      </div>
    </div>
  );
}

function countAdded({ results }: AdminAddServersResult): number {
  return results.filter(({ result }) => result === 'added').length;
}

/** Asks the gateway what would happen to each server, without changing anything. */
function usePlan(input: AdminAddServersInput & { readonly text: string }) {
  const { api } = useStore();
  const [plan, setPlan] = useState<AdminAddServersResult>();
  const [problem, setProblem] = useState<Problem>();
  const inputJson = JSON.stringify(input);
  useEffect(() => {
    if (input.text.trim() === '') {
      setPlan(undefined);
      setProblem(undefined);
      return undefined;
    }
    const controller = new AbortController();
    const { signal } = controller;
    const load = async (): Promise<void> => {
      try {
        setPlan(await api.request('POST /api/servers', { ...input, dryRun: true }, { signal }));
        setProblem(undefined);
      } catch (error) {
        if (signal.aborted) return;
        setPlan(undefined);
        setProblem(toProblem(error));
      }
    };
    const timer = setTimeout(() => void load(), DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the JSON represents the input
  }, [api, inputJson]);
  return { plan, problem };
}

function SnippetField({ text, onChange }: { text: string; onChange: (text: string) => void }) {
  const id = useId();
  return (
    <Field
      label="Snippet"
      id={id}
      hint="From the settings of Claude, Cursor, VS Code, Zed, Codex or another client, as JSON with comments, YAML or TOML."
    >
      <textarea
        id={id}
        class="mono"
        aria-describedby={`${id}-hint`}
        rows={9}
        spellcheck={false}
        placeholder={EXAMPLE}
        value={text}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Field>
  );
}
