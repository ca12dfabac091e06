import type { CatalogView } from '../gateway/catalog-view.ts';
import { estimateTokens } from './estimate-tokens.ts';

const MAX_TOKENS = 225;
/** Maximum lengths of a server's description, in characters. The first one with which all lines fit is used. */
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
  return `- ${formatNames(
    servers.map(({ name }) => name),
    MAX_TOKENS,
  )}`;
}

const MAX_NAME_TOKENS = 60;
const NOTE_CHARS = [40, 0];

/**
 * Returns the names of the servers in one line within `MAX_NAME_TOKENS`, with the beginning of their
 * descriptions if these fit. It uses only the configuration, so the line does not change when servers are
 * listed. A change would invalidate the prompt cache of a model.
 */
export function formatServerNames({ servers }: CatalogView): string {
  for (const maxChars of NOTE_CHARS) {
    const line = servers
      .map(({ name, description }) => `${name}${formatNote(description, maxChars)}`)
      .join(maxChars === 0 ? ', ' : '; ');
    if (estimateTokens(line, MAX_NAME_TOKENS) <= MAX_NAME_TOKENS) return line;
  }
  return formatNames(
    servers.map(({ name }) => name),
    MAX_NAME_TOKENS,
  );
}

/** Returns as many whole words of a description as fit. Adds no ellipsis, which would cost tokens. */
function formatNote(text: string | undefined, maxChars: number): string {
  const whole = formatDescription(text, Number.POSITIVE_INFINITY);
  if (maxChars === 0 || whole === '') return '';
  const cut = whole.length > maxChars ? whole.slice(0, whole.lastIndexOf(' ', maxChars)) : whole;
  return cut.replace(/(?: (?:a|an|and|at|by|for|from|in|of|on|or|the|to|with))*[\s.:;,(–-]*$/, '');
}

/** Lists as many names as fit; 10 tokens are reserved for the number of the others. */
function formatNames(names: readonly string[], maxTokens: number): string {
  const listed: string[] = [];
  let left = maxTokens - 10;
  for (const name of names) {
    left -= estimateTokens(`, ${name}`, left);
    if (left < 0) break;
    listed.push(name);
  }
  const rest = names.length - listed.length;
  return `${listed.join(', ')}${rest === 0 ? '' : ` and ${rest} more`}`;
}

function formatDescription(text: unknown, maxChars: number): string {
  if (typeof text !== 'string' || maxChars === 0) return '';
  const line = (text.trim().split(LINE_END, 1)[0] ?? '').trimEnd();
  if (line === '') return '';
  return `: ${line.length > maxChars ? `${line.slice(0, maxChars).trimEnd()}…` : line}`;
}
