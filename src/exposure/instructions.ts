import type { View } from '../gateway/view.ts';

const LINE_CHARS = 120;
/** Whatever a reader may take for the end of a line, so that no server writes lines about others. */
const LINE_END = /[\n\v\f\r\u0085\u2028\u2029]/;

/** One short line per server, from our config or from what the server says of itself. */
export function serverLines(view: View): string {
  return view.servers
    .map(
      ({ name, description, facts }) =>
        `- ${name}${about(description ?? facts?.info['title'] ?? facts?.instructions)}`,
    )
    .join('\n');
}

function about(text: unknown): string {
  if (typeof text !== 'string') return '';
  const line = (text.trim().split(LINE_END, 1)[0] ?? '').trimEnd();
  if (line === '') return '';
  return `: ${line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS).trimEnd()}…` : line}`;
}
