import type { CatalogView } from '../gateway/catalog-view.ts';
import { estimateTokens } from './estimate-tokens.ts';

const MAX_TOKENS = 300;
/** Maximum characters of a server's description; the shorter ones are for many servers. */
const DESCRIPTION_CHARS = [120, 60, 30, 0];
/** Every character that can end a line: a server must not inject lines about other servers. */
const LINE_END = /[\n\v\f\r\u0085\u2028\u2029]/;

/** Returns one short line per server within `MAX_TOKENS`, with the description from the configuration or from the server. */
export function formatServerLines({ servers }: CatalogView): string {
  for (const maxChars of DESCRIPTION_CHARS) {
    const lines = servers
      .map(({ name, description, facts }) => {
        const text = description ?? facts?.info['title'] ?? facts?.instructions;
        return `- ${name}${formatDescription(text, maxChars)}`;
      })
      .join('\n');
    if (estimateTokens(lines, MAX_TOKENS) <= MAX_TOKENS) return lines;
  }
  return formatNames(servers.map(({ name }) => name));
}

/** Lists as many names as fit; 10 tokens are reserved for the number of the others. */
function formatNames(names: readonly string[]): string {
  const listed: string[] = [];
  let left = MAX_TOKENS - 10;
  for (const name of names) {
    left -= estimateTokens(`, ${name}`, left);
    if (left < 0) break;
    listed.push(name);
  }
  const rest = names.length - listed.length;
  return `- ${listed.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}

function formatDescription(text: unknown, maxChars: number): string {
  if (typeof text !== 'string' || maxChars === 0) return '';
  const line = (text.trim().split(LINE_END, 1)[0] ?? '').trimEnd();
  if (line === '') return '';
  return `: ${line.length > maxChars ? `${line.slice(0, maxChars).trimEnd()}…` : line}`;
}
