import { escapeReferences } from '../config/references.ts';
import type { JsonObject } from '../model/json.ts';
import type { RegistryInput, RegistryPackage, RegistryRemote, RegistryServer } from './registry-server.ts';

/** A variable that a reference of the entry names. */
export interface NeededVariable {
  readonly name: string;
  readonly description: string;
  readonly isRequired: boolean;
}

export interface RegistryEntry {
  readonly entry: JsonObject;
  /** The package that is run; absent for an address. */
  readonly package?: string;
  readonly needs: readonly NeededVariable[];
  /** Variables that the server would also take. */
  readonly takes: readonly NeededVariable[];
}

/** How packages of one kind are run, and which texts can be names of them. */
interface Runner {
  readonly hosts: RegExp;
  readonly identifier: RegExp;
  readonly words: (
    identifier: string,
    version: string | undefined,
    runtime: readonly string[],
    env: readonly string[],
  ) => readonly string[];
}

const VERSION = /^\w[\w.+-]{0,99}$/;
const RUNNERS: Readonly<Record<string, Runner>> = {
  npm: {
    hosts: /^https:\/\/registry\.npmjs\.org\/?$/,
    identifier: /^(?:@[a-z0-9~][\w.~-]*\/)?[a-z0-9~][\w.~-]*$/i,
    words: (id, version, runtime) => ['npx', ...once('-y', runtime), at(id, version)],
  },
  pypi: {
    hosts: /^https:\/\/pypi\.org\/?(?:simple\/?)?$/,
    identifier: /^[A-Za-z0-9][\w.-]*$/,
    words: (id, version, runtime) => ['uvx', ...runtime, at(id, version)],
  },
  oci: {
    hosts:
      /^https:\/\/(?:docker\.io|index\.docker\.io|ghcr\.io|quay\.io|mcr\.microsoft\.com|[\w-]+\.(?:azurecr\.io|pkg\.dev))\/?$/,
    identifier: /^[a-z0-9][\w.:/@-]*$/,
    words: (id, version, runtime, env) => [
      ...['docker', 'run', '-i', '--rm', ...env.flatMap((name) => ['-e', name]), ...runtime],
      version === undefined || /[:@][^/]*$/.test(id) ? id : `${id}:${version}`,
    ],
  },
  nuget: {
    hosts: /^https:\/\/api\.nuget\.org\/v3\/index\.json$/,
    identifier: /^[A-Za-z0-9_][\w.-]*$/,
    words: (id, version, runtime) => ['dnx', at(id, version), ...once('--yes', runtime)],
  },
};

/** An entry for a server of the registry: a package that is run here before an address; or why there is none. */
export function registryEntry(server: RegistryServer): RegistryEntry | { readonly problem: string } {
  const reasons: string[] = [];
  for (const each of server.packages) {
    const made = packageEntry(each, server);
    if ('entry' in made) return made;
    reasons.push(made.problem);
  }
  for (const each of server.remotes) {
    const made = remoteEntry(each, server);
    if ('entry' in made) return made;
    reasons.push(made.problem);
  }
  return { problem: reasons[0] ?? 'it has neither a package nor an address' };
}

function packageEntry(
  from: RegistryPackage,
  server: RegistryServer,
): RegistryEntry | { readonly problem: string } {
  const { type, identifier, version, baseUrl, transport } = from;
  const runner = Object.hasOwn(RUNNERS, type) ? RUNNERS[type] : undefined;
  if (runner === undefined) return { problem: `packages of the kind "${type}" cannot be started` };
  if (transport !== 'stdio')
    return { problem: `its package speaks ${transport} and must be started by hand` };
  // The same name in another place is somebody else's package.
  if (baseUrl !== undefined && !runner.hosts.test(baseUrl))
    return { problem: `its package is at ${baseUrl}` };
  if (!runner.identifier.test(identifier)) return { problem: `"${identifier}" is not a name of a package` };
  if (version !== undefined && !VERSION.test(version)) return { problem: `"${version}" is not a version` };
  const inputs = new Inputs(server.name);
  const env = inputs.environment(from.environment);
  const words = [
    ...runner.words(identifier, version, inputs.words(from.runtimeArguments), Object.keys(env)),
    ...inputs.words(from.packageArguments),
  ];
  const [command = '', ...args] = words;
  return {
    entry: { command, args, ...(Object.keys(env).length > 0 && { env }), ...described(server) },
    // Images may have their version in the name.
    package: identifier.replace(/[:@][^/]*$/, ''),
    ...inputs.told(),
  };
}

function remoteEntry(
  from: RegistryRemote,
  server: RegistryServer,
): RegistryEntry | { readonly problem: string } {
  const type = from.type === 'sse' ? 'sse' : from.type.startsWith('streamable') ? 'http' : undefined;
  if (type === undefined) return { problem: `an address of the kind "${from.type}" cannot be reached` };
  const inputs = new Inputs(server.name);
  const url = inputs.filled(from.url, from.variables);
  if (!/^https?:\/\//.test(url)) return { problem: 'its address is none of HTTP' };
  const headers = inputs.environment(from.headers, 'header');
  return {
    entry: { type, url, ...(Object.keys(headers).length > 0 && { headers }), ...described(server) },
    ...inputs.told(),
  };
}

function described({ name, description }: RegistryServer): JsonObject {
  return { ...(description !== '' && { description: description.slice(0, 200) }), registry: name };
}

/** Turns what a server wants to be given into texts with references, and remembers which. */
class Inputs {
  readonly #needs = new Map<string, NeededVariable>();
  readonly #takes = new Map<string, NeededVariable>();
  readonly #prefix: string;

  constructor(server: string) {
    this.#prefix = server.split('/').at(-1) ?? server;
  }

  told(): Pick<RegistryEntry, 'needs' | 'takes'> {
    return { needs: [...this.#needs.values()], takes: [...this.#takes.values()] };
  }

  environment(inputs: readonly RegistryInput[], kind: 'variable' | 'header' = 'variable'): JsonObject {
    const entries = inputs.flatMap((input) => {
      const isNamed =
        kind === 'header' ? /^[\w-]{1,100}$/.test(input.name) : /^[A-Za-z_]\w{0,99}$/.test(input.name);
      if (!isNamed) return [];
      const text = this.#value(input, kind === 'header' ? this.#variable(input.name) : input.name);
      return text === undefined ? [] : [[input.name, text] as const];
    });
    return Object.fromEntries(entries);
  }

  words(inputs: readonly RegistryInput[]): readonly string[] {
    return inputs.flatMap((input) => {
      const flag = input.kind === 'named' && /^-{1,2}\w[\w-]*$/.test(input.name) ? [input.name] : [];
      if (input.kind === 'named' && flag.length === 0) return [];
      const isBare =
        input.kind === 'named' &&
        input.value === undefined &&
        input.default === undefined &&
        !input.isRequired;
      if (isBare) return [];
      const text = this.#value(input, this.#variable(input.name));
      return text === undefined ? [] : [...flag, ...(text === '' ? [] : [text])];
    });
  }

  /** Every `{name}` is a reference from then on. */
  filled(template: string, variables: ReadonlyMap<string, RegistryInput>): string {
    return template
      .split(/\{([\w-]+)\}/)
      .map((part, at) => {
        if (at % 2 === 0) return escapeReferences(part);
        const variable = variables.get(part);
        if (variable === undefined) return `{${part}}`;
        return this.#value({ ...variable, isRequired: true }, this.#variable(part)) ?? '';
      })
      .join('');
  }

  /** Undefined where nothing has to be given. */
  #value(input: RegistryInput, name: string): string | undefined {
    if (input.value !== undefined) return this.filled(input.value, input.variables);
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

  #variable(name: string): string {
    const text = `${this.#prefix}_${name.replace(/^-+/, '')}`.replaceAll(/[^A-Za-z0-9]+/g, '_').toUpperCase();
    return /^\d/.test(text) ? `_${text}` : text;
  }
}

function at(identifier: string, version: string | undefined): string {
  return version === undefined ? identifier : `${identifier}@${version}`;
}

function once(flag: string, words: readonly string[]): readonly string[] {
  return words.includes(flag) ? words : [flag, ...words];
}
