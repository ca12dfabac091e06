/** Parses `--name value`, `--name=value` and bare `--name`; the accessor determines the type. */
export function readOptions(argv) {
  const values = new Map();
  for (let index = 0; index < argv.length; index += 1) {
    const word = argv[index];
    if (!word.startsWith('--')) continue;
    const equals = word.indexOf('=');
    if (equals !== -1) {
      values.set(word.slice(2, equals), word.slice(equals + 1));
    } else if (argv[index + 1] === undefined || argv[index + 1].startsWith('--')) {
      values.set(word.slice(2), '');
    } else {
      values.set(word.slice(2), argv[index + 1]);
      index += 1;
    }
  }
  return {
    has: (name) => values.has(name),
    text: (name, otherwise) => values.get(name) ?? otherwise,
    number: (name, otherwise) => (values.has(name) ? Number(values.get(name)) : otherwise),
  };
}
