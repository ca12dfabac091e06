import type { UpstreamConfig } from '../config/config.ts';
import { matchesGlob } from '../core/lib/matches-glob.ts';
import type { ToolDefinition, ToolEntry } from '../core/entry.ts';
import type { UpstreamName } from '../core/ids.ts';
import { isJsonObject } from '../core/json.ts';
import type { Tier } from '../core/tier.ts';

/**
 * Returns a function that determines the tier of a tool. `tools.tiers` of the configuration comes first, then the annotations of the
 * server unless the tool's name contradicts them, and finally the tool's name and description.
 */
export function createTierLookup(upstreams: readonly UpstreamConfig[]): (entry: ToolEntry) => Tier {
  const overrides = new Map<UpstreamName, readonly (readonly [string, Tier])[]>(
    upstreams.map(({ name, tools }) => [name, Object.entries(tools.tiers)]),
  );
  return ({ upstream, definition }) => {
    const override = overrides.get(upstream)?.find(([glob]) => matchesGlob(definition.name, glob));
    return override?.[1] ?? inferTier(definition);
  };
}

export function inferTier(definition: ToolDefinition): Tier {
  const conflict = findConflict(definition);
  if (conflict !== undefined) return conflict.tier;
  const { readOnlyHint, destructiveHint } = hintsOf(definition);
  if (readOnlyHint === true) return destructiveHint === true ? 'destructive' : 'read';
  if (destructiveHint === true) return 'destructive';
  if (destructiveHint === false) return 'write';
  const inferred = inferFromText(definition);
  return readOnlyHint === false && inferred === 'read' ? 'write' : inferred;
}

/** Explains why a tool has a higher tier than its annotations declare. Returns undefined without a conflict, or for a configured tier. */
export function explainTierConflict(
  upstreams: readonly UpstreamConfig[],
  { upstream, definition }: ToolEntry,
): string | undefined {
  const conflict = findConflict(definition);
  const tiers = upstreams.find(({ name }) => name === upstream)?.tools.tiers ?? {};
  const isConfigured = Object.keys(tiers).some((glob) => matchesGlob(definition.name, glob));
  if (conflict === undefined || isConfigured) return undefined;
  const { verb, tier, declared } = conflict;
  return (
    `Its tier is ${tier} because its name contains the verb "${verb}", although the server declares it ` +
    `${declared === 'read' ? 'read-only' : 'not destructive'}. If the server is right, set "${definition.name}" to "${declared}" ` +
    `in mcpServers.${upstream}.tools.tiers.`
  );
}

interface TierConflict {
  /** The leading verb of the name. */
  readonly verb: string;
  /** The tier according to the verb. */
  readonly tier: Tier;
  /** The lower tier according to the annotations. */
  readonly declared: 'read' | 'write';
}

/**
 * Returns the conflict between the annotations of a tool and its name. Only the leading verb counts, which is the first word of the name
 * that is a verb: `get_delete_policy` is a reading tool. Nouns and the name of the product may precede the verb.
 */
function findConflict(definition: ToolDefinition): TierConflict | undefined {
  const { readOnlyHint, destructiveHint } = hintsOf(definition);
  if (destructiveHint === true || (readOnlyHint !== true && destructiveHint !== false)) return undefined;
  const words = wordsOf(definition.name);
  const verb = words.find((word) => LEADING_VERBS.some((verbs) => verbs.has(word)));
  if (verb === undefined) return undefined;
  if (readOnlyHint !== true)
    return ERASING_VERBS.has(verb) ? { verb, tier: 'destructive', declared: 'write' } : undefined;
  if (DESTRUCTIVE_VERBS.has(verb) || ERASING_VERBS.has(verb))
    return { verb, tier: 'destructive', declared: 'read' };
  // Many changing verbs have another meaning: `merge_requests_list` reads, and `add` alone calculates.
  if (CHANGING_VERBS.has(verb) && words.length > 1 && !words.some((word) => READING_VERBS.has(word)))
    return { verb, tier: 'write', declared: 'read' };
  return undefined;
}

function hintsOf({ annotations }: ToolDefinition): {
  readonly readOnlyHint?: unknown;
  readonly destructiveHint?: unknown;
} {
  return isJsonObject(annotations) ? annotations : {};
}

/** Number of characters of a description that are read. The beginning says what a tool does, and the rest how. */
const MAX_TEXT_LENGTH = 2_000;

const READING_VERBS = wordSet(
  'get list read search find fetch retrieve show view describe lookup count inspect browse preview explain summarize',
);
/** Words that count as verbs in any position. */
const CHANGING_VERBS = wordSet(
  'create update insert modify edit write overwrite replace rename append prepend publish install upload upsert patch ' +
    'save store add assign configure enable disable merge upgrade rollback archive restore approve reject',
);
const DESTRUCTIVE_VERBS = wordSet(
  'delete remove destroy erase purge truncate uninstall revoke terminate pay refund purchase send execute wipe',
);
/** Words that are nouns as often as verbs. They count as verbs only in names and at the start of a sentence. */
const CHANGING_AT_START = wordSet(
  'set put post change move copy import start stop restart commit mark share close open lock unlock tag label link cancel ' +
    'book order schedule build generate make register submit reply comment fork push reset sync invite apply increment toggle',
);
const DESTRUCTIVE_AT_START = wordSet(
  'drop kill run exec eval buy charge transfer mail email message notify call clear deploy invoke spend withdraw drain empty',
);

/** Verbs that always mean a loss of data, so that the annotation "not destructive" contradicts them. */
const ERASING_VERBS = wordSet('delete destroy erase purge truncate wipe drop');
/** Further verbs of reading tools. They do not prove the tier `read`, but a verb that follows them is not the leading verb. */
const OTHER_READING_VERBS = wordSet(
  'query check verify validate test analyze analyse compare estimate calculate compute monitor watch track export download scan ' +
    'detect review poll wait resolve suggest recommend plan simulate is has can diff audit ask help',
);
const LEADING_VERBS = [READING_VERBS, OTHER_READING_VERBS, ERASING_VERBS, DESTRUCTIVE_VERBS, CHANGING_VERBS];

/** Infers the tier conservatively: `read` requires a reading verb and no changing verb, and a tool without known verbs is `write`. */
function inferFromText({ name, description }: ToolDefinition): Tier {
  const text = typeof description === 'string' ? description.slice(0, MAX_TEXT_LENGTH) : '';
  const nameWords = wordsOf(name);
  const firstWords = text.split(/[.!?\n:;]+/).map((sentence) => wordsOf(sentence)[0] ?? '');
  const textWords = wordsOf(text);
  const isIn =
    (...sets: readonly ReadonlySet<string>[]) =>
    (word: string): boolean =>
      formsOf(word).some((form) => sets.some((set) => set.has(form)));
  const [first = ''] = firstWords;
  const isDestructive = isIn(DESTRUCTIVE_VERBS, DESTRUCTIVE_AT_START);
  if (nameWords.some(isDestructive) || isDestructive(first)) return 'destructive';
  const isChanging = isIn(CHANGING_VERBS, CHANGING_AT_START);
  const isRead =
    (nameWords.some(isIn(READING_VERBS)) || isIn(READING_VERBS, wordSet('return'))(first)) &&
    !nameWords.some(isChanging) &&
    !firstWords.some((word) => isChanging(word) || isDestructive(word)) &&
    !textWords.some(isIn(CHANGING_VERBS, DESTRUCTIVE_VERBS));
  return isRead ? 'read' : 'write';
}

function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(' '));
}

/** Returns the words of an identifier or a text in lower case. */
function wordsOf(text: string): readonly string[] {
  const parts = text.slice(0, MAX_TEXT_LENGTH).replaceAll(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2');
  return parts.toLowerCase().match(/\p{L}+/gu) ?? [];
}

/** Returns the word and the verbs it may be a form of. Past participles are left out: `created` and `deleted` are properties. */
function formsOf(word: string): readonly string[] {
  if (word.endsWith('ing')) return [word, word.slice(0, -3), `${word.slice(0, -3)}e`];
  if (word.endsWith('es')) return [word, word.slice(0, -1), word.slice(0, -2)];
  return word.endsWith('s') ? [word, word.slice(0, -1)] : [word];
}
