import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';

import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import type { CliConfig, TransportConfig, UpstreamConfig } from './config.ts';
import { parseEnvFile } from './file/env-file.ts';

/** A value that is elsewhere, written as `${env:NAME}`, `${NAME}`, `${NAME:-default}`, `${file:path}` or `${keychain:name}`. */
export interface Reference {
  readonly from: 'env' | 'file' | 'keychain';
  readonly name: string;
  /** Stands in for a variable that is unset or empty. */
  readonly fallback?: string;
}

interface Malformed {
  readonly from: 'malformed';
  readonly problem: string;
}

const NAME = /^[A-Za-z_]\w*$/;

/** The text cut into what stands for itself and what is to be looked up; `$${` is a literal `${`. */
export function parseReferences(text: string): readonly (string | Reference | Malformed)[] {
  const parts: (string | Reference | Malformed)[] = [];
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

function parseReference(body: string): Reference | Malformed {
  if (body.includes('${')) return malformed(`\${${body}} has a reference inside a reference`);
  const [, kind, rest = ''] = /^([A-Za-z]+):(?!-)(.*)$/s.exec(body) ?? [];
  if (kind === undefined || kind === 'env') {
    const { name, fallback } = splitFallback(kind === undefined ? body : rest);
    if (kind === undefined ? !NAME.test(name) : name === '') {
      return malformed(`\${${body}} does not name an environment variable`);
    }
    return { from: 'env', name, ...(fallback !== undefined && { fallback }) };
  }
  if (kind !== 'file' && kind !== 'keychain') {
    return malformed(`\${${kind}:…} is not a kind of reference; known are \${env:NAME} and \${file:path}`);
  }
  return rest === '' ? malformed(`\${${kind}:} does not say which`) : { from: kind, name: rest };
}

function splitFallback(text: string): { readonly name: string; readonly fallback?: string } {
  const at = text.indexOf(':-');
  return at < 0 ? { name: text } : { name: text.slice(0, at), fallback: text.slice(at + 2) };
}

function malformed(problem: string): Malformed {
  return { from: 'malformed', problem: `${problem}; write "$\${" where "\${" itself is meant` };
}

/** What is wrong with the references in a text, without looking anything up. */
export function referenceProblem(text: string): string | undefined {
  for (const part of parseReferences(text)) {
    if (typeof part !== 'string' && part.from === 'malformed') return part.problem;
  }
  return undefined;
}

/** The text that reveals as `text` itself. */
export function escapeReferences(text: string): string {
  return text.replaceAll('${', () => '$${');
}

/** Where references are looked up and files are found. */
export interface ReferenceReader {
  /** Undefined when there is no such variable; rejects when there is no such file. */
  read(reference: Reference): Promise<string | undefined>;
  readText(path: string): Promise<string>;
  /** Makes a path as written in the configuration absolute. */
  resolve(path: string): string;
}

/** Reads variables from `env` and files relative to the folder of the configuration. */
export function referenceReader(options: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly configFile: string;
}): ReferenceReader {
  const folder = dirname(options.configFile);
  const absolute = (path: string): string =>
    /^~(?:[/\\]|$)/.test(path) ? join(options.home, path.slice(1)) : resolve(folder, path);
  const readText = (path: string): Promise<string> => readFile(absolute(path), 'utf8');
  return {
    resolve: absolute,
    readText,
    async read({ from, name }) {
      if (from === 'env') {
        const value: unknown = options.env[name];
        // A plain object also answers to names such as "constructor".
        return typeof value === 'string' ? value : undefined;
      }
      return (await readText(name)).replace(/^\uFEFF/, '').replace(/[\r\n]+$/, '');
    },
  };
}

interface Place {
  readonly server: string;
  /** As `env.TOKEN` or `args[1]`. */
  readonly field: string;
}

/**
 * The text with every reference replaced by its value. A value is never looked at again, whatever it holds, and is
 * never empty unless the text asks for that with `${NAME:-}`.
 */
export async function reveal(
  text: string,
  options: Place & { readonly read: ReferenceReader['read'] },
): Promise<string> {
  let revealed = '';
  for (const part of parseReferences(text)) {
    if (typeof part === 'string') revealed += part;
    else if (part.from === 'malformed') throw failure('CONFIG_INVALID', options, part.problem);
    else revealed += await valueOf(part, options);
  }
  return revealed;
}

async function valueOf(
  reference: Reference,
  options: Place & { readonly read: ReferenceReader['read'] },
): Promise<string> {
  const { from, name, fallback } = reference;
  const missing = (problem: string, cause?: unknown): GatewayError =>
    failure('SECRET_MISSING', options, problem, { cause, details: { from, name } });
  if (from === 'keychain') {
    throw missing(`\${keychain:${name}} is not available yet; use \${env:NAME} or \${file:path}`);
  }
  const thing = from === 'env' ? `the environment variable ${name}` : `the file ${basename(name)}`;
  let value: string | undefined;
  try {
    value = await options.read(reference);
  } catch (error) {
    throw missing(`${thing} cannot be read${reasonOf(error)}`, error);
  }
  if (value === undefined || value === '') {
    if (fallback !== undefined) return fallback;
    throw missing(value === undefined ? `${thing} is not set` : `${thing} is empty`);
  }
  // What starts programs and sends headers refuses it as well, but with the value in its message.
  if (value.includes('\0')) throw missing(`${thing} holds a NUL character`);
  return value;
}

function failure(
  code: 'SECRET_MISSING' | 'CONFIG_INVALID',
  { server, field }: Place,
  problem: string,
  { cause, details }: { cause?: unknown; details?: JsonObject } = {},
): GatewayError {
  return new GatewayError(code, `server "${server}", ${field}: ${problem}`, {
    cause,
    details: { server, field, ...details },
  });
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return ': there is no such file';
  return typeof code === 'string' ? ` (${code})` : '';
}

interface RevealedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A transport whose values can be used as they are: secrets inside. Keep it out of logs and errors. */
export type RevealedTransport =
  | (RevealedProgram & { readonly kind: 'stdio' })
  | (RevealedProgram & { readonly kind: 'cli'; readonly cli: CliConfig })
  | Extract<TransportConfig, { kind: 'http' }>;

/** Looks up everything that the upstream's transport refers to, at the moment of use. */
export async function revealTransport(
  upstream: Pick<UpstreamConfig, 'name' | 'transport'>,
  reader: ReferenceReader,
  /** Where a program without `cwd` runs; absent for our own folder. */
  usual?: string,
): Promise<RevealedTransport> {
  const { name: server, transport } = upstream;
  const one = (text: string, field: string): Promise<string> =>
    reveal(text, { server, field, read: (reference) => reader.read(reference) });
  const all = async (record: Readonly<Record<string, string>>, field: string) => {
    const revealed: [string, string][] = [];
    for (const [key, text] of Object.entries(record))
      revealed.push([key, await one(text, `${field}.${key}`)]);
    return Object.fromEntries(revealed);
  };
  if (transport.kind === 'http') {
    const url = await one(transport.url, 'url');
    if (!isHttpUrl(url)) throw failure('CONFIG_INVALID', { server, field: 'url' }, notHttpUrl);
    return { ...transport, url, headers: await all(transport.headers, 'headers') };
  }
  const { envFile, cwd } = transport;
  const args: string[] = [];
  const command = await one(transport.command, 'command');
  for (const [at, text] of transport.args.entries()) args.push(await one(text, `args[${at}]`));
  const fromFile =
    envFile === undefined ? {} : await readEnvFile(await one(envFile, 'envFile'), { server, reader });
  const env = { ...fromFile, ...(await all(transport.env, 'env')) };
  const folder = cwd === undefined ? usual : reader.resolve(await one(cwd, 'cwd'));
  const program = { command, args, env, ...(folder !== undefined && { cwd: folder }) };
  return transport.kind === 'cli'
    ? { kind: 'cli', ...program, cli: transport.cli }
    : { kind: 'stdio', ...program };
}

/** What a URL of an upstream must be, as a problem's text. */
export const notHttpUrl = 'must be an address that begins with http:// or https://';

export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

async function readEnvFile(
  path: string,
  { server, reader }: { readonly server: string; readonly reader: ReferenceReader },
): Promise<Readonly<Record<string, string>>> {
  const place = { server, field: 'envFile' };
  // A model may read the message, which therefore names the file without its folder.
  const thing = `the file ${basename(path)}`;
  const details = { file: reader.resolve(path) };
  let text: string;
  try {
    text = await reader.readText(path);
  } catch (error) {
    throw failure('SECRET_MISSING', place, `${thing} cannot be read${reasonOf(error)}`, {
      cause: error,
      details,
    });
  }
  const parsed = parseEnvFile(text);
  if ('variables' in parsed) return parsed.variables;
  const problem = `line ${parsed.badLine} of ${thing} is not of the form KEY=VALUE`;
  throw failure('CONFIG_INVALID', place, problem, { details });
}
