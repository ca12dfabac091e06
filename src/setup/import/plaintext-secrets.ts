import { parseReferences } from '../../config/resolve-references.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { toStrings } from './entry-reader.ts';
import { toVariableName } from './dialect.ts';

/** A secret that an entry holds as plain text. Its value must never be displayed. */
export interface PlaintextSecret {
  /** Relative to the entry, such as `['env', 'TOKEN']` or `['args', '2']`. */
  readonly path: readonly [string, ...string[]];
  /** The text before and after the secret. */
  readonly before: string;
  readonly value: string;
  readonly after: string;
  /** A suitable name for an environment variable with the secret. */
  readonly variable: string;
}

const SECRET_NAME =
  /(?:^|[_.-])(?:token|secret|password|passwd|pwd|pass|api[_-]?key|apikey|access[_-]?key|private[_-]?key|auth[_-]?key|credentials?|bearer|pat|key)$/i;
const SECRET_HEADER =
  /^(?:proxy-)?authorization$|^cookie$|token|secret|password|credential|(?:^|[-_])key$|apikey/i;
/** The token formats of well-known services. */
const TOKEN_FORMAT =
  /^(?:sk-[\w-]{16,}|[sr]k_(?:live|test)_\w{10,}|gh[oprsu]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|AKIA[0-9A-Z]{16}|AIza[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{4,}\.[\w-]*|npm_\w{30,}|hf_\w{20,}|lin_api_\w{20,}|ntn_\w{20,}|tvly-[\w-]{16,}|sntrys_\S{20,}|figd_[\w-]{20,}|dop_v1_\w{40,}|shpat_\w{20,}|tl(?:[ar]|admin)?_[\w-]{43,})$/;
const URL_PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:)([^@\s/]{3,})(@.*)$/is;
const URL_PARAMETER =
  /^(.*[?&](?:[\w-]*(?:token|secret|password|api[_-]?key|apikey|key))=)([^&#]{6,})(.*)$/is;
const FLAG = /^--?([A-Za-z][\w-]*)$/;
const FLAG_WITH_VALUE = /^(--?([A-Za-z][\w-]*)=)(.+)$/s;

/** Finds the secrets that an entry holds as plain text. References are not reported. */
export function findPlaintextSecrets(server: string, entry: JsonObject): readonly PlaintextSecret[] {
  const { env, headers, args, url, authorizationToken } = entry;
  const tokenVariable = toVariableName(server, 'token');
  return [
    ...(isJsonObject(env) ? Object.entries(env) : []).flatMap(([name, text]) =>
      findSecret(['env', name], text, name, SECRET_NAME.test(name) ? ['', text, ''] : undefined),
    ),
    ...(isJsonObject(headers) ? Object.entries(headers) : []).flatMap(([name, text]) => {
      const variable = toVariableName(server, headerVariable(name));
      return findSecret(['headers', name], text, variable, splitHeader(name, text));
    }),
    ...findSecretArguments(server, toStrings(args)),
    ...findSecret(['url'], url, tokenVariable),
    ...findSecret(['authorizationToken'], authorizationToken, tokenVariable, ['', authorizationToken, '']),
  ];
}

/** Replaces one text of an entry. */
export function replaceEntryText(
  entry: JsonObject,
  { path: [key, innerKey] }: Pick<PlaintextSecret, 'path'>,
  text: string,
): JsonObject {
  const value = entry[key];
  if (innerKey === undefined) return { ...entry, [key]: text };
  if (Array.isArray(value)) return { ...entry, [key]: value.with(Number(innerKey), text) };
  return { ...entry, [key]: { ...(isJsonObject(value) ? value : {}), [innerKey]: text } };
}

type TextParts = readonly [before: string, value: unknown, after: string];

/** Reports a text whose name suggests a secret (`namedSecret`), or whose format does. */
function findSecret(
  path: PlaintextSecret['path'],
  text: unknown,
  variable: string,
  namedSecret?: TextParts,
): readonly PlaintextSecret[] {
  if (typeof text !== 'string' || hasReference(text)) return [];
  const parts =
    namedSecret !== undefined && isLikelySecret(namedSecret[1]) ? namedSecret : splitByFormat(text);
  if (parts === undefined || typeof parts[1] !== 'string') return [];
  return [{ path, before: parts[0], value: parts[1], after: parts[2], variable }];
}

function hasReference(text: string): boolean {
  return parseReferences(text).some((part) => typeof part !== 'string');
}

/** Whether a value may be a secret. Placeholders, paths, numbers and booleans are not. */
function isLikelySecret(value: unknown): boolean {
  if (typeof value !== 'string' || value.length < 6) return false;
  if (/^(?:true|false|none|null|\d+|[/~.].*|https?:\/\/[^@]*)$/i.test(value)) return false;
  return !/^<.*>$|^\[.*\]$|^(?:your|my|the)[-_ ]|^x{3,}$|\.\.\.|…/i.test(value);
}

function splitByFormat(text: string): TextParts | undefined {
  if (TOKEN_FORMAT.test(text)) return ['', text, ''];
  const [, before, value, after] =
    URL_PASSWORD.exec(text) ?? (/^https?:/i.test(text) ? URL_PARAMETER.exec(text) : null) ?? [];
  return before === undefined || value === undefined ? undefined : [before, value, after ?? ''];
}

/** Splits off the scheme, such as `Bearer`, which is not part of the secret. */
function splitHeader(name: string, text: unknown): TextParts | undefined {
  if (typeof text !== 'string' || !SECRET_HEADER.test(name)) return undefined;
  const [, scheme = '', value] = /^((?:Bearer|Basic|Token|ApiKey)\s+)?(.*)$/is.exec(text) ?? [];
  return [scheme, value, ''];
}

function headerVariable(name: string): string {
  return /^(?:proxy-)?authorization$/i.test(name) ? 'token' : name.replace(/^x-/i, '');
}

function findSecretArguments(server: string, args: readonly string[]): readonly PlaintextSecret[] {
  return args.flatMap((text, at) => {
    const path = ['args', String(at)] as const;
    const [, before, flag = '', value] = FLAG_WITH_VALUE.exec(text) ?? [];
    if (before !== undefined && SECRET_NAME.test(flag)) {
      return findSecret(path, text, toVariableName(server, flag), [before, value, '']);
    }
    const [, previousFlag = ''] = FLAG.exec(args[at - 1] ?? '') ?? [];
    if (SECRET_NAME.test(previousFlag)) {
      return findSecret(path, text, toVariableName(server, previousFlag), ['', text, '']);
    }
    return findSecret(path, text, toVariableName(server, 'secret'));
  });
}
