import { useEffect, useMemo, useState } from 'preact/hooks';

import type {
  AdminKey,
  AdminProfile,
  AdminSeenTool,
  AdminView,
} from '../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../api/problem.ts';
import { plural } from '../../lib/format.ts';
import { visible } from '../../lib/visible.ts';
import { Badge } from '../../parts/badge.tsx';
import type { Column } from '../../parts/data/column.ts';
import { Table } from '../../parts/data/table.tsx';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { ProblemNote } from '../../parts/page/problem-note.tsx';
import { SearchField } from '../../parts/search-field.tsx';
import { useStore } from '../../store/use-store.ts';

interface CallerViewProps {
  readonly keys: readonly AdminKey[];
  readonly profiles: readonly AdminProfile[];
}

/** What a key or a profile shows of everything, and which rule says so. */
export function CallerView({ keys, profiles }: CallerViewProps) {
  const { api } = useStore();
  const [who, setWho] = useState('');
  const [words, setWords] = useState('');
  const [view, setView] = useState<AdminView>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    const asking = new AbortController();
    api.ask('GET /api/view', whoIs(who), { signal: asking.signal }).then(
      (answer) => {
        setView({ ...answer, tools: answer.tools.toSorted(bySeen) });
        setProblem(undefined);
      },
      (error: unknown) => !asking.signal.aborted && setProblem(asProblem(error)),
    );
    return () => asking.abort();
  }, [api, who, keys, profiles]);
  const found = useMemo(() => {
    const wanted = words.toLowerCase();
    return view?.tools.filter(({ name }) => name.toLowerCase().includes(wanted)) ?? [];
  }, [view, words]);
  return (
    <>
      <div class="toolbar">
        <select aria-label="Who" value={who} onChange={(event) => setWho(event.currentTarget.value)}>
          <option value="">You, at this machine</option>
          {keys.map(({ name }) => (
            <option key={`key ${name}`} value={`key ${name}`}>
              Key {name}
            </option>
          ))}
          {profiles.map(({ name }) => (
            <option key={`profile ${name}`} value={`profile ${name}`}>
              Profile {name}
            </option>
          ))}
        </select>
        <SearchField label="Search by name" value={words} onChange={setWords} />
        <p class="small soft number summary">{view && summary(view)}</p>
      </div>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {view !== undefined && (
        <Table
          label="What this caller would see"
          rows={found}
          columns={columns}
          keyOf={({ name }) => name}
          scope={`${who} ${words}`}
          maxHeight="50dvh"
          empty={
            <EmptyState title="No such tool">
              <p>Nothing there has this name, seen or not.</p>
            </EmptyState>
          }
        />
      )}
    </>
  );
}

/** What is seen comes first. */
function bySeen(a: AdminSeenTool, b: AdminSeenTool): number {
  return order.indexOf(a.verdict) - order.indexOf(b.verdict);
}

function whoIs(who: string): { key?: string; profile?: string } {
  const [kind = '', ...rest] = who.split(' ');
  const name = rest.join(' ');
  if (kind === 'key') return { key: name };
  return kind === 'profile' ? { profile: name } : {};
}

const order: readonly AdminSeenTool['verdict'][] = ['allow', 'ask', 'held', 'hide'];

const looks = {
  allow: { kind: 'good', word: 'sees' },
  ask: { kind: 'warn', word: 'asks you' },
  hide: { kind: 'plain', word: 'hidden' },
  held: { kind: 'warn', word: 'held' },
} as const;

const columns: readonly Column<AdminSeenTool>[] = [
  {
    name: 'verdict',
    title: 'Verdict',
    width: '90px',
    cell: ({ verdict }) => <Badge kind={looks[verdict].kind}>{looks[verdict].word}</Badge>,
    sort: ({ verdict, name }) => `${verdict} ${name}`,
  },
  {
    name: 'tool',
    title: 'Tool',
    width: 'minmax(0, 1fr)',
    cell: ({ name }) => (
      <a class="tool-name mono" href={`/tools?tool=${encodeURIComponent(name)}`}>
        {visible(name)}
      </a>
    ),
    sort: ({ name }) => name,
  },
  {
    name: 'rule',
    title: 'Because of',
    width: 'minmax(0, 1fr)',
    isWideOnly: true,
    cell: ({ rule, message }) => <span class="faint">{visible(message ?? rule)}</span>,
    sort: ({ rule }) => rule,
  },
];

function summary({ tools }: AdminView): string {
  const seen = tools.filter(({ verdict }) => verdict === 'allow' || verdict === 'ask').length;
  return `${plural(seen, 'tool')} of ${tools.length} seen`;
}
