import { useEffect, useState } from 'preact/hooks';

import type { AdminServer } from '../../../../../src/admin/contract/contract.ts';
import { EmptyState } from '../../../components/page/empty-state.tsx';
import { ResourceContent } from '../../../components/page/resource-content.tsx';
import { Section } from '../../../components/page/section.tsx';
import { SearchField } from '../../../components/search-field.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { formatCount } from '../../../lib/format.ts';
import { useResource } from '../../../store/use-resource.ts';
import { useStore } from '../../../store/use-store.ts';
import { loadEntries, type EntryGroup } from './load-entries.ts';

/** The maximum number of entries without a search field. */
const MAX_WITHOUT_SEARCH = 12;
/** The maximum number of entries that are shown per group. The user finds the others by searching. */
const MAX_ENTRIES = 300;

/** Lists the tools, prompts and resources of the last listing of a server, as clients see them. */
export function ServerEntries({ server: { name, listedAt } }: { server: AdminServer }) {
  const { api, subscribe } = useStore();
  const [query, setQuery] = useState('');
  const resource = useResource(async () => loadEntries(api, name), name);
  useEffect(() => resource.refresh(), [resource, listedAt]);
  useEffect(() => subscribe(({ event }) => event === 'catalog' && resource.refresh()), [resource, subscribe]);
  return (
    <ResourceContent resource={resource}>
      {(groups) => {
        const total = groups.reduce((sum, { entries }) => sum + entries.length, 0);
        if (total === 0) {
          return (
            <EmptyState title={listedAt === undefined ? 'Not listed yet' : 'The server offers nothing'}>
              <p>The entries are known after the server was reached once. Try Refresh.</p>
            </EmptyState>
          );
        }
        return (
          <div class="server-entries">
            {total > MAX_WITHOUT_SEARCH && (
              <SearchField
                label={`Search the entries of ${name}`}
                value={query}
                onChange={setQuery}
                hasShortcut
              />
            )}
            {groups.map((group) => (
              <GroupSection key={group.title} group={group} query={query} server={name} />
            ))}
          </div>
        );
      }}
    </ResourceContent>
  );
}

function GroupSection({ group, query, server }: { group: EntryGroup; query: string; server: string }) {
  const { title, entries } = group;
  if (entries.length === 0) return null;
  const searchText = query.trim().toLowerCase();
  const matches = entries.filter(({ name, text }) => `${name} ${text}`.toLowerCase().includes(searchText));
  const total = formatCount(entries.length);
  return (
    <Section title={title} aside={searchText === '' ? total : `${formatCount(matches.length)} of ${total}`}>
      {matches.length === 0 ? (
        <p class="soft small">No match.</p>
      ) : (
        <ul class="frame entry-list">
          {matches.slice(0, MAX_ENTRIES).map(({ name, text, isTool }) => (
            <li key={name}>
              {isTool ? (
                <a href={`/tools?tool=${encodeURIComponent(name)}&server=${encodeURIComponent(server)}`}>
                  <code>{escapeInvisible(name)}</code>
                </a>
              ) : (
                <code>{escapeInvisible(name)}</code>
              )}
              <span class="soft small">{text}</span>
            </li>
          ))}
        </ul>
      )}
      {matches.length > MAX_ENTRIES && (
        <p class="small faint">{formatCount(matches.length - MAX_ENTRIES)} more; search to find them.</p>
      )}
    </Section>
  );
}
