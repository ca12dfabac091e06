import type { UpstreamConfig } from '../config/config.ts';
import { matchesGlob } from '../lib/glob.ts';
import type { ToolDefinition, ToolEntry } from '../model/entry.ts';
import type { UpstreamName } from '../model/ids.ts';
import { isJsonObject } from '../model/json.ts';
import type { Tier } from '../model/tier.ts';

/** What calling a tool can do: as the config says, else as the server says, else as its words suggest. */
export function tiers(upstreams: readonly UpstreamConfig[]): (entry: ToolEntry) => Tier {
  const overrides = new Map<UpstreamName, readonly (readonly [string, Tier])[]>(
    upstreams.map(({ name, tools }) => [name, Object.entries(tools.tiers)]),
  );
  return ({ upstream, definition }) => {
    const override = overrides.get(upstream)?.find(([glob]) => matchesGlob(definition.name, glob));
    return override?.[1] ?? tierOf(definition);
  };
}

export function tierOf(definition: ToolDefinition): Tier {
  const { annotations } = definition;
  const { readOnlyHint, destructiveHint } = isJsonObject(annotations) ? annotations : {};
  if (readOnlyHint === true) return destructiveHint === true ? 'destructive' : 'read';
  if (destructiveHint === true) return 'destructive';
  if (destructiveHint === false) return 'write';
  const suggested = suggestedBy(definition);
  return readOnlyHint === false && suggested === 'read' ? 'write' : suggested;
}

/** Enough of a description to know what a tool does; the rest is how. */
const READ_CHARS = 2_000;

const READING = words(
  'get list read search find fetch retrieve show view describe lookup count inspect browse preview explain summarize',
);
/** Verbs whatever stands around them. */
const CHANGING = words(
  'create update insert modify edit write overwrite replace rename append prepend publish install upload upsert patch ' +
    'save store add assign configure enable disable merge upgrade rollback archive restore approve reject',
);
const DESTROYING = words(
  'delete remove destroy erase purge truncate uninstall revoke terminate pay refund purchase send execute wipe',
);
/** Nouns as often as verbs, so that they count in names and where a sentence begins. */
const CHANGING_AT_THE_START = words(
  'set put post change move copy import start stop restart commit mark share close open lock unlock tag label link cancel ' +
    'book order schedule build generate make register submit reply comment fork push reset sync invite apply increment toggle',
);
const DESTROYING_AT_THE_START = words(
  'drop kill run exec eval buy charge transfer mail email message notify call clear deploy invoke spend withdraw drain empty',
);

/** Conservative: only an unambiguous reading verb and no changing one makes a tool that reads; unknown ones write. */
function suggestedBy({ name, description }: ToolDefinition): Tier {
  const text = typeof description === 'string' ? description.slice(0, READ_CHARS) : '';
  const inName = wordsOf(name);
  const starts = text.split(/[.!?\n:;]+/).map((sentence) => wordsOf(sentence)[0] ?? '');
  const anywhere = wordsOf(text);
  const is =
    (...lists: readonly ReadonlySet<string>[]) =>
    (word: string): boolean =>
      formsOf(word).some((form) => lists.some((list) => list.has(form)));
  const [first = ''] = starts;
  const destroys = is(DESTROYING, DESTROYING_AT_THE_START);
  if (inName.some(destroys) || destroys(first)) return 'destructive';
  const changes = is(CHANGING, CHANGING_AT_THE_START);
  const isRead =
    (inName.some(is(READING)) || is(READING, words('return'))(first)) &&
    !inName.some(changes) &&
    !starts.some((word) => changes(word) || destroys(word)) &&
    !anywhere.some(is(CHANGING, DESTROYING));
  return isRead ? 'read' : 'write';
}

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** The words of an identifier or of a text, in lower case. */
function wordsOf(text: string): readonly string[] {
  const parts = text.slice(0, READ_CHARS).replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2');
  return parts.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** The word and what it may be a third person or a participle of; `created` and `deleted` are properties, not verbs. */
function formsOf(word: string): readonly string[] {
  if (word.endsWith('ing')) return [word, word.slice(0, -3), `${word.slice(0, -3)}e`];
  if (word.endsWith('es')) return [word, word.slice(0, -1), word.slice(0, -2)];
  return word.endsWith('s') ? [word, word.slice(0, -1)] : [word];
}
