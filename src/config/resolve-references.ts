import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

import { GatewayError } from '../core/errors.ts';
import type { JsonObject } from '../core/json.ts';
import { quoteShellWord } from '../core/lib/quote-shell-word.ts';
import {
  isCommandKind,
  ProgramFailure,
  readReferenceCommand,
  runReferenceCommand,
} from './reference-command.ts';
import type { CommandKind, RunningPrograms } from './reference-command.ts';

/**
 * A placeholder for a value that is stored elsewhere: `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `${file:path}`, `${secret:NAME}`
 * (or `${keychain:NAME}`, which means the same), or a program that prints the value, such as `${cmd:["op","read","op://…"]}`.
 */
export interface Reference {
  readonly from: 'env' | 'file' | 'secret' | 'keychain' | CommandKind;
  /** The name, the path, or everything after `cmd:`. */
  readonly name: string;
  /** Replaces a variable that is unset or empty. */
  readonly fallback?: string | undefined;
}

interface MalformedReference {
  readonly from: 'malformed';
  readonly problem: string;
}

const VARIABLE_NAME = /^[A-Za-z_]\w*$/;
const SECRET_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

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
      const end = findEnd(text, at + 2);
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

/** Returns the index of the brace that closes a reference, or -1. Braces inside the quoted strings of a `cmd:` reference do not count. */
function findEnd(text: string, start: number): number {
  if (!text.startsWith('cmd:', start)) return text.indexOf('}', start);
  const inner = /^cmd:(?:[^"}]|"(?:[^"\\]|\\.)*")*/s.exec(text.slice(start))?.[0] ?? '';
  const end = start + inner.length;
  return text[end] === '}' ? end : -1;
}

function parseReference(body: string): Reference | MalformedReference {
  if (body.includes('${')) return malformed(`\${${body}} has a reference inside a reference`);
  const [, kind, rest = ''] = /^([A-Za-z]+(?:-sm)?):(?!-)(.*)$/s.exec(body) ?? [];
  if (kind === undefined || kind === 'env') {
    const { name, fallback } = splitFallback(kind === undefined ? body : rest);
    if (kind === undefined ? !VARIABLE_NAME.test(name) : name === '') {
      return malformed(`\${${body}} does not name an environment variable`);
    }
    return { from: 'env', name, fallback };
  }
  if (kind === 'file') return rest === '' ? malformed('${file:} has no name') : { from: kind, name: rest };
  if (kind === 'secret' || kind === 'keychain') {
    return isSecretReferenceName(rest)
      ? { from: kind, name: rest }
      : malformed(`\${${body}} needs a name of up to 128 letters, digits, "_", "-" and "."`);
  }
  if (!isCommandKind(kind)) {
    return malformed(
      `\${${kind}:…} is not a kind of reference; use \${secret:NAME}, \${env:NAME} or \${file:path}`,
    );
  }
  const command = readReferenceCommand(kind, rest);
  return typeof command === 'string' ? malformed(`\${${kind}:…}: ${command}`) : { from: kind, name: rest };
}

/** Whether a secret can be stored under this name. */
export function isSecretReferenceName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Whether a text has a reference whose value a program prints. */
export function hasCommandReference(text: string): boolean {
  return parseReferences(text).some((part) => typeof part !== 'string' && isCommandKind(part.from));
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

/** Reads stored secrets. */
export interface SecretReader {
  /** Resolves to undefined if no secret of this name is stored. */
  read(name: string): Promise<string | undefined>;
}

/**
 * Creates a reader of variables, of files relative to the folder of the configuration, of stored secrets, and of the output of programs.
 * Each program runs only once. If a variable is unset or empty, the reader uses the stored secret of the same name.
 */
export function createReferenceReader(options: {
  /** The environment of programs. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Returns the value of a variable; default: that in `env`. */
  readonly readVariable?: ((name: string) => string | undefined) | undefined;
  readonly home: string;
  readonly configFile: string;
  /** Absent for settings that decide where secrets are stored, because such settings cannot refer to secrets. */
  readonly secrets?: SecretReader | undefined;
  /** Returns the PATH for programs; default: that of `env`. */
  readonly searchPath?: (() => Promise<string | undefined>) | undefined;
  /** Ends the programs of a gateway. */
  readonly running?: RunningPrograms | undefined;
}): ReferenceReader {
  const { env, home, secrets } = options;
  const lookUp = options.readVariable ?? ((name) => env[name]);
  const folder = dirname(options.configFile);
  const toAbsolute = (path: string): string =>
    /^~(?:[/\\]|$)/.test(path) ? join(home, path.slice(1)) : resolve(folder, path);
  const readText = (path: string): Promise<string> => readFile(toAbsolute(path), 'utf8');
  const readVariable = async (name: string): Promise<string | undefined> => {
    const value: unknown = lookUp(name);
    // A plain object also inherits members such as "constructor".
    if (typeof value === 'string' && value !== '') return value;
    const stored = isSecretReferenceName(name) ? await secrets?.read(name) : undefined;
    return stored ?? (typeof value === 'string' ? value : undefined);
  };
  const outputs = new Map<string, Promise<string>>();
  const runProgram = async (kind: CommandKind, text: string): Promise<string> => {
    const command = readReferenceCommand(kind, text);
    if (typeof command === 'string') throw new ProgramFailure(command);
    const path = (await options.searchPath?.()) ?? env['PATH'];
    return runReferenceCommand(command, { env: { ...env, PATH: path }, cwd: home, running: options.running });
  };
  return {
    resolve: toAbsolute,
    readText,
    async read({ from, name }) {
      if (from === 'env') return readVariable(name);
      if (from === 'file') return (await readText(name)).replace(/^\uFEFF/, '').replace(/[\r\n]+$/, '');
      if (!isCommandKind(from)) {
        if (secrets === undefined) throw new SecretsUnavailable();
        return secrets.read(name);
      }
      const key = `${from}:${name}`;
      const output = outputs.get(key) ?? runProgram(from, name);
      outputs.set(key, output);
      output.catch(() => outputs.delete(key)); // The caller gets the error; the next use runs the program again.
      return output;
    },
  };
}

class SecretsUnavailable extends Error {}

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
  const { fallback } = reference;
  const { subject, name, fix } = describeReference(reference);
  const missing = (problem: string, cause?: unknown, ownFix = ''): GatewayError =>
    referenceError('SECRET_MISSING', options, ownFix === '' ? problem : `${problem}. ${ownFix}`, {
      cause,
      details: { from: reference.from, name, problem, fix: ownFix === '' ? undefined : ownFix },
    });
  let value: string | undefined;
  try {
    value = await options.read(reference);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    if (error instanceof SecretsUnavailable)
      throw missing(`${subject} cannot be used in this setting; use \${env:NAME} or \${file:path}`, error);
    if (error instanceof ProgramFailure) throw missing(`${subject} ${error.message}`, error, fix);
    throw missing(`${subject} cannot be read${formatReadError(error)}`, error);
  }
  if (value === undefined || value === '') {
    if (fallback !== undefined) return fallback;
    throw missing(`${subject} is ${value === undefined ? absenceOf(reference) : 'empty'}`, undefined, fix);
  }
  // Node would reject the value later, but its error message would contain the secret.
  if (value.includes('\0')) throw missing(`${subject} holds a NUL character`);
  return value;
}

function absenceOf({ from }: Reference): string {
  return from === 'env' ? 'not set' : 'not stored';
}

/** Describes a reference for messages. `fix` is the sentence with the command that provides the value. */
function describeReference({ from, name }: Reference): {
  readonly subject: string;
  readonly name: string;
  readonly fix: string;
} {
  if (from === 'file') return { subject: `the file ${basename(name)}`, name, fix: '' };
  if (isCommandKind(from)) {
    const command = readReferenceCommand(from, name);
    const program = typeof command === 'string' ? from : command.program;
    const isPreset = from !== 'cmd' && typeof command !== 'string';
    const line = isPreset ? `: ${[command.program, ...command.args].map(quoteShellWord).join(' ')}` : '';
    return { subject: `the program ${program}`, name: program, fix: `To see why, run it yourself${line}` };
  }
  const fix = isSecretReferenceName(name) ? `Store its value with: trunkline secret set ${name}` : '';
  return { subject: `the ${from === 'env' ? 'environment variable' : 'secret'} ${name}`, name, fix };
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
