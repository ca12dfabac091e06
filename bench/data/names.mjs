const LISTS = new Set(['list', 'search', 'export', 'import', 'count', 'filter', 'sort', 'receive', 'peek']);

/** The name of a tool in the style of its server. */
export function toolName({ name: server, naming }, verb, { thing, action }) {
  const noun = LISTS.has(action.key) ? thing.many : thing.one;
  const words = [...verb.split('_'), ...wordsIn(noun)];
  const prefix = server.split('-')[0];
  switch (naming) {
    case 'camel':
      return camelCase(words);
    case 'kebab':
      return words.join('-');
    case 'pascal':
      return words.map(capitalized).join('');
    case 'prefixed':
      return [prefix, ...words].join('_');
    case 'mixed':
      return `${prefix}_${camelCase(words)}`;
    case 'thing-first':
      return [...wordsIn(thing.one), ...verb.split('_')].join('-');
    default:
      return words.join('_');
  }
}

export function wordsIn(text) {
  return text.toLowerCase().split(/[^a-z0-9]+/);
}

export function camelCase(words) {
  return words.map((word, place) => (place === 0 ? word : capitalized(word))).join('');
}

export function titleCase(text) {
  return text.split(' ').map(capitalized).join(' ');
}

export function capitalized(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
