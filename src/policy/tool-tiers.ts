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
 * Returns the conflict between the annotations of a tool and its name. Only the deciding verb counts: `get_delete_policy` is a reading
 * tool, but `get_and_delete` and `monitor_delete` are not.
 */
function findConflict(definition: ToolDefinition): TierConflict | undefined {
  const { readOnlyHint, destructiveHint } = hintsOf(definition);
  if (destructiveHint === true || (readOnlyHint !== true && destructiveHint !== false)) return undefined;
  const words = wordsOf(definition.name);
  const { verb, kind } = decidingVerb(words, UNAMBIGUOUS) ?? {};
  if (verb === undefined) return undefined;
  if (readOnlyHint !== true)
    return kind === 'erase' ? { verb, tier: 'destructive', declared: 'write' } : undefined;
  if (kind === 'erase' || kind === 'destroy') return { verb, tier: 'destructive', declared: 'read' };
  // Many changing verbs have another meaning: `merge_requests_list` reads, and `add` alone calculates.
  if (kind === 'change' && words.length > 1 && !words.some((word) => VERBS.read.has(word)))
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

type VerbKind = 'read' | 'probablyRead' | 'change' | 'changeOrNoun' | 'destroy' | 'destroyOrNoun' | 'erase';

/** The verbs by what they say about a tool. The two kinds with `OrNoun` have words that are nouns as often as verbs. */
const VERBS: Readonly<Record<VerbKind, ReadonlySet<string>>> = {
  erase: wordSet('delete destroy erase purge truncate wipe drop'),
  destroy: wordSet('remove uninstall revoke terminate discard pay refund purchase send execute unlink evict'),
  change: wordSet(
    'create update insert modify edit write overwrite replace rename append prepend publish unpublish install upload upsert ' +
      'patch save store add assign unassign configure enable disable merge upgrade rollback archive unarchive restore approve ' +
      'reject subscribe unsubscribe attach detach regenerate rotate rebuild init initialize',
  ),
  read: wordSet(
    'get list read search find fetch retrieve show view describe lookup count inspect browse preview explain summarize',
  ),
  // A tool whose name begins with one of these changes something often enough that its description must confirm the guess.
  probablyRead: wordSet(
    'query check verify validate test analyze analyse compare estimate calculate compute monitor watch track export download scan ' +
      'detect review poll wait resolve suggest recommend plan simulate is has can diff audit ask help scrape extract translate ' +
      'rephrase rerank discover geocode identify measure',
  ),
  changeOrNoun: wordSet(
    'set put post change move copy import start stop restart reboot commit mark share close open lock unlock tag label link cancel ' +
      'book order schedule build generate make register submit reply comment fork push pull reset sync invite apply increment toggle',
  ),
  destroyOrNoun: wordSet(
    'kill run rerun exec eval buy charge transfer mail email message notify call clear deploy invoke spend withdraw drain empty',
  ),
};
const UNAMBIGUOUS: readonly VerbKind[] = ['erase', 'destroy', 'change', 'read', 'probablyRead'];
const ALL_KINDS: readonly VerbKind[] = [...UNAMBIGUOUS, 'changeOrNoun', 'destroyOrNoun'];
const CHANGING_KINDS: readonly VerbKind[] = ['erase', 'destroy', 'change'];
const TIERS: Readonly<Record<VerbKind, Tier>> = {
  erase: 'destructive',
  destroy: 'destructive',
  destroyOrNoun: 'destructive',
  change: 'write',
  changeOrNoun: 'write',
  probablyRead: 'write',
  read: 'read',
};
/** Words that join another verb to the first one: `get_or_create`, "Reads a message and deletes it". */
const CONJUNCTIONS = wordSet('and or then');
/** The objects with which "take a …" or "perform a …" changes nothing. */
const OBSERVATIONS = wordSet('screenshot search searches research lookup analysis');
/** Words before a verb that ask about an action instead of doing it. */
const QUESTIONS = wordSet('is has can check');

interface NameVerb {
  readonly verb: string;
  readonly kind: VerbKind;
}

/**
 * Returns the verb that decides what a tool does: the first verb of its name, which may follow nouns and the name of the product. A later verb
 * that changes something decides instead if it follows a conjunction. At the end of the name, an erasing verb also decides unless the first
 * verb reads or asks, and so does any other changing verb if the first one, such as "monitor", can also be a noun.
 */
function decidingVerb(words: readonly string[], kinds: readonly VerbKind[]): NameVerb | undefined {
  const verbs = words.flatMap((word, at) => {
    const kind = kindOf(word, kinds);
    return kind === undefined ? [] : [{ verb: word, kind, at }];
  });
  const [first, ...later] = verbs;
  if (first === undefined) return undefined;
  const isQuestion = first.kind === 'read' || QUESTIONS.has(first.verb);
  const worse = later.find(
    ({ kind, at }) =>
      CHANGING_KINDS.includes(kind) &&
      (CONJUNCTIONS.has(words[at - 1] ?? '') ||
        (!isQuestion && kind === 'erase' && at === words.length - 1) ||
        (first.kind === 'probablyRead' && !isQuestion && at === words.length - 1)),
  );
  return worse ?? first;
}

/** Returns the kind of a verb in a name. The base form and `-ing` always count; "deletes" counts as well, but "updates" and "messages" are nouns. */
function kindOf(word: string, kinds: readonly VerbKind[]): VerbKind | undefined {
  const forms = word.endsWith('ing') ? [word, word.slice(0, -3), `${word.slice(0, -3)}e`] : [word];
  const known = kinds.find((kind) => forms.some((form) => VERBS[kind].has(form)));
  const plain = word.endsWith('s') ? word.slice(0, -1) : word;
  return known ?? (VERBS.erase.has(plain) ? 'erase' : undefined);
}

/**
 * Infers the tier from the deciding verb of the name, and from the first sentence of the description where the name has none or an
 * ambiguous one. A tool without known verbs is `write`.
 */
function inferFromText({ name, description }: ToolDefinition): Tier {
  const text = typeof description === 'string' ? description.slice(0, MAX_TEXT_LENGTH) : '';
  const sentence = firstSentence(text);
  const words = wordsOf(name);
  const kind = decidingVerb(words, ALL_KINDS)?.kind;
  // "Run a find query" and "Executes a search" do not contradict a reading verb in the name.
  if (kind === 'read')
    return (
      describedTier(sentence[0]?.startsWith('execute') ? sentence.slice(1) : sentence, UNAMBIGUOUS) ?? 'read'
    );
  const described = describedTier(sentence, ALL_KINDS);
  if (kind === 'probablyRead' && saysReadOnly(text)) return 'read';
  if (kind === undefined || kind === 'probablyRead') return described ?? 'write';
  const isAmbiguous = kind === 'changeOrNoun' || kind === 'destroyOrNoun';
  // `message_list` and `order_search` begin with a noun.
  if (isAmbiguous && described === 'read' && words.some((word) => VERBS.read.has(word))) return 'read';
  return TIERS[kind];
}

/** Returns the tier that the first sentence of a description proves; undefined if it does not begin with a known verb. */
function describedTier(sentence: readonly string[], kinds: readonly VerbKind[]): Tier | undefined {
  const [first = ''] = sentence;
  const kind = kinds.find((one) => formsOf(first).some((form) => VERBS[one].has(form)));
  const isRead = kind === 'read' || kind === 'probablyRead' || formsOf(first).includes('return');
  const joined = sentence.flatMap((word, at) => {
    const found = CHANGING_KINDS.find((one) => formsOf(word).some((form) => VERBS[one].has(form)));
    return found !== undefined && CONJUNCTIONS.has(sentence[at - 1] ?? '') ? [TIERS[found]] : [];
  });
  if (joined.includes('destructive')) return 'destructive';
  if (isRead) return joined.includes('write') ? 'write' : 'read';
  return kind === undefined ? undefined : TIERS[kind];
}

/** Returns the words of the first sentence without labels and without words before the verb, such as "This tool" or "Use this to". */
function firstSentence(text: string): readonly string[] {
  const words = wordsOf(text.split(/[.!?\n:;]/).find((part) => wordsOf(part).length > 1) ?? text);
  const [first = '', second = ''] = words;
  if (first === 'this') return words.slice(2);
  // "Use this as the primary tool to list the log views."
  const to = first === 'use' ? words.slice(0, 8).indexOf('to') : -1;
  if (to > 0) return words.slice(to + 1);
  // "Take a screenshot" reads, "Take over" does not; "Perform a web search" reads as well.
  const object = words.slice(1, 6).find((word) => OBSERVATIONS.has(word));
  return ['take', 'perform'].includes(first) && second !== '' && object !== undefined ? ['get'] : words;
}

function saysReadOnly(text: string): boolean {
  return /\bread[- ]?only\b/i.test(text.split(/[.!?\n]/, 1)[0] ?? '');
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
