import type { NamedTool } from './neighbours.ts';

/** A name that is nearly another's, with what is nearly its description, is made to be taken for it. */
const SAME_WORDS = 0.7;
/** Whoever names the server it belongs to is taken for another only with nearly all of its words. */
const SAME_WORDS_SIGNED = 0.9;
/** Servers that share this many tools are the same program twice, as for two accounts. */
const SAME_PROGRAM = 3;
/** More neighbours of one spelling than this are not compared, so that the work stays small. */
const MAX_COMPARED = 50;
const MIN_LETTERS = 8;

const STOP = new Set(
  'a an the of to in on for from by with and or is are be it its this that as at into via your you'.split(
    ' ',
  ),
);

/** For each tool the one of another server that it copies, if there is one. */
export function twinsAmong(tools: readonly NamedTool[]): (tool: NamedTool) => NamedTool | undefined {
  const byKey = new Map<string, NamedTool[]>();
  for (const tool of tools) {
    for (const key of keysOf(spelling(tool.definition.name))) {
      const list = byKey.get(key);
      if (list === undefined) byKey.set(key, [tool]);
      else if (list.length < MAX_COMPARED) list.push(tool);
    }
  }
  const shared = sharedNames(tools);
  const isSameProgram = (one: string, other: string): boolean =>
    (shared.get(`${one}\n${other}`) ?? shared.get(`${other}\n${one}`) ?? 0) >= SAME_PROGRAM;
  return (tool) => {
    const name = spelling(tool.definition.name);
    const words = wordsOf(tool);
    const near = new Set(keysOf(name).flatMap((key) => byKey.get(key) ?? []));
    return [...near].find(
      (other) =>
        other.upstream !== tool.upstream &&
        isNear(name, spelling(other.definition.name)) &&
        !isSameProgram(tool.upstream, other.upstream) &&
        share(wordsOf(other), words) >= (isSigned(tool, other) ? SAME_WORDS_SIGNED : SAME_WORDS),
    );
  };
}

/** How many names each two servers have in common. */
function sharedNames(tools: readonly NamedTool[]): ReadonlyMap<string, number> {
  const byName = new Map<string, Set<string>>();
  for (const { upstream, definition } of tools) {
    const name = spelling(definition.name);
    byName.set(name, (byName.get(name) ?? new Set()).add(upstream));
  }
  const shared = new Map<string, number>();
  for (const upstreams of byName.values()) {
    const list = [...upstreams].slice(0, MAX_COMPARED);
    list.forEach((one, at) => {
      for (const other of list.slice(at + 1)) {
        const key = `${one}\n${other}`;
        shared.set(key, (shared.get(key) ?? 0) + 1);
      }
    });
  }
  return shared;
}

function spelling(name: string): string {
  return name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Two spellings with one slip between them have their first or their last half in common. */
function keysOf(name: string): readonly string[] {
  if (name.length < MIN_LETTERS) return [name];
  return [-1, 0, 1].flatMap((offset) => {
    const half = Math.floor((name.length + offset) / 2) - 1;
    return [`${half}<${name.slice(0, half)}`, `${half}>${name.slice(-half)}`];
  });
}

/** Equal, or one letter is added, left out, changed or swapped with the next. */
function isNear(one: string, other: string): boolean {
  if (one === other) return true;
  if (one.length < MIN_LETTERS || Math.abs(one.length - other.length) > 1) return false;
  let begin = 0;
  while (begin < one.length && one[begin] === other[begin]) begin++;
  let end = 0;
  while (end < one.length - begin && end < other.length - begin && one.at(-1 - end) === other.at(-1 - end))
    end++;
  const left = one.slice(begin, one.length - end);
  const right = other.slice(begin, other.length - end);
  return (
    (left.length <= 1 && right.length <= 1) ||
    (left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0])
  );
}

function wordsOf({ definition: { description } }: NamedTool): ReadonlySet<string> {
  const text = typeof description === 'string' ? description.slice(0, 2000).toLowerCase() : '';
  const words = (text.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap(pairsOfSigns);
  return new Set(words.filter((word) => !STOP.has(word)).map((word) => word.replace(/(?:es|s|ed|ing)$/, '')));
}

/** Whether a description has a word of its own server's name that the other has nowhere. */
function isSigned(tool: NamedTool, other: NamedTool): boolean {
  const words = wordsOf(tool);
  const theirs = wordsOf(other);
  return (tool.upstream.toLowerCase().match(/[\p{L}\p{N}]{4,}/gu) ?? []).some(
    (word) => words.has(word) && !theirs.has(word) && !other.upstream.toLowerCase().includes(word),
  );
}

/** Scripts without spaces, in pairs of signs. */
function pairsOfSigns(word: string): readonly string[] {
  if (!/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) return [word];
  return Array.from({ length: Math.max(1, word.length - 1) }, (_, at) => word.slice(at, at + 2));
}

function share(of: ReadonlySet<string>, within: ReadonlySet<string>): number {
  if (of.size < 2) return 0;
  return [...of].filter((word) => within.has(word)).length / of.size;
}
