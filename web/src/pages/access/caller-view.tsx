import { useEffect, useMemo, useState } from 'preact/hooks';

import type {
  AdminKey,
  AdminProfile,
  AdminToolDecision,
  AdminCallerView,
} from '../../../../src/admin/contract/contract.ts';
import { toProblem, type Problem } from '../../api/problem.ts';
import { Badge } from '../../components/badge.tsx';
import type { Column } from '../../components/data/column.ts';
import { Table } from '../../components/data/table.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { ProblemNote } from '../../components/page/problem-note.tsx';
import { SearchField } from '../../components/search-field.tsx';
import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { pluralize } from '../../lib/format.ts';
import { useStore } from '../../store/use-store.ts';

interface CallerViewProps {
  readonly keys: readonly AdminKey[];
  readonly profiles: readonly AdminProfile[];
}

/** Shows which tools the owner of a key, or a caller with a profile, sees, and the rule behind each decision. */
export function CallerView({ keys, profiles }: CallerViewProps) {
  const [caller, setCaller] = useState('');
  const [filter, setFilter] = useState('');
  const { view, problem } = useCallerView(caller, keys, profiles);
  const rows = useMemo(() => {
    const text = filter.toLowerCase();
    return view?.tools.filter(({ name }) => name.toLowerCase().includes(text)) ?? [];
  }, [view, filter]);
  return (
    <>
      <div class="toolbar">
        <select aria-label="Caller" value={caller} onChange={(event) => setCaller(event.currentTarget.value)}>
          <option value="">You, on this machine</option>
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
        <SearchField label="Search by name" value={filter} onChange={setFilter} />
        <p class="small soft number summary">{view && summarize(view)}</p>
      </div>
      {problem !== undefined && <ProblemNote problem={problem} />}
      {view !== undefined && (
        <Table
          label="Tools of this caller"
          rows={rows}
          columns={columns}
          keyOf={({ name }) => name}
          scope={`${caller} ${filter}`}
          maxHeight="50dvh"
          empty={
            <EmptyState title="No tool matches">
              <p>Visible and hidden tools are searched by name. Try fewer letters.</p>
            </EmptyState>
          }
        />
      )}
    </>
  );
}

/** Loads the view of a caller, and loads it again when keys or profiles change. */
function useCallerView(caller: string, keys: readonly AdminKey[], profiles: readonly AdminProfile[]) {
  const { api } = useStore();
  const [view, setView] = useState<AdminCallerView>();
  const [problem, setProblem] = useState<Problem>();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    api.request('GET /api/view', parseCaller(caller), { signal }).then(
      (response) => {
        setView({ ...response, tools: response.tools.toSorted(byVerdict) });
        setProblem(undefined);
      },
      (error: unknown) => !signal.aborted && setProblem(toProblem(error)),
    );
    return () => controller.abort();
  }, [api, caller, keys, profiles]);
  return { view, problem };
}

function parseCaller(caller: string): { key?: string; profile?: string } {
  const [kind = '', ...rest] = caller.split(' ');
  const name = rest.join(' ');
  if (kind === 'key') return { key: name };
  return kind === 'profile' ? { profile: name } : {};
}

/** The order of the tools in the table: visible tools come first. */
const verdictOrder: readonly AdminToolDecision['verdict'][] = ['allow', 'ask', 'held', 'hide'];

function byVerdict(a: AdminToolDecision, b: AdminToolDecision): number {
  return verdictOrder.indexOf(a.verdict) - verdictOrder.indexOf(b.verdict);
}

function summarize({ tools }: AdminCallerView): string {
  const visible = tools.filter(({ verdict }) => verdict === 'allow' || verdict === 'ask').length;
  return `${visible} of ${pluralize(tools.length, 'tool')} visible`;
}

const verdictStyles = {
  allow: { kind: 'good', label: 'visible' },
  ask: { kind: 'warn', label: 'asks first' },
  hide: { kind: 'plain', label: 'hidden' },
  held: { kind: 'warn', label: 'held' },
} as const;

const columns: readonly Column<AdminToolDecision>[] = [
  {
    name: 'verdict',
    title: 'Access',
    width: '90px',
    cell: ({ verdict }) => <Badge kind={verdictStyles[verdict].kind}>{verdictStyles[verdict].label}</Badge>,
    sort: ({ verdict, name }) => `${verdict} ${name}`,
  },
  {
    name: 'tool',
    title: 'Tool',
    width: 'minmax(0, 1fr)',
    cell: ({ name }) => (
      <a class="tool-name mono" href={`/tools?tool=${encodeURIComponent(name)}`}>
        {escapeInvisible(name)}
      </a>
    ),
    sort: ({ name }) => name,
  },
  {
    name: 'rule',
    title: 'Rule',
    width: 'minmax(0, 1fr)',
    isWideOnly: true,
    cell: ({ rule, message }) => <span class="faint">{escapeInvisible(message ?? rule)}</span>,
    sort: ({ rule }) => rule,
  },
];
