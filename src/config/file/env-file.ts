const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/** A quoted value may span lines; a comment after a bare value needs a blank before its `#`. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(?:"((?:\\[^]|[^"\\])*)"|'([^']*)'|((?![ \t"'])(?:[^\n#]|(?<=\S)#)*))[ \t]*(?:#[^\n]*)?(?:\n|$)/;
const BLANK = /^[ \t]*(?:#[^\n]*)?(?:\n|$)/;

/** The variables of an environment file, or the number of the first line that is not understood. */
export function parseEnvFile(
  text: string,
): { readonly variables: Readonly<Record<string, string>> } | { readonly badLine: number } {
  const variables = new Map<string, string>();
  let rest = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  let line = 1;
  while (rest !== '') {
    const blank = BLANK.exec(rest);
    const matched = blank ?? ASSIGNMENT.exec(rest);
    if (matched === null) return { badLine: line };
    const [whole, name, double, single, bare] = matched;
    if (name !== undefined) {
      const value = double === undefined ? (single ?? bare?.trim() ?? '') : unescape(double);
      variables.set(name, value);
    }
    line += whole.split('\n').length - 1;
    rest = rest.slice(whole.length);
  }
  return { variables: Object.fromEntries(variables) };
}

function unescape(text: string): string {
  return text.replaceAll(/\\([^])/g, (whole, letter: string) => ESCAPES[letter] ?? whole);
}
