import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

/** A value that a server wants to be given. */
export interface RegistryInput {
  readonly name: string;
  readonly kind: 'positional' | 'named';
  readonly description: string;
  readonly value?: string;
  readonly default?: string;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** What stands for `{name}` in the value. */
  readonly variables: ReadonlyMap<string, RegistryInput>;
}

export interface RegistryPackage {
  readonly type: string;
  readonly identifier: string;
  readonly version?: string;
  readonly baseUrl?: string;
  readonly transport: string;
  readonly runtimeArguments: readonly RegistryInput[];
  readonly packageArguments: readonly RegistryInput[];
  readonly environment: readonly RegistryInput[];
}

export interface RegistryRemote {
  readonly type: string;
  readonly url: string;
  readonly headers: readonly RegistryInput[];
  readonly variables: ReadonlyMap<string, RegistryInput>;
}

/** What a registry says about a server, cut to what we read; every list and text has a bound. */
export interface RegistryServer {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly status: string;
  readonly repository?: string;
  readonly packages: readonly RegistryPackage[];
  readonly remotes: readonly RegistryRemote[];
}

const NAME = /^[A-Za-z0-9.-]{1,120}\/[A-Za-z0-9._-]{1,120}$/;
const MAX_TEXT = 2000;
const MAX_LIST = 64;

/** Reads one element of an answer; undefined when it is no server. */
export function registryServer(value: unknown): RegistryServer | undefined {
  if (!isJsonObject(value)) return undefined;
  // Older registries have the server itself there.
  const server = isJsonObject(value['server']) ? value['server'] : value;
  const name = text(server['name']);
  if (!NAME.test(name)) return undefined;
  const meta = isJsonObject(value['_meta'])
    ? value['_meta']['io.modelcontextprotocol.registry/official']
    : undefined;
  const status = text(isJsonObject(meta) ? meta['status'] : server['status']);
  const repository = isJsonObject(server['repository']) ? text(server['repository']['url']) : '';
  return {
    name,
    description: text(server['description']),
    version: text(server['version']),
    status: status === '' ? 'active' : status,
    ...(repository !== '' && { repository }),
    packages: objects(server['packages']).map(readPackage),
    remotes: objects(server['remotes']).map(readRemote),
  };
}

function readPackage(raw: JsonObject): RegistryPackage {
  const transport = isJsonObject(raw['transport']) ? text(raw['transport']['type']) : '';
  const version = text(raw['version']);
  const baseUrl = text(raw['registryBaseUrl'] ?? raw['registry_base_url']);
  return {
    type: text(raw['registryType'] ?? raw['registry_type'] ?? raw['registry_name']).toLowerCase(),
    identifier: text(raw['identifier'] ?? raw['name']),
    ...(version !== '' && { version }),
    ...(baseUrl !== '' && { baseUrl }),
    transport: transport === '' ? 'stdio' : transport,
    runtimeArguments: inputs(raw['runtimeArguments'] ?? raw['runtime_arguments']),
    packageArguments: inputs(raw['packageArguments'] ?? raw['package_arguments']),
    environment: inputs(raw['environmentVariables'] ?? raw['environment_variables']),
  };
}

function readRemote(raw: JsonObject): RegistryRemote {
  return {
    type: text(raw['type'] ?? raw['transport_type']),
    url: text(raw['url']),
    headers: inputs(raw['headers']),
    variables: variables(raw['variables']),
  };
}

function inputs(value: unknown): readonly RegistryInput[] {
  return objects(value).map((raw) => input(text(raw['name'] ?? raw['valueHint'] ?? raw['value_hint']), raw));
}

function variables(value: unknown): ReadonlyMap<string, RegistryInput> {
  const entries = isJsonObject(value) ? Object.entries(value).slice(0, MAX_LIST) : [];
  return new Map(
    entries.flatMap(([name, raw]) => (isJsonObject(raw) ? [[name, input(name, raw)] as const] : [])),
  );
}

function input(name: string, raw: JsonObject): RegistryInput {
  return {
    name,
    kind: raw['type'] === 'named' ? 'named' : 'positional',
    description: text(raw['description']),
    ...(typeof raw['value'] === 'string' && { value: text(raw['value']) }),
    ...(typeof raw['default'] === 'string' && { default: text(raw['default']) }),
    isRequired: (raw['isRequired'] ?? raw['is_required']) === true,
    isSecret: (raw['isSecret'] ?? raw['is_secret']) === true,
    // Variables of variables do not exist.
    variables: raw['variables'] === undefined ? new Map() : variables(raw['variables']),
  };
}

function objects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST).filter(isJsonObject) : [];
}

/** Without characters that control something, and not endless. */
function text(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .slice(0, MAX_TEXT)
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim();
}
