import { useMemo, useState } from 'preact/hooks';

import { toProblem, Problem } from '../../../api/problem.ts';
import { Button } from '../../../components/button.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { isCutAtFirst } from '../../../lib/format-definition.ts';
import { useStore } from '../../../store/use-store.ts';
import { toEntry, toFields, validateFields } from '../entry/entry-fields.ts';
import { EntryForm } from '../entry/entry-form.tsx';
import { EntryText } from '../entry/entry-text.tsx';
import { TextInput } from '../entry/text-input.tsx';
import { serverUrl } from '../run-server-action.ts';

/** The initial values of the form. */
export interface ServerDraft {
  readonly name: string;
  readonly entry: Readonly<Record<string, unknown>>;
  /** Remarks that the user should read before adding the server. */
  readonly remarks: readonly string[];
}

export function AddForm({ draft }: { draft: ServerDraft }) {
  const store = useStore();
  const [nameText, setNameText] = useState(draft.name);
  const [fields, setFields] = useState(() => toFields(draft.entry));
  const [problem, setProblem] = useState<Problem>();
  const name = nameText.trim();
  const entry = useMemo(() => toEntry(fields, draft.entry), [fields, draft]);
  // An entry that somebody else wrote is shown whole before it can be added.
  const isForeign = Object.keys(draft.entry).length > 0;
  const [isExpanded, setExpanded] = useState(false);
  const isShownWhole = useMemo(
    () => !isForeign || isExpanded || !isCutAtFirst(entry),
    [isForeign, isExpanded, entry],
  );
  const validationProblem =
    name === ''
      ? 'Enter a name.'
      : (validateFields(fields) ??
        (isShownWhole ? undefined : 'Show the whole entry before you add the server.'));
  const add = async (): Promise<void> => {
    try {
      const servers = { [name]: entry };
      const { results, applied } = await store.api.request('POST /api/servers', { servers });
      const refused = results.find(({ result }) => result === 'refused');
      if (refused !== undefined)
        throw new Problem({
          message: `${refused.name} was not added: ${refused.reason ?? 'the gateway gave no reason'}.`,
        });
      store.notices.showMessage(`${name} was added.${applied.state === 'later' ? ` ${applied.reason}` : ''}`);
      await store.status.load();
      store.router.go(serverUrl(name));
    } catch (error) {
      setProblem(toProblem(error));
    }
  };
  return (
    // Enter clicks the submit button, whose `onPress` adds the server, so nothing is submitted here.
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      {draft.remarks.length > 0 && (
        <div class="note warn">
          <div class="remarks">
            {draft.remarks.map((remark) => (
              <p key={remark}>{remark}</p>
            ))}
          </div>
        </div>
      )}
      {isForeign && <EntryText entry={entry} isExpanded={isExpanded} onExpand={() => setExpanded(true)} />}
      <TextInput
        label="Name"
        isRequired
        isCode
        placeholder="github"
        hint="A short name. The names of its tools begin with it."
        value={nameText}
        onChange={setNameText}
      />
      <EntryForm fields={fields} onChange={setFields} />
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div class="form-foot">
        <span class="small soft">{validationProblem}</span>
        <Button kind="main" type="submit" isDisabled={validationProblem !== undefined} onPress={add}>
          Add the server
        </Button>
      </div>
    </form>
  );
}
