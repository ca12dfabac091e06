import { useEffect, useState } from 'preact/hooks';

import type { AdminRegistryServer } from '../../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../../api/problem.ts';
import { visible } from '../../../lib/visible.ts';
import { Button } from '../../../parts/button.tsx';
import { ProblemNote } from '../../../parts/page/problem-note.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { useStore } from '../../../store/use-store.ts';
import { entryLines } from '../entry/entry-lines.ts';
import type { Draft } from './add-form.tsx';

const SETTLE_MS = 350;

interface AddRegistryProps {
  readonly onChoose: (draft: Draft) => void;
}

/** Servers of the MCP registry; what is chosen is looked at in the form before it is added. */
export function AddRegistry({ onChoose }: AddRegistryProps) {
  const { api } = useStore();
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<readonly AdminRegistryServer[]>();
  const [problem, setProblem] = useState<Problem>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    setProblem(undefined);
    if (query.trim() === '') return setFound(undefined);
    const stopping = new AbortController();
    const { signal } = stopping;
    const search = async (): Promise<void> => {
      setBusy(true);
      try {
        setFound(await api.ask('GET /api/registry', { q: query.trim() }, { signal }));
      } catch (error) {
        if (!signal.aborted) setProblem(asProblem(error));
      } finally {
        if (!signal.aborted) setBusy(false);
      }
    };
    const timer = setTimeout(() => void search(), SETTLE_MS);
    return () => {
      clearTimeout(timer);
      stopping.abort();
    };
  }, [query, api]);
  return (
    <div class="form">
      <SearchField label="Search the MCP registry" value={query} onChange={setQuery} />
      <p class="hidden-text" role="status">
        {isBusy ? 'Searching' : found === undefined ? '' : `${found.length} found`}
      </p>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {found === undefined && problem === undefined && (
        <p class="small soft">
          {isBusy
            ? 'Searching …'
            : 'The registry lists servers that anybody has published; look at who made one before you run it.'}
        </p>
      )}
      {found?.length === 0 && <p class="soft">The registry has nothing like this. Try other words.</p>}
      {found !== undefined && found.length > 0 && (
        <ul class="added" aria-label="Servers of the registry">
          {found.map((server) => (
            <Found key={server.name} server={server} onChoose={onChoose} />
          ))}
        </ul>
      )}
    </div>
  );
}

function Found({ server, onChoose }: AddRegistryProps & { readonly server: AdminRegistryServer }) {
  const { name, description, version, entry, needs, problem, repository } = server;
  return (
    <li class="found">
      <div>
        <p class="added-head">
          <b>{visible(name)}</b>
          <span class="faint small">{visible(version)}</span>
        </p>
        <p class="small soft">{visible(description)}</p>
        {entry !== undefined && <p class="small faint mono cut">{entryLines(entry)[0]}</p>}
        {repository !== undefined && <p class="small faint cut">{visible(repository)}</p>}
        {needs.length > 0 && (
          <p class="small remark">Needs {needs.map((need) => visible(need.name)).join(', ')}</p>
        )}
        {problem !== undefined && <p class="small problem">It cannot be added: {visible(problem)}</p>}
      </div>
      {entry !== undefined && (
        <Button isSmall label={`Add ${name}`} onPress={() => onChoose(draftOf(server))}>
          Add …
        </Button>
      )}
    </li>
  );
}

function draftOf({ name, entry = {}, needs }: AdminRegistryServer): Draft {
  const remarks = needs.map((need) => visible(`It needs ${need.name}: ${need.description}`));
  return { name: name.split('/').at(-1) ?? name, entry, remarks };
}
