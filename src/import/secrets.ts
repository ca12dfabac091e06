import { parseReferences } from '../config/references.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import { variableName } from './dialect.ts';
import { strings } from './foreign-entry.ts';

/** A secret that stands in an entry as it is. Its value must not be shown to anybody. */
export interface PlainSecret {
  /** Below the entry, such as `['env', 'TOKEN']` or `['args', '2']`. */
  readonly path: readonly [string, ...string[]];
  /** The text around it. */
  readonly before: string;
  readonly value: string;
  readonly after: string;
  /** What an environment variable for it would be called. */
  readonly variable: string;
}

const NAMES =
  /(?:^|[_.-])(?:token|secret|password|passwd|pwd|pass|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?|bearer|pat|key)$/i;
const HEADERS = /^(?:proxy-)?authorization$|^cookie$|token|secret|password|credential|(?:^|[-_])key$|apikey/i;
/** What well-known services give out. */
const FORMATS =
  /^(?:sk-[\w-]{16,}|[sr]k_(?:live|test)_\w{10,}|gh[oprsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{4,}\.[\w-]*|npm_\w{30,}|hf_\w{20,}|lin_api_\w{20,}|ntn_\w{20,}|tvly-[\w-]{16,}|sntrys_\S{20,}|figd_[\w-]{20,}|dop_v1_\w{40,}|shpat_\w{20,})$/;
const IN_ADDRESS = /^([a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:)([^@\s/]{3,})(@.*)$/is;
const IN_QUERY = /^(.*[?&](?:[\w-]*(?:token|secret|password|api[_-]?key|apikey|key))=)([^&#]{6,})(.*)$/is;
const FLAG = /^--?([A-Za-z][\w-]*)$/;
const FLAG_WITH_VALUE = /^(--?([A-Za-z][\w-]*)=)(.+)$/s;

/** The secrets that an entry holds in plain text; what is a reference already is none. */
export function plainSecrets(server: string, entry: JsonObject): readonly PlainSecret[] {
  const { env, headers, args, url, authorizationToken } = entry;
  return [
    ...(isJsonObject(env) ? Object.entries(env) : []).flatMap(([name, text]) =>
      found(['env', name], text, name, NAMES.test(name) ? ['', text, ''] : undefined),
    ),
    ...(isJsonObject(headers) ? Object.entries(headers) : []).flatMap(([name, text]) =>
      found(['headers', name], text, variableName(server, headerWord(name)), headerParts(name, text)),
    ),
    ...inArguments(server, strings(args)),
    ...found(['url'], url, variableName(server, 'token')),
    ...found(['authorizationToken'], authorizationToken, variableName(server, 'token'), [
      '',
      authorizationToken,
      '',
    ]),
  ];
}

/** The entry with one of its texts replaced. */
export function withText(
  entry: JsonObject,
  { path: [key, inner] }: Pick<PlainSecret, 'path'>,
  text: string,
): JsonObject {
  const value = entry[key];
  if (inner === undefined) return { ...entry, [key]: text };
  if (Array.isArray(value)) return { ...entry, [key]: value.with(Number(inner), text) };
  return { ...entry, [key]: { ...(isJsonObject(value) ? value : {}), [inner]: text } };
}

type Parts = readonly [before: string, value: unknown, after: string];

function found(
  path: PlainSecret['path'],
  text: unknown,
  variable: string,
  whole?: Parts,
): readonly PlainSecret[] {
  if (typeof text !== 'string' || hasReference(text)) return [];
  const parts = whole !== undefined && isLikely(whole[1]) ? whole : withinText(text);
  if (parts === undefined || typeof parts[1] !== 'string') return [];
  return [{ path, before: parts[0], value: parts[1], after: parts[2], variable }];
}

function withinText(text: string): Parts | undefined {
  if (FORMATS.test(text)) return ['', text, ''];
  const [, before, value, after] =
    IN_ADDRESS.exec(text) ?? (/^https?:/i.test(text) ? IN_QUERY.exec(text) : null) ?? [];
  return before === undefined || value === undefined ? undefined : [before, value, after ?? ''];
}

/** Of `Bearer abc` the scheme is none. */
function headerParts(name: string, text: unknown): Parts | undefined {
  if (typeof text !== 'string' || !HEADERS.test(name)) return undefined;
  const [, scheme = '', value] = /^((?:Bearer|Basic|Token|ApiKey)\s+)?(.*)$/is.exec(text) ?? [];
  return [scheme, value, ''];
}

function headerWord(name: string): string {
  return /^(?:proxy-)?authorization$/i.test(name) ? 'token' : name.replace(/^x-/i, '');
}

function inArguments(server: string, args: readonly string[]): readonly PlainSecret[] {
  return args.flatMap((text, at) => {
    const path = ['args', String(at)] as const;
    const [, before, flag = '', value] = FLAG_WITH_VALUE.exec(text) ?? [];
    if (before !== undefined && NAMES.test(flag))
      return found(path, text, variableName(server, flag), [before, value, '']);
    const [, previous = ''] = FLAG.exec(args[at - 1] ?? '') ?? [];
    if (NAMES.test(previous)) return found(path, text, variableName(server, previous), ['', text, '']);
    return found(path, text, variableName(server, 'secret'));
  });
}

function hasReference(text: string): boolean {
  return parseReferences(text).some((part) => typeof part !== 'string');
}

/** Not what somebody wrote to be replaced, nor a path, a number or a switch. */
function isLikely(value: unknown): boolean {
  if (typeof value !== 'string' || value.length < 6) return false;
  if (/^(?:true|false|none|null|\d+|[/~.].*|https?:\/\/[^@]*)$/i.test(value)) return false;
  return !/^<.*>$|^\[.*\]$|^(?:your|my|the)[-_ ]|^x{3,}$|\.\.\.|…/i.test(value);
}
