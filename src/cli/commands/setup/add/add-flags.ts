import { resolve } from 'node:path';
import { escapeReferences } from '../../../../config/resolve-references.ts';
import { GatewayError } from '../../../../core/errors.ts';
import { isJsonObject } from '../../../../core/json.ts';
import type { JsonObject } from '../../../../core/json.ts';
import type { SecretDestination } from '../../../../setup/import/import-edits.ts';
import type { CliContext } from '../../../context.ts';
import type { GlobalOptions } from '../../../declare.ts';
import { parseHeader } from '../../../parse-header.ts';

export interface AddOptions extends GlobalOptions {
  readonly url?: string;
  readonly sse?: string;
  /** True if the command follows `--`. */
  readonly cli?: string | true;
  readonly fromRegistry?: string;
  readonly registry?: string;
  readonly transport?: 'stdio' | 'http' | 'streamable-http' | 'sse';
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly bearerTokenEnvVar?: string;
  readonly set?: readonly string[];
  readonly cwd?: string;
  readonly scope?: 'user' | 'project' | 'local';
  readonly tag?: readonly string[];
  readonly references?: SecretDestination | true;
  readonly trust?: boolean;
  readonly replace?: boolean;
  readonly yes?: boolean;
  /** The words after `--`. */
  readonly rest?: readonly string[];
}

/** Adds the settings of `--env`, `--header`, `--transport`, `--cwd` and `--tag` to an entry. Throws if one does not fit the server. */
export function applyAddFlags(
  entry: JsonObject,
  options: AddOptions,
  { cwd }: Pick<CliContext, 'cwd'>,
): JsonObject {
  const env = parsePairs(options.env, '--env');
  const headers = readHeaders(options);
  const isProgram = entry['command'] !== undefined;
  if (isProgram && headers !== undefined)
    throw new GatewayError(
      'USAGE',
      '--header requires a server at a URL. For a program, use --env NAME=VALUE.',
    );
  if (!isProgram && env !== undefined)
    throw new GatewayError(
      'USAGE',
      '--env requires a program. For a server at a URL, use --header NAME=VALUE.',
    );
  if (!isProgram && options.cwd !== undefined)
    throw new GatewayError('USAGE', '--cwd requires a program. Remove it for a server at a URL.');
  return {
    ...entry,
    ...readTransport(entry, options),
    ...(env !== undefined && { env: { ...readMembers(entry, 'env'), ...env } }),
    ...(headers !== undefined && { headers: { ...readMembers(entry, 'headers'), ...headers } }),
    ...(options.cwd !== undefined && { cwd: escapeReferences(resolve(cwd, options.cwd)) }),
    ...(options.tag !== undefined && { tags: options.tag }),
  };
}

/** Parses `NAME=VALUE` words. The value may be a secret, so errors do not repeat it. */
export function parsePairs(
  words: readonly string[] | undefined,
  flag: string,
): Readonly<Record<string, string>> | undefined {
  if (words === undefined) return undefined;
  return Object.fromEntries(
    words.map((word) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(word) ?? [];
      if (name === undefined || value === undefined)
        throw new GatewayError('USAGE', `${flag} needs a name and a value. Write ${flag} NAME=VALUE.`);
      return [name, value];
    }),
  );
}

function readHeaders({ header, bearerTokenEnvVar }: AddOptions): JsonObject | undefined {
  if (header === undefined && bearerTokenEnvVar === undefined) return undefined;
  return {
    ...(bearerTokenEnvVar !== undefined && { Authorization: `Bearer \${env:${bearerTokenEnvVar}}` }),
    ...Object.fromEntries((header ?? []).map(parseHeader).map(({ name, value }) => [name, value])),
  };
}

function readTransport({ command, url }: JsonObject, { transport }: AddOptions): JsonObject {
  if (transport === undefined) return {};
  if (typeof command === 'string' && transport !== 'stdio')
    throw new GatewayError(
      'USAGE',
      `--transport ${transport} requires a URL, but ${command} is a program. For a URL, write: trunkline add NAME https://… For the program, remove --transport.`,
    );
  if (url !== undefined && transport === 'stdio')
    throw new GatewayError(
      'USAGE',
      '--transport stdio requires a program, but a URL was given. For the URL, remove --transport. For a program, write: trunkline add NAME -- COMMAND',
    );
  return command === undefined ? { type: transport === 'sse' ? 'sse' : 'http' } : {};
}

function readMembers(entry: JsonObject, key: string): JsonObject {
  const value = entry[key];
  return isJsonObject(value) ? value : {};
}
