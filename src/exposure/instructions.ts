import type { View } from '../gateway/view.ts';
import { estimateTokens } from './tokens.ts';

const BUDGET = 300;
/** Characters of what is said about a server; less for each when there are many. */
const ABOUT_CHARS = [120, 60, 30, 0];
/** Whatever a reader may take for the end of a line, so that no server writes lines about others. */
const LINE_END = /[\n\v\f\r\u0085\u2028\u2029]/;

/** One short line per server, from our config or from what the server says of itself, all in a small budget. */
export function serverLines({ servers }: View): string {
  for (const chars of ABOUT_CHARS) {
    const text = servers
      .map(({ name, description, facts }) => {
        const said = about(description ?? facts?.info['title'] ?? facts?.instructions, chars);
        return `- ${name}${said}`;
      })
      .join('\n');
    if (estimateTokens(text, BUDGET) <= BUDGET) return text;
  }
  return namesOnly(servers.map(({ name }) => name));
}

function namesOnly(names: readonly string[]): string {
  const shown: string[] = [];
  let left = BUDGET - 10;
  for (const name of names) {
    left -= estimateTokens(`, ${name}`, left);
    if (left < 0) break;
    shown.push(name);
  }
  const rest = names.length - shown.length;
  return `- ${shown.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}

function about(text: unknown, chars: number): string {
  if (typeof text !== 'string' || chars === 0) return '';
  const line = (text.trim().split(LINE_END, 1)[0] ?? '').trimEnd();
  if (line === '') return '';
  return `: ${line.length > chars ? `${line.slice(0, chars).trimEnd()}…` : line}`;
}
