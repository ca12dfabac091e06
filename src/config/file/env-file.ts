import { basename } from 'node:path';

import { formatReadError, referenceError } from '../resolve-references.ts';
import type { ReferenceReader } from '../resolve-references.ts';

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' };

/** Matches `KEY=VALUE`. A quoted value may span lines, and a comment after an unquoted value needs whitespace before its `#`. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(?:"((?:\\[^]|[^"\\])*)"|'([^']*)'|((?![ \t"'])(?:[^\n#]|(?<=\S)#)*))[ \t]*(?:#[^\n]*)?(?:\n|$)/;
const BLANK_LINE = /^[ \t]*(?:#[^\n]*)?(?:\n|$)/;

/** Reads the variables of a server's `envFile`. */
export async function readEnvFile(
  path: string,
  { server, reader }: { readonly server: string; readonly reader: ReferenceReader },
): Promise<Readonly<Record<string, string>>> {
  const field = { server, field: 'envFile' };
  // A model may see the message, so it names the file without its folder.
  const subject = `the file ${basename(path)}`;
  const details = { file: reader.resolve(path) };
  let text: string;
  try {
    text = await reader.readText(path);
  } catch (error) {
    const problem = `${subject} cannot be read${formatReadError(error)}`;
    throw referenceError('SECRET_MISSING', field, problem, { cause: error, details });
  }
  const parsed = parseEnvFile(text);
  if ('variables' in parsed) return parsed.variables;
  const problem = `line ${parsed.badLine} of ${subject} does not have the form KEY=VALUE`;
  throw referenceError('CONFIG_INVALID', field, problem, { details });
}

/** Returns the variables of an environment file, or the number of the first line that cannot be parsed. */
export function parseEnvFile(
  text: string,
): { readonly variables: Readonly<Record<string, string>> } | { readonly badLine: number } {
  const variables = new Map<string, string>();
  let rest = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  let line = 1;
  while (rest !== '') {
    const match = BLANK_LINE.exec(rest) ?? ASSIGNMENT.exec(rest);
    if (match === null) return { badLine: line };
    const [whole, name, double, single, bare] = match;
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
