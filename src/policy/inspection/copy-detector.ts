import type { NamedTool } from './cross-server-inspection.ts';
import { normalizeName } from './normalize-text.ts';

/**
 * A tool with nearly the same name as another counts as a copy if its description contains at least this
 * share of the other's words.
 */
const SAME_WORDS = 0.7;
/**
 * Like `SAME_WORDS`, but for a description that names its own server. Such a tool is unlikely to pose as a
 * tool of another server.
 */
const SAME_WORDS_IF_SIGNED = 0.9;
/**
 * Two servers with at least this many tool names in common count as instances of one program, for example for
 * two accounts.
 */
const SAME_PROGRAM = 3;
/** Maximum number of tools per key, and of servers per tool name, that are compared. It bounds the work. */
const MAX_COMPARED = 50;
/** Minimum length of a name for a comparison that tolerates one typo. Shorter names must be equal. */
const MIN_FUZZY_LENGTH = 8;

const STOP_WORDS = new Set(
  'a an the of to in on for from by with and or is are be it its this that as at into via your you'.split(
    ' ',
  ),
);

/** Returns a function that finds the tool of another server that a tool copies. */
export function createCopyDetector(tools: readonly NamedTool[]): (tool: NamedTool) => NamedTool | undefined {
  const toolsByKey = new Map<string, NamedTool[]>();
  for (const tool of tools) {
    for (const key of similarityKeys(normalizeName(tool.definition.name))) {
      const similar = toolsByKey.get(key);
      if (similar === undefined) toolsByKey.set(key, [tool]);
      else if (similar.length < MAX_COMPARED) similar.push(tool);
    }
  }
  const commonNames = countCommonNames(tools);
  const isSameProgram = (one: string, other: string): boolean =>
    (commonNames.get(`${one}\n${other}`) ?? commonNames.get(`${other}\n${one}`) ?? 0) >= SAME_PROGRAM;
  return (tool) => {
    const name = normalizeName(tool.definition.name);
    const words = descriptionWords(tool);
    const candidates = new Set(similarityKeys(name).flatMap((key) => toolsByKey.get(key) ?? []));
    return [...candidates].find(
      (other) =>
        other.upstream !== tool.upstream &&
        isSimilar(name, normalizeName(other.definition.name)) &&
        !isSameProgram(tool.upstream, other.upstream) &&
        containedShare(descriptionWords(other), words) >=
          (namesOwnServer(tool, other) ? SAME_WORDS_IF_SIGNED : SAME_WORDS),
    );
  };
}

/** Counts the tool names that each pair of servers has in common. */
function countCommonNames(tools: readonly NamedTool[]): ReadonlyMap<string, number> {
  const upstreamsByName = new Map<string, Set<string>>();
  for (const { upstream, definition } of tools) {
    const name = normalizeName(definition.name);
    upstreamsByName.set(name, (upstreamsByName.get(name) ?? new Set()).add(upstream));
  }
  const counts = new Map<string, number>();
  for (const upstreams of upstreamsByName.values()) {
    const list = [...upstreams].slice(0, MAX_COMPARED);
    list.forEach((one, index) => {
      for (const other of list.slice(index + 1)) {
        const key = `${one}\n${other}`;
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    });
  }
  return counts;
}

/**
 * Returns the lookup keys of a name. Two names that differ by one typo share at least one key: the typo is in
 * one half of the name, so the beginning or the end is equal. Three lengths of these parts are used, because
 * the names may differ in length by one.
 */
function similarityKeys(name: string): readonly string[] {
  if (name.length < MIN_FUZZY_LENGTH) return [name];
  return [-1, 0, 1].flatMap((offset) => {
    const half = Math.floor((name.length + offset) / 2) - 1;
    return [`${half}<${name.slice(0, half)}`, `${half}>${name.slice(-half)}`];
  });
}

/**
 * Whether two names are equal or differ by one typo: one letter is added, left out, changed or swapped with
 * the next.
 */
function isSimilar(one: string, other: string): boolean {
  if (one === other) return true;
  if (one.length < MIN_FUZZY_LENGTH || Math.abs(one.length - other.length) > 1) return false;
  let prefix = 0;
  while (prefix < one.length && one[prefix] === other[prefix]) prefix++;
  let suffix = 0;
  while (
    suffix < one.length - prefix &&
    suffix < other.length - prefix &&
    one.at(-1 - suffix) === other.at(-1 - suffix)
  )
    suffix++;
  const left = one.slice(prefix, one.length - suffix);
  const right = other.slice(prefix, other.length - suffix);
  return (
    (left.length <= 1 && right.length <= 1) ||
    (left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0])
  );
}

function descriptionWords({ definition: { description } }: NamedTool): ReadonlySet<string> {
  const text = typeof description === 'string' ? description.slice(0, 2000).toLowerCase() : '';
  const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap(splitUnspacedWord);
  return new Set(
    words.filter((word) => !STOP_WORDS.has(word)).map((word) => word.replace(/(?:es|s|ed|ing)$/, '')),
  );
}

/** Splits words of scripts without spaces into pairs of characters. */
function splitUnspacedWord(word: string): readonly string[] {
  if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) return [word];
  return Array.from({ length: Math.max(1, word.length - 1) }, (_, index) => word.slice(index, index + 2));
}

/** Whether a description contains a word of its own server's name that the other tool does not contain. */
function namesOwnServer(tool: NamedTool, other: NamedTool): boolean {
  const words = descriptionWords(tool);
  const otherWords = descriptionWords(other);
  return (tool.upstream.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).some(
    (word) => words.has(word) && !otherWords.has(word) && !other.upstream.toLowerCase().includes(word),
  );
}

/** Returns the share of `words` that `container` contains; 0 for fewer than two words, which prove nothing. */
function containedShare(words: ReadonlySet<string>, container: ReadonlySet<string>): number {
  if (words.size < 2) return 0;
  return [...words].filter((word) => container.has(word)).length / words.size;
}
