import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';

/** An argument, variable or header of a server. */
export interface RegistryInput {
  readonly name: string;
  readonly kind: 'positional' | 'named';
  readonly description: string;
  readonly value?: string | undefined;
  readonly default?: string | undefined;
  readonly isRequired: boolean;
  readonly isSecret: boolean;
  /** The inputs that replace `{name}` in the value, by name. */
  readonly variables: ReadonlyMap<string, RegistryInput>;
}

export interface RegistryPackage {
  readonly type: string;
  readonly identifier: string;
  readonly version?: string | undefined;
  readonly baseUrl?: string | undefined;
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

/** A server in a registry, reduced to what Trunkline uses. Every list and string is limited in length. */
export interface RegistryServer {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly status: string;
  readonly repository?: string | undefined;
  readonly packages: readonly RegistryPackage[];
  readonly remotes: readonly RegistryRemote[];
}

const NAME = /^[A-Za-z0-9.-]{1,120}\/[A-Za-z0-9._-]{1,120}$/;
const MAX_TEXT = 2000;
const MAX_LIST = 64;

/** Parses one item of a response; returns undefined if it is not a valid server. */
export function parseRegistryServer(value: unknown): RegistryServer | undefined {
  if (!isJsonObject(value)) return undefined;
  // Older registries return the server itself, without a wrapper.
  const server = isJsonObject(value['server']) ? value['server'] : value;
  const name = toText(server['name']);
  if (!NAME.test(name)) return undefined;
  const meta = isJsonObject(value['_meta'])
    ? value['_meta']['io.modelcontextprotocol.registry/official']
    : undefined;
  const status = toText(isJsonObject(meta) ? meta['status'] : server['status']);
  return {
    name,
    description: toText(server['description']),
    version: toText(server['version']),
    status: status === '' ? 'active' : status,
    repository: isJsonObject(server['repository']) ? toOptionalText(server['repository']['url']) : undefined,
    packages: toObjects(server['packages']).map(parsePackage),
    remotes: toObjects(server['remotes']).map(parseRemote),
  };
}

function parsePackage(raw: JsonObject): RegistryPackage {
  const transport = isJsonObject(raw['transport']) ? toText(raw['transport']['type']) : '';
  return {
    type: toText(raw['registryType'] ?? raw['registry_type'] ?? raw['registry_name']).toLowerCase(),
    identifier: toText(raw['identifier'] ?? raw['name']),
    version: toOptionalText(raw['version']),
    baseUrl: toOptionalText(raw['registryBaseUrl'] ?? raw['registry_base_url']),
    transport: transport === '' ? 'stdio' : transport,
    runtimeArguments: parseInputs(raw['runtimeArguments'] ?? raw['runtime_arguments']),
    packageArguments: parseInputs(raw['packageArguments'] ?? raw['package_arguments']),
    environment: parseInputs(raw['environmentVariables'] ?? raw['environment_variables']),
  };
}

function parseRemote(raw: JsonObject): RegistryRemote {
  return {
    type: toText(raw['type'] ?? raw['transport_type']),
    url: toText(raw['url']),
    headers: parseInputs(raw['headers']),
    variables: parseVariables(raw['variables']),
  };
}

function parseInputs(value: unknown): readonly RegistryInput[] {
  return toObjects(value).map((raw) =>
    parseInput(toText(raw['name'] ?? raw['valueHint'] ?? raw['value_hint']), raw),
  );
}

function parseVariables(value: unknown): ReadonlyMap<string, RegistryInput> {
  const entries = isJsonObject(value) ? Object.entries(value).slice(0, MAX_LIST) : [];
  return new Map(
    entries.flatMap(([name, raw]) => (isJsonObject(raw) ? [[name, parseInput(name, raw)] as const] : [])),
  );
}

function parseInput(name: string, raw: JsonObject): RegistryInput {
  return {
    name,
    kind: raw['type'] === 'named' ? 'named' : 'positional',
    description: toText(raw['description']),
    value: typeof raw['value'] === 'string' ? toText(raw['value']) : undefined,
    default: typeof raw['default'] === 'string' ? toText(raw['default']) : undefined,
    isRequired: (raw['isRequired'] ?? raw['is_required']) === true,
    isSecret: (raw['isSecret'] ?? raw['is_secret']) === true,
    variables: parseVariables(raw['variables']),
  };
}

function toObjects(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.slice(0, MAX_LIST).filter(isJsonObject) : [];
}

function toOptionalText(value: unknown): string | undefined {
  return toText(value) || undefined;
}

/** Removes control characters and limits the length. */
function toText(value: unknown): string {
  if (typeof value !== 'string') return '';
  return value
    .slice(0, MAX_TEXT)
    .replaceAll(/\p{Cc}/gu, ' ')
    .trim();
}
