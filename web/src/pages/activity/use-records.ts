import { useCallback, useEffect, useState } from 'preact/hooks';

import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { asProblem, type Problem } from '../../api/problem.ts';
import { useStore } from '../../store/use-store.ts';
import { belongs, queryOf, type ActivityFilter, type Range } from './activity-filter.ts';

const PAGE = 500;
/** More are cut at the old end; they are still there to be asked for. */
const MOST_LIVE = 100_000;
/** What comes in a burst is drawn once. */
const SETTLE_MS = 100;

interface Records {
  /** The newest first; undefined before the first answer. */
  readonly list: readonly AuditRecord[] | undefined;
  readonly problem: Problem | undefined;
  readonly isLive: boolean;
  readonly hasOlder: boolean;
  readonly older: () => Promise<void>;
  readonly again: () => Promise<void>;
}

/** The records that fit, the newest first: a page at a time backwards, and new ones as they come. */
export function useRecords(filter: ActivityFilter, range: Range): Records {
  const { api, hear, link } = useStore();
  const [list, setList] = useState<readonly AuditRecord[]>();
  const [problem, setProblem] = useState<Problem>();
  const [hasOlder, setOlder] = useState(false);
  const question = queryOf({ ...filter, range: range.name });
  const ask = useCallback(
    async (before?: number, signal?: AbortSignal): Promise<readonly AuditRecord[]> => {
      const since = Date.now() - range.ms;
      const input = { ...filter, since, limit: PAGE, ...(before !== undefined && { before }) };
      return api.ask('GET /api/audit', input, signal && { signal });
    },
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the question is the filter in words
    [api, question],
  );
  const [again, setAgain] = useState(0);
  useEffect(() => {
    const asking = new AbortController();
    // What comes while the first page is under way is newer than it.
    let [come, isAsked]: [AuditRecord[], boolean] = [[], false];
    let timer: number | undefined;
    const draw = (): void => {
      timer = undefined;
      if (!isAsked || come.length === 0) return;
      const newest = come;
      come = [];
      setList((old) => merged(newest, old ?? []));
    };
    const first = async (): Promise<void> => {
      try {
        const page = await ask(undefined, asking.signal);
        if (asking.signal.aborted) return;
        isAsked = true;
        setList(page);
        setOlder(page.length === PAGE);
        setProblem(undefined);
        draw();
      } catch (error) {
        if (!asking.signal.aborted) setProblem(asProblem(error));
      }
    };
    void first();
    const stop = hear((event) => {
      if (event.event === 'reset') void first();
      if (event.event !== 'record' || !belongs(event.data, filter)) return;
      come.push(event.data);
      timer ??= window.setTimeout(draw, SETTLE_MS);
    });
    return () => {
      asking.abort();
      window.clearTimeout(timer);
      stop();
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the question is the filter in words
  }, [ask, hear, again]);
  return {
    list,
    problem,
    hasOlder,
    isLive: link.value === 'live',
    again: async () => setAgain(again + 1),
    older: async () => {
      const page = await ask(list?.at(-1)?.seq);
      setOlder(page.length === PAGE);
      setList((old) => [...(old ?? []), ...page]);
    },
  };
}

/** The newest first, each once. */
function merged(come: readonly AuditRecord[], old: readonly AuditRecord[]): readonly AuditRecord[] {
  const latest = old[0]?.seq ?? 0;
  const fresh = come.filter(({ seq }) => seq > latest).toReversed();
  return [...fresh, ...old].slice(0, MOST_LIVE);
}
