const MAX_PATTERN = 500;
/** Steps that matching may take in the worst case; some milliseconds. */
const MAX_STEPS = 1e7;

interface Pattern {
  test(text: string): boolean;
  toString(): string;
}

/**
 * A regular expression of a server that cannot hang us: where matching a text could take too long, by a rough bound from
 * above, everything matches. In the form that the compiler of schemas wants an engine to have.
 */
export const boundedPattern = Object.assign(
  (source: string, flags: string): Pattern => {
    const pattern = compiled(source, flags);
    const costOf = pattern === undefined ? undefined : costBound(source);
    const test = (text: string): boolean =>
      pattern === undefined || costOf === undefined || costOf(text.length) > MAX_STEPS || pattern.test(text);
    // Engines tell patterns apart by this.
    return { test, toString: () => `/${source}/${flags}` };
  },
  { code: 'boundedPattern' },
);

function compiled(source: string, flags: string): RegExp | undefined {
  for (const each of [flags, '']) {
    try {
      return new RegExp(source, each);
    } catch {
      // Many patterns are only valid without `u`; the others are left to the server.
    }
  }
  return undefined;
}

function costBound(source: string): ((length: number) => number) | undefined {
  // Repeated groups and back-references can be exponential; telling which are not takes a real analysis.
  if (source.length > MAX_PATTERN || /\)[*+{]|\\[1-9k]/.test(source)) return undefined;
  const plain = source.replaceAll(/\\.|\[(?:\\.|[^\]\\])*\]/gs, 'x');
  const repeats = plain.match(/[*+{]/g)?.length ?? 0;
  const choices = (plain.match(/\?/g)?.length ?? 0) + (plain.match(/\|/g)?.length ?? 0);
  return (length) => (length + 1) ** (repeats + 1) * 2 ** choices;
}
