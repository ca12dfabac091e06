import { useEffect, useState } from 'preact/hooks';

import type { AdminRegistryServer } from '../../../../../src/admin/contract/contract.ts';
import { toProblem, type Problem } from '../../../api/problem.ts';
import { Button } from '../../../components/button.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { SearchField } from '../../../components/search-field.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { useStore } from '../../../store/use-store.ts';
import { summarizeEntry } from '../entry/summarize-entry.ts';
import type { ServerDraft } from './add-form.tsx';

const DEBOUNCE_MS = 350;

interface AddRegistryProps {
  readonly onSelect: (draft: ServerDraft) => void;
}

/** Searches the MCP registry. A selected server is shown in the form before it is added. */
export function AddRegistry({ onSelect }: AddRegistryProps) {
  const [query, setQuery] = useState('');
  const { servers, problem, isSearching } = useRegistrySearch(query.trim());
  return (
    <div class="form">
      <SearchField label="Search the MCP registry" value={query} onChange={setQuery} />
      <p class="hidden-text" role="status">
        {isSearching ? 'Searching' : servers === undefined ? '' : `${servers.length} found`}
      </p>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {servers === undefined && problem === undefined && (
        <p class="small soft">
          {isSearching
            ? 'Searching …'
            : 'Anyone can publish to the registry. Check who published a server before you run it.'}
        </p>
      )}
      {servers?.length === 0 && <p class="soft">No server matches. Try other words.</p>}
      {servers !== undefined && servers.length > 0 && (
        <ul class="add-results" aria-label="Servers of the registry">
          {servers.map((server) => (
            <RegistryResult key={server.name} server={server} onSelect={onSelect} />
          ))}
        </ul>
      )}
    </div>
  );
}

function useRegistrySearch(query: string) {
  const { api } = useStore();
  const [servers, setServers] = useState<readonly AdminRegistryServer[]>();
  const [problem, setProblem] = useState<Problem>();
  const [isSearching, setSearching] = useState(false);
  useEffect(() => {
    setProblem(undefined);
    if (query === '') return setServers(undefined);
    const controller = new AbortController();
    const { signal } = controller;
    const search = async (): Promise<void> => {
      setSearching(true);
      try {
        setServers(await api.request('GET /api/registry', { q: query }, { signal }));
      } catch (error) {
        if (!signal.aborted) setProblem(toProblem(error));
      } finally {
        if (!signal.aborted) setSearching(false);
      }
    };
    const timer = setTimeout(() => void search(), DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query, api]);
  return { servers, problem, isSearching };
}

function RegistryResult({ server, onSelect }: AddRegistryProps & { readonly server: AdminRegistryServer }) {
  const { name, description, version, entry, needs, problem, repository } = server;
  return (
    <li class="found">
      <div>
        <p class="add-result-head">
          <b>{escapeInvisible(name)}</b>
          <span class="faint small">{escapeInvisible(version)}</span>
        </p>
        <p class="small soft">{escapeInvisible(description)}</p>
        {entry !== undefined && <p class="small faint mono truncated">{summarizeEntry(entry)[0]}</p>}
        {repository !== undefined && <p class="small faint truncated">{escapeInvisible(repository)}</p>}
        {needs.length > 0 && (
          <p class="small remark">
            Requires {needs.map((variable) => escapeInvisible(variable.name)).join(', ')}
          </p>
        )}
        {problem !== undefined && <p class="small problem">Cannot be added: {escapeInvisible(problem)}</p>}
      </div>
      {entry !== undefined && (
        <Button isSmall label={`Add ${name}`} onPress={() => onSelect(toDraft(server))}>
          Add …
        </Button>
      )}
    </li>
  );
}

function toDraft({ name, entry = {}, needs }: AdminRegistryServer): ServerDraft {
  const remarks = needs.map((variable) =>
    escapeInvisible(`Requires ${variable.name}: ${variable.description}`),
  );
  return { name: name.split('/').at(-1) ?? name, entry, remarks };
}
