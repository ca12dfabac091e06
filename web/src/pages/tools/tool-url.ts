/** Returns the URL of a tool. It contains the current search, so that the link back leads to the same list. */
export function toolUrl(query: URLSearchParams, name: string): string {
  const next = new URLSearchParams(query);
  next.delete('tab');
  next.set('tool', name);
  return `/tools?${next.toString()}`;
}

/** Returns the URL of the list with the search from which a tool was opened. */
export function toolListUrl(query: URLSearchParams): string {
  const next = new URLSearchParams(query);
  next.delete('tab');
  next.delete('tool');
  const search = next.toString();
  return search === '' ? '/tools' : `/tools?${search}`;
}
