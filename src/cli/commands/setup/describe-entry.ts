import {
  isSecretName,
  maskArgs,
  maskText,
  maskUrl,
  maskValue,
  SECRET_MASK,
} from '../../../config/mask-secrets.ts';
import { quoteShellWord } from '../../../core/lib/quote-shell-word.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { JsonObject } from '../../../core/json.ts';
import { createSecretSearch } from '../../../observability/secret-formats.ts';
import { maskEntry } from '../../../setup/manage/mask-entry.ts';
import { toStrings } from '../../../setup/import/entry-reader.ts';
import type { CliContext } from '../../context.ts';
import { toOneLine } from '../../sanitize.ts';

/** One property that decides what a server runs or reaches, for example its command or its environment. */
export interface EntryDetail {
  readonly label: string;
  readonly text: string;
}

/**
 * The origin of an entry decides what is masked. A `user` file may hold the user's own secrets, so every value that could be one is masked.
 * A `project` file was written by others, so only text that clearly looks like a secret is masked.
 */
type EntryOrigin = 'user' | 'project';

/** Describes everything that decides what a server runs or reaches: the whole command, and the names of variables and headers. */
export function describeEntry(entry: JsonObject, origin: EntryOrigin): readonly EntryDetail[] {
  const search = createSecretSearch();
  const { command, args, url, env, headers, headersHelper, cwd, envFile, cli, auth, tools } = entry;
  const address = typeof url === 'string' ? url : entry['serverUrl'];
  const details: (readonly [string, string])[] = [
    ['command', typeof command === 'string' ? formatCommand(command, toStrings(args), origin) : ''],
    ['url', typeof address === 'string' ? maskAddress(address, origin) : ''],
    ['env', formatValues(env, origin)],
    ['headers', formatValues(headers, origin)],
    ['headersHelper', formatHelper(headersHelper, origin)],
    ['cwd', typeof cwd === 'string' ? cwd : ''],
    ['envFile', typeof envFile === 'string' ? envFile : ''],
    ...Object.entries(maskEntry({ cli, auth, tools })).map(
      ([label, value]) => [label, value === undefined ? '' : JSON.stringify(value)] as const,
    ),
  ];
  return details.flatMap(([label, text]) =>
    text === '' ? [] : [{ label, text: toOneLine(search.mask(text, SECRET_MASK)) }],
  );
}

/** Prints the details of a server below its name. */
export function printEntryDetails(details: readonly EntryDetail[], { out }: CliContext): void {
  for (const { label, text } of details) out.line(`    ${out.paint.dim(label.padEnd(7))}  ${text}`);
}

export function detailsToJson(details: readonly EntryDetail[]): JsonObject {
  return Object.fromEntries(details.map(({ label, text }) => [label, text]));
}

/** Formats the command that prints headers: a line for the shell, or a program with its arguments. */
function formatHelper(helper: unknown, origin: EntryOrigin): string {
  if (typeof helper === 'string') return maskText(helper);
  const [command, ...args] = toStrings(helper);
  return command === undefined ? '' : formatCommand(command, args, origin);
}

/** Formats a command with all its arguments. Words with spaces are quoted. */
function formatCommand(command: string, args: readonly string[], origin: EntryOrigin): string {
  const masked = maskArgs(args).map((text, at) =>
    origin === 'project' ? text : maskOwnArgument(text, args[at - 1] ?? ''),
  );
  return [maskText(command), ...masked].map(quoteWord).join(' ');
}

function quoteWord(word: string): string {
  return word === '' || /[\s'"]/.test(word) ? quoteShellWord(word) : word;
}

/** Matches a word with letters and digits that may be a key. Names of programs and packages rarely contain digits. */
const OPAQUE_WORD = /^(?=.*\d)(?=.*[A-Za-z])[\w-]{6,}$/;
/** Matches options whose next word is not a secret: it is a package, a file or code, or does not belong to the option. */
const OPEN_OPTION =
  /^(?:-y|--yes|-q|--quiet|-p|--package|--from|--with|--python|-m|-c|-e|--eval|-r|--require|--import)$/;

/** Masks an argument that looks like a key, even if the name of its option does not suggest a secret. */
function maskOwnArgument(text: string, previous: string): string {
  if (/^\w+:\/\//.test(text)) return maskAddress(text, 'user');
  const isValue = previous.startsWith('-') && !previous.includes('=') && !OPEN_OPTION.test(previous);
  if (isValue && OPAQUE_WORD.test(text)) return maskValue(text);
  const [, start, value] = /^(-{0,2}[\w.-]+=)(.*)$/s.exec(text) ?? [];
  return start !== undefined && value !== undefined && OPAQUE_WORD.test(value)
    ? start + maskValue(value)
    : text;
}

/** Masks secrets in a URL. In the user's own URLs, also masks path segments that look like keys and the values of all parameters. */
function maskAddress(url: string, origin: EntryOrigin): string {
  const masked = maskUrl(url);
  if (origin === 'project') return masked;
  const [, start = masked, path = '', query = ''] = /^(\w+:\/\/[^/?#]*)([^?#]*)(.*)$/s.exec(masked) ?? [];
  const segments = path.split('/').map((segment) => (OPAQUE_WORD.test(segment) ? SECRET_MASK : segment));
  return start + segments.join('/') + query.replaceAll(/=[^&#]*/g, `=${SECRET_MASK}`);
}

/** Formats variables or headers as `NAME=value`. References stay visible, because they show which secrets the server receives. */
function formatValues(values: unknown, origin: EntryOrigin): string {
  if (!isJsonObject(values)) return '';
  return Object.entries(values)
    .map(([name, value]) => {
      const text = String(value);
      const isShown = origin === 'project' && !isSecretName(name);
      return `${name}=${quoteWord(isShown ? maskText(text) : maskValue(text))}`;
    })
    .join(' ');
}
