import type { View } from '../gateway/view.ts';

const MAX_REMARKS = 3;
/** What of a query is looked through for names. */
const MAX_QUERY = 1_000;

interface Asked {
  readonly query: string;
  readonly server?: string;
  /** Then any server that was not searched may have had it. */
  readonly foundNothing: boolean;
}

/** A line for each server that a search is about and that cannot be used or searched now. */
export function serverRemarks(view: View, { query, server, foundNothing }: Asked): readonly string[] {
  const words = new Set(wordsOf(query.slice(0, MAX_QUERY)));
  const isNamed = (name: string): boolean =>
    server === undefined ? wordsOf(name).every((word) => words.has(word)) : name === server;
  return view.servers
    .filter(
      ({ name, facts }) => isNamed(name) || (foundNothing && server === undefined && facts === undefined),
    )
    .flatMap(({ name }) => {
      const trouble = view.trouble(name);
      return trouble === undefined ? [] : [`Server "${name}" ${trouble}.`];
    })
    .slice(0, MAX_REMARKS);
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text];
}
