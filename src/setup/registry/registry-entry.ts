import { escapeReferences } from '../../config/resolve-references.ts';
import type { JsonObject } from '../../core/json.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';
import type { RegistryInput, RegistryPackage, RegistryRemote, RegistryServer } from './registry-server.ts';

/** An environment variable of a server. */
export interface NeededVariable {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
}

export interface RegistryEntry {
  readonly entry: JsonObject;
  /** The package that is run; absent for a URL. */
  readonly package?: string;
  /** Variables that the user must set. */
  readonly needs: readonly NeededVariable[];
  /** Variables that the user may set. */
  readonly takes: readonly NeededVariable[];
}

/** The program that runs the packages of one registry. */
interface PackageRunner {
  /** Matches the URLs of the registry. */
  readonly baseUrl: RegExp;
  /** Matches valid package names. */
  readonly identifier: RegExp;
  readonly buildCommand: (
    identifier: string,
    version: string | undefined,
    runtimeArgs: readonly string[],
    variables: readonly string[],
  ) => readonly string[];
}

const VERSION = /^\w[\w.+-]{0,99}$/;
const RUNNERS: Readonly<Record<string, PackageRunner>> = {
  npm: {
    baseUrl: /^https:\/\/registry\.npmjs\.org\/?$/,
    identifier: /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*$/i,
    buildCommand: (id, version, runtimeArgs) => [
      'npx',
      ...addFlag('-y', runtimeArgs),
      addVersion(id, version),
    ],
  },
  pypi: {
    baseUrl: /^https:\/\/pypi\.org\/?(?:simple\/?)?$/,
    identifier: /^[A-Za-z0-9][\w.-]*$/,
    buildCommand: (id, version, runtimeArgs) => ['uvx', ...runtimeArgs, addVersion(id, version)],
  },
  oci: {
    baseUrl:
      /^https:\/\/(?:docker\.io|index\.docker\.io|ghcr\.io|quay\.io|mcr\.microsoft\.com|[\w-]+\.(?:azurecr\.io|pkg\.dev))\/?$/,
    identifier: /^[a-z0-9][\w.:/@-]*$/,
    buildCommand: (id, version, runtimeArgs, variables) => [
      'docker',
      'run',
      '-i',
      '--rm',
      ...variables.flatMap((name) => ['-e', name]),
      ...runtimeArgs,
      version === undefined || /[:@][^/]*$/.test(id) ? id : `${id}:${version}`,
    ],
  },
  nuget: {
    baseUrl: /^https:\/\/api\.nuget\.org\/v3\/index\.json$/,
    identifier: /^[A-Za-z0-9_][\w.-]*$/,
    buildCommand: (id, version, runtimeArgs) => [
      'dnx',
      addVersion(id, version),
      ...addFlag('--yes', runtimeArgs),
    ],
  },
};

/** Creates a configuration entry for a server of the registry. Prefers a package to a URL. Returns the problem if neither can be used. */
export function createRegistryEntry(server: RegistryServer): RegistryEntry | { readonly problem: string } {
  const problems: string[] = [];
  for (const registryPackage of server.packages) {
    const result = createPackageEntry(registryPackage, server);
    if ('entry' in result) return result;
    problems.push(result.problem);
  }
  for (const remote of server.remotes) {
    const result = createRemoteEntry(remote, server);
    if ('entry' in result) return result;
    problems.push(result.problem);
  }
  return { problem: problems[0] ?? 'it has neither a package nor a URL' };
}

function createPackageEntry(
  from: RegistryPackage,
  server: RegistryServer,
): RegistryEntry | { readonly problem: string } {
  const { type, identifier, version, baseUrl, transport } = from;
  const runner = Object.hasOwn(RUNNERS, type) ? RUNNERS[type] : undefined;
  if (runner === undefined) return { problem: `packages of the type "${type}" cannot be started` };
  if (transport !== 'stdio')
    return { problem: `its package uses the transport ${transport} and must be started by hand` };
  // The same name in another package registry may belong to another publisher.
  if (baseUrl !== undefined && !runner.baseUrl.test(baseUrl))
    return { problem: `its package is in an unsupported package registry, ${baseUrl}` };
  if (!runner.identifier.test(identifier)) return { problem: `"${identifier}" is not a valid package name` };
  if (version !== undefined && !VERSION.test(version)) return { problem: `"${version}" is not a version` };
  const inputs = new InputConverter(server.name);
  const env = inputs.convertMap(from.environment);
  const runtimeArgs = inputs.convertArguments(from.runtimeArguments);
  const [command = '', ...args] = [
    ...runner.buildCommand(identifier, version, runtimeArgs, Object.keys(env)),
    ...inputs.convertArguments(from.packageArguments),
  ];
  return {
    entry: omitUndefined({
      command,
      args,
      env: Object.keys(env).length > 0 ? env : undefined,
      ...createMetadata(server),
    }),
    // The name of an image may include its version.
    package: identifier.replace(/[:@][^/]*$/, ''),
    ...inputs.variables(),
  };
}

function createRemoteEntry(
  from: RegistryRemote,
  server: RegistryServer,
): RegistryEntry | { readonly problem: string } {
  const type = from.type === 'sse' ? 'sse' : from.type.startsWith('streamable') ? 'http' : undefined;
  if (type === undefined) return { problem: `its transport "${from.type}" is not supported` };
  const inputs = new InputConverter(server.name);
  const url = inputs.fillTemplate(from.url, from.variables);
  if (!/^https?:\/\//.test(url)) return { problem: 'its URL does not begin with http:// or https://' };
  const headers = inputs.convertMap(from.headers, 'header');
  return {
    entry: omitUndefined({
      type,
      url,
      headers: Object.keys(headers).length > 0 ? headers : undefined,
      ...createMetadata(server),
    }),
    ...inputs.variables(),
  };
}

function createMetadata({ name, description }: RegistryServer): JsonObject {
  return { description: description === '' ? undefined : description.slice(0, 200), registry: name };
}

/** Converts the inputs of a server to texts with references, and collects the variables of these references. */
class InputConverter {
  readonly #needs = new Map<string, NeededVariable>();
  readonly #takes = new Map<string, NeededVariable>();
  readonly #prefix: string;

  constructor(server: string) {
    this.#prefix = server.split('/').at(-1) ?? server;
  }

  variables(): Pick<RegistryEntry, 'needs' | 'takes'> {
    return { needs: [...this.#needs.values()], takes: [...this.#takes.values()] };
  }

  convertMap(inputs: readonly RegistryInput[], kind: 'variable' | 'header' = 'variable'): JsonObject {
    const entries = inputs.flatMap((input) => {
      const isValidName =
        kind === 'header' ? /^[\w-]{1,100}$/.test(input.name) : /^[A-Za-z_]\w{0,99}$/.test(input.name);
      if (!isValidName) return [];
      const variable = kind === 'header' ? this.#toVariableName(input.name) : input.name;
      const text = this.#convertValue(input, variable);
      return text === undefined ? [] : [[input.name, text] as const];
    });
    return Object.fromEntries(entries);
  }

  convertArguments(inputs: readonly RegistryInput[]): readonly string[] {
    return inputs.flatMap((input) => {
      const flag = input.kind === 'named' && /^-{1,2}\w[\w-]*$/.test(input.name) ? [input.name] : [];
      if (input.kind === 'named' && flag.length === 0) return [];
      const isUnusedFlag =
        input.kind === 'named' &&
        input.value === undefined &&
        input.default === undefined &&
        !input.isRequired;
      if (isUnusedFlag) return [];
      const text = this.#convertValue(input, this.#toVariableName(input.name));
      return text === undefined ? [] : [...flag, ...(text === '' ? [] : [text])];
    });
  }

  /** Replaces every `{name}` by a reference. */
  fillTemplate(template: string, variables: ReadonlyMap<string, RegistryInput>): string {
    return template
      .split(/\{([\w-]+)\}/)
      .map((part, at) => {
        if (at % 2 === 0) return escapeReferences(part);
        const variable = variables.get(part);
        if (variable === undefined) return `{${part}}`;
        return this.#convertValue({ ...variable, isRequired: true }, this.#toVariableName(part)) ?? '';
      })
      .join('');
  }

  /** Returns undefined for an optional input without a default. */
  #convertValue(input: RegistryInput, name: string): string | undefined {
    if (input.value !== undefined) return this.fillTemplate(input.value, input.variables);
    const variable: NeededVariable = { name, description: input.description, isRequired: input.isRequired };
    if (input.default !== undefined && !input.isSecret && !/[{}]/.test(input.default)) {
      this.#takes.set(name, variable);
      return `\${env:${name}:-${input.default}}`;
    }
    if (!input.isRequired) {
      this.#takes.set(name, variable);
      return undefined;
    }
    this.#needs.set(name, variable);
    return `\${env:${name}}`;
  }

  #toVariableName(name: string): string {
    const text = `${this.#prefix}_${name.replace(/^-+/, '')}`.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase();
    return /^\d/.test(text) ? `_${text}` : text;
  }
}

function addVersion(identifier: string, version: string | undefined): string {
  return version === undefined ? identifier : `${identifier}@${version}`;
}

function addFlag(flag: string, words: readonly string[]): readonly string[] {
  return words.includes(flag) ? words : [flag, ...words];
}
