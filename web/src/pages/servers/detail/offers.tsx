import { useEffect, useState } from 'preact/hooks';

import type { AdminServer } from '../../../../../src/admin/contract/contract.ts';
import { count } from '../../../lib/format.ts';
import { visible } from '../../../lib/visible.ts';
import { EmptyState } from '../../../parts/page/empty-state.tsx';
import { Loaded } from '../../../parts/page/loaded.tsx';
import { Section } from '../../../parts/page/section.tsx';
import { SearchField } from '../../../parts/search-field.tsx';
import { useAsked } from '../../../store/use-asked.ts';
import { useStore } from '../../../store/use-store.ts';
import { offered, type Offered } from './offered.ts';

const MANY = 12;
/** More than these are found by searching. */
const MOST = 300;

/** Everything that a server offered when it was last listed, as clients see it. */
export function Offers({ server: { name, listedAt } }: { server: AdminServer }) {
  const { api, hear } = useStore();
  const [query, setQuery] = useState('');
  const asked = useAsked(async () => offered(api, name), name);
  useEffect(() => asked.refresh(), [asked, listedAt]);
  useEffect(() => hear(({ event }) => event === 'catalog' && asked.refresh()), [asked, hear]);
  return (
    <Loaded from={asked}>
      {(groups) => {
        const total = groups.reduce((sum, { entries }) => sum + entries.length, 0);
        if (total === 0) {
          return (
            <EmptyState title={listedAt === undefined ? 'It was never listed' : 'It offers nothing'}>
              <p>What it offers is known when it was reached once. Try: List again.</p>
            </EmptyState>
          );
        }
        return (
          <div class="offers">
            {total > MANY && (
              <SearchField
                label={`Search what ${name} offers`}
                value={query}
                onChange={setQuery}
                hasShortcut
              />
            )}
            {groups.map((group) => (
              <Group key={group.title} group={group} query={query} server={name} />
            ))}
          </div>
        );
      }}
    </Loaded>
  );
}

function Group({ group, query, server }: { group: Offered; query: string; server: string }) {
  const { title, entries } = group;
  const wanted = query.trim().toLowerCase();
  const found = entries.filter(({ name, text }) => `${name} ${text}`.toLowerCase().includes(wanted));
  if (entries.length === 0) return null;
  return (
    <Section
      title={title}
      aside={wanted === '' ? count(entries.length) : `${count(found.length)} of ${count(entries.length)}`}
    >
      {found.length === 0 ? (
        <p class="soft small">None of them is like this.</p>
      ) : (
        <ul class="frame offer-list">
          {found.slice(0, MOST).map(({ name, text, isTool }) => (
            <li key={name}>
              {isTool ? (
                <a href={`/tools?tool=${encodeURIComponent(name)}&server=${encodeURIComponent(server)}`}>
                  <code>{visible(name)}</code>
                </a>
              ) : (
                <code>{visible(name)}</code>
              )}
              <span class="soft small">{text}</span>
            </li>
          ))}
        </ul>
      )}
      {found.length > MOST && (
        <p class="small faint">{count(found.length - MOST)} more; search to find them.</p>
      )}
    </Section>
  );
}
