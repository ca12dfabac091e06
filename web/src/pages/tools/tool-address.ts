/** One tool, and still what was searched for, so that the way back leads there. */
export function toolAddress(query: URLSearchParams, name: string): string {
  const next = new URLSearchParams(query);
  next.delete('tab');
  next.set('tool', name);
  return `/tools?${next.toString()}`;
}

/** The list as it was searched before one of its tools was opened. */
export function listAddress(query: URLSearchParams): string {
  const next = new URLSearchParams(query);
  next.delete('tab');
  next.delete('tool');
  const search = next.toString();
  return search === '' ? '/tools' : `/tools?${search}`;
}
