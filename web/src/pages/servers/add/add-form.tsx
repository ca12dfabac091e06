import { useState } from 'preact/hooks';

import { asProblem, Problem } from '../../../api/problem.ts';
import { Button } from '../../../parts/button.tsx';
import { ProblemNote } from '../../../parts/page/problem-note.tsx';
import { useStore } from '../../../store/use-store.ts';
import { serverPath } from '../act-on-server.ts';
import { entryOf, fieldsOf, fieldsProblem } from '../entry/entry-fields.ts';
import { EntryForm } from '../entry/entry-form.tsx';
import { TextInput } from '../entry/text-input.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

/** What the form begins with. */
export interface Draft {
  readonly name: string;
  readonly entry: JsonObject;
  /** What a person should know before it is added. */
  readonly remarks: readonly string[];
}

export function AddForm({ draft }: { draft: Draft }) {
  const store = useStore();
  const [name, setName] = useState(draft.name);
  const [fields, setFields] = useState(() => fieldsOf(draft.entry));
  const [problem, setProblem] = useState<Problem>();
  const wrong = name.trim() === '' ? 'Give it a name.' : fieldsProblem(fields);
  const add = async (): Promise<void> => {
    try {
      const wanted = name.trim();
      const entry = entryOf(fields, draft.entry);
      const { results, applied } = await store.api.ask('POST /api/servers', { servers: { [wanted]: entry } });
      const refused = results.find(({ result }) => result === 'refused');
      if (refused !== undefined)
        throw new Problem({
          message: `${refused.name} was not added: ${refused.reason ?? 'no reason was given'}.`,
        });
      store.notices.say(`${wanted} was added.${applied.state === 'later' ? ` ${applied.reason}` : ''}`);
      await store.status.load();
      store.router.go(serverPath(wanted));
    } catch (error) {
      setProblem(asProblem(error));
    }
  };
  return (
    // Enter presses its button, which is busy meanwhile.
    <form class="form" onSubmit={(event) => event.preventDefault()}>
      {draft.remarks.map((remark) => (
        <p key={remark} class="note warn">
          {remark}
        </p>
      ))}
      <TextInput
        label="Name"
        isRequired
        isCode
        placeholder="github"
        hint="Short; the names of its tools begin with it."
        value={name}
        onChange={setName}
      />
      <EntryForm fields={fields} onChange={setFields} />
      {problem !== undefined && <ProblemNote problem={problem} />}
      <div class="form-foot">
        <span class="small soft">{wrong}</span>
        <Button kind="main" type="submit" isDisabled={wrong !== undefined} onPress={add}>
          Add the server
        </Button>
      </div>
    </form>
  );
}
