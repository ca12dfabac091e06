import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';

/**
 * A placeholder for a value that is stored elsewhere: `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `${file:path}` or `${keychain:name}`.
 */
export interface Reference {
  readonly from: 'env' | 'file' | 'keychain';
  readonly name: string;
  /** Replaces a variable that is unset or empty. */
  readonly fallback?: string | undefined;
}

interface MalformedReference {
  readonly from: 'malformed';
  readonly problem: string;
}

const VARIABLE_NAME = /^[A-Za-z_]\w*$/;

/** Splits a text into literal parts and references. `$${` is a literal `${`. */
export function parseReferences(text: string): readonly (string | Reference | MalformedReference)[] {
  const parts: (string | Reference | MalformedReference)[] = [];
  let literal = '';
  let at = 0;
  while (at < text.length) {
    if (text.startsWith('$${', at)) {
      literal += '${';
      at += 3;
    } else if (text.startsWith('${', at)) {
      if (literal !== '') parts.push(literal);
      literal = '';
      const end = text.indexOf('}', at);
      parts.push(end < 0 ? malformed('a "${" is not closed') : parseReference(text.slice(at + 2, end)));
      at = end < 0 ? text.length : end + 1;
    } else {
      literal += text[at];
      at += 1;
    }
  }
  if (literal !== '') parts.push(literal);
  return parts;
}

function parseReference(body: string): Reference | MalformedReference {
  if (body.includes('${')) return malformed(`\${${body}} has a reference inside a reference`);
  const [, kind, rest = ''] = /^([A-Za-z]+):(?!-)(.*)$/s.exec(body) ?? [];
  if (kind === undefined || kind === 'env') {
    const { name, fallback } = splitFallback(kind === undefined ? body : rest);
    if (kind === undefined ? !VARIABLE_NAME.test(name) : name === '') {
      return malformed(`\${${body}} does not name an environment variable`);
    }
    return { from: 'env', name, fallback };
  }
  if (kind !== 'file' && kind !== 'keychain') {
    return malformed(`\${${kind}:…} is not a kind of reference; use \${env:NAME} or \${file:path}`);
  }
  return rest === '' ? malformed(`\${${kind}:} has no name`) : { from: kind, name: rest };
}

function splitFallback(text: string): { readonly name: string; readonly fallback?: string } {
  const at = text.indexOf(':-');
  return at < 0 ? { name: text } : { name: text.slice(0, at), fallback: text.slice(at + 2) };
}

function malformed(problem: string): MalformedReference {
  return { from: 'malformed', problem: `${problem}; write "$\${" for a literal "\${"` };
}

/** Returns the first syntax error among the references of a text, without resolving any. */
export function findReferenceProblem(text: string): string | undefined {
  for (const part of parseReferences(text)) {
    if (typeof part !== 'string' && part.from === 'malformed') return part.problem;
  }
  return undefined;
}

/** Escapes a text so that `resolveReferences` returns it unchanged. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Looks up references and finds files. */
export interface ReferenceReader {
  /** Resolves to undefined if the variable does not exist; rejects if the file cannot be read. */
  read(reference: Reference): Promise<string | undefined>;
  readText(path: string): Promise<string>;
  /** Makes a path of the configuration absolute. */
  resolve(path: string): string;
}

/** Creates a reader of variables in `env` and of files relative to the folder of the configuration. */
export function createReferenceReader(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly configFile: string;
}): ReferenceReader {
  const folder = dirname(options.configFile);
  const toAbsolute = (path: string): string =>
    /^~(?:[/\\]|$)/.test(path) ? join(options.home, path.slice(1)) : resolve(folder, path);
  const readText = (path: string): Promise<string> => readFile(toAbsolute(path), 'utf8');
  return {
    resolve: toAbsolute,
    readText,
    async read({ from, name }) {
      if (from === 'env') {
        const value: unknown = options.env[name];
        // A plain object also inherits members such as "constructor".
        return typeof value === 'string' ? value : undefined;
      }
      return (await readText(name)).replace(/^\uFEFF/, '').replace(/[\r\n]+$/, '');
    },
  };
}

/** Identifies a setting in error messages. */
interface ServerField {
  readonly server: string;
  /** A path such as `env.TOKEN` or `args[1]`. */
  readonly field: string;
}

/**
 * Replaces every reference in a text with its value. References inside a value are not expanded. Rejects if a value is missing or empty,
 * unless the reference has a fallback such as `${NAME:-}`.
 */
export async function resolveReferences(
  text: string,
  options: ServerField & { readonly read: ReferenceReader['read'] },
): Promise<string> {
  let resolved = '';
  for (const part of parseReferences(text)) {
    if (typeof part === 'string') resolved += part;
    else if (part.from === 'malformed') throw referenceError('CONFIG_INVALID', options, part.problem);
    else resolved += await readValue(part, options);
  }
  return resolved;
}

async function readValue(
  reference: Reference,
  options: ServerField & { readonly read: ReferenceReader['read'] },
): Promise<string> {
  const { from, name, fallback } = reference;
  const missing = (problem: string, cause?: unknown): GatewayError =>
    referenceError('SECRET_MISSING', options, problem, { cause, details: { from, name } });
  if (from === 'keychain') {
    throw missing(`\${keychain:${name}} is not available yet; use \${env:NAME} or \${file:path}`);
  }
  const subject = from === 'env' ? `the environment variable ${name}` : `the file ${basename(name)}`;
  let value: string | undefined;
  try {
    value = await options.read(reference);
  } catch (error) {
    throw missing(`${subject} cannot be read${formatReadError(error)}`, error);
  }
  if (value === undefined || value === '') {
    if (fallback !== undefined) return fallback;
    throw missing(value === undefined ? `${subject} is not set` : `${subject} is empty`);
  }
  // Node would reject the value later, but its error message would contain the secret.
  if (value.includes('\0')) throw missing(`${subject} holds a NUL character`);
  return value;
}

export function referenceError(
  code: 'SECRET_MISSING' | 'CONFIG_INVALID',
  { server, field }: ServerField,
  problem: string,
  { cause, details }: { readonly cause?: unknown; readonly details?: JsonObject } = {},
): GatewayError {
  return new GatewayError(code, `server "${server}", ${field}: ${problem}`, {
    cause,
    details: { server, field, ...details },
  });
}

/** Returns the reason of a failed read as the end of a sentence. */
export function formatReadError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return ': there is no such file';
  return typeof code === 'string' ? ` (${code})` : '';
}

/** Completes a message about a URL that `isHttpUrl` rejects. */
export const HTTP_URL_HINT = 'must be a URL that begins with http:// or https://';

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
