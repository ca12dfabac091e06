/** Pseudo-random choices that depend on the seed text alone, so every machine generates the same catalog. */
export function createRandom(seed) {
  let state = hashOf(seed);
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const pick = (list) => list[Math.floor(next() * list.length)];
  const chance = (probability) => next() < probability;
  const shuffle = (list) =>
    list
      .map((item) => ({ item, key: next() }))
      .toSorted((one, other) => one.key - other.key)
      .map(({ item }) => item);
  /** Up to `count` different items in random order. */
  const sample = (list, count) => shuffle(list).slice(0, count);
  return { next, pick, chance, shuffle, sample };
}

/** FNV-1a */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ character.codePointAt(0), 0x01000193);
  return hash >>> 0;
}
