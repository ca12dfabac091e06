import { useCallback, useEffect, useState } from 'preact/hooks';

import type { AuditRecord } from '../../../../src/admin/contract/contract.ts';
import { toProblem, type Problem } from '../../api/problem.ts';
import type { Store } from '../../store/store.ts';
import { useStore } from '../../store/use-store.ts';
import { formatQuery, matchesFilter, type ActivityFilter, type TimeRange } from './activity-filter.ts';

/** The number of records per request. */
const PAGE_SIZE = 500;
/** The maximum number of records in the list. Older ones are dropped when new ones arrive; the gateway still has them. */
const MAX_RECORDS = 100_000;
/** New records are collected for this time and rendered together. */
const RENDER_DELAY_MS = 100;

interface Records {
  /** The records, the newest first. Undefined before the first response. */
  readonly list: readonly AuditRecord[] | undefined;
  readonly problem: Problem | undefined;
  readonly isLive: boolean;
  readonly hasOlder: boolean;
  readonly loadOlder: () => Promise<void>;
  readonly reload: () => Promise<void>;
}

/** Loads the matching records page by page, the newest first, and adds new ones as they are written. */
export function useRecords(filter: ActivityFilter, range: TimeRange): Records {
  const { api, subscribe, connection } = useStore();
  const [list, setList] = useState<readonly AuditRecord[]>();
  const [problem, setProblem] = useState<Problem>();
  const [hasOlder, setHasOlder] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const query = formatQuery({ ...filter, range: range.name });
  const loadPage: LoadPage = useCallback(
    async (before, signal) => {
      const since = Date.now() - range.ms;
      const input = { ...filter, since, limit: PAGE_SIZE, before };
      return api.request('GET /api/audit', input, signal && { signal });
    },
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- the query represents filter and range
    [api, query],
  );
  useEffect(
    () =>
      followRecords({
        loadPage,
        subscribe,
        isMatch: (record) => matchesFilter(record, filter),
        onFirstPage(page) {
          setList(page);
          setHasOlder(page.length === PAGE_SIZE);
          setProblem(undefined);
        },
        onNewRecords: (records) => setList((old) => prependNew(records, old ?? [])),
        onProblem: setProblem,
      }),
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- `loadPage` represents the filter
    [loadPage, subscribe, attempt],
  );
  return {
    list,
    problem,
    hasOlder,
    isLive: connection.value === 'live',
    reload: async () => setAttempt(attempt + 1),
    loadOlder: async () => {
      const page = await loadPage(list?.at(-1)?.seq);
      setHasOlder(page.length === PAGE_SIZE);
      setList((old) => [...(old ?? []), ...page]);
    },
  };
}

type LoadPage = (before?: number, signal?: AbortSignal) => Promise<readonly AuditRecord[]>;

interface FollowOptions {
  readonly loadPage: LoadPage;
  readonly subscribe: Store['subscribe'];
  readonly isMatch: (record: AuditRecord) => boolean;
  readonly onFirstPage: (page: readonly AuditRecord[]) => void;
  readonly onNewRecords: (records: readonly AuditRecord[]) => void;
  readonly onProblem: (problem: Problem) => void;
}

/** Loads the first page and reports new records until the returned function is called. */
function followRecords(options: FollowOptions): () => void {
  const controller = new AbortController();
  const { signal } = controller;
  // Records that arrive while the first page loads are kept here and added when it has arrived.
  let pending: AuditRecord[] = [];
  let hasFirstPage = false;
  let timer: number | undefined;
  const flush = (): void => {
    timer = undefined;
    if (!hasFirstPage || pending.length === 0) return;
    const records = pending;
    pending = [];
    options.onNewRecords(records);
  };
  const loadFirstPage = async (): Promise<void> => {
    try {
      const page = await options.loadPage(undefined, signal);
      if (signal.aborted) return;
      hasFirstPage = true;
      options.onFirstPage(page);
      flush();
    } catch (error) {
      if (!signal.aborted) options.onProblem(toProblem(error));
    }
  };
  void loadFirstPage();
  const unsubscribe = options.subscribe((event) => {
    // Events were missed, so the first page is loaded again.
    if (event.event === 'reset') void loadFirstPage();
    if (event.event !== 'record' || !options.isMatch(event.data)) return;
    pending.push(event.data);
    timer ??= window.setTimeout(flush, RENDER_DELAY_MS);
  });
  return () => {
    controller.abort();
    window.clearTimeout(timer);
    unsubscribe();
  };
}

/** Adds new records before the old ones, without duplicates. */
function prependNew(records: readonly AuditRecord[], old: readonly AuditRecord[]): readonly AuditRecord[] {
  const latest = old[0]?.seq ?? 0;
  const added = records.filter(({ seq }) => seq > latest).toReversed();
  return [...added, ...old].slice(0, MAX_RECORDS);
}
