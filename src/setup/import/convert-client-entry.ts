import { findEntryProblem } from '../../config/read-server-entry.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';
import { pathModuleFor } from './client-paths.ts';
import type { Dialect } from './dialect.ts';
import { EntryReader, toStrings } from './entry-reader.ts';
import type { ImportedServer, SourceContext } from './import-source.ts';
import { describeLeftOut } from './left-out-settings.ts';

export interface ConvertOptions {
  readonly context: SourceContext;
  readonly dialect: Dialect;
  /** Unit of `timeout`; undefined if the client's `timeout` does not limit calls. */
  readonly timeoutUnit?: 'ms' | 's' | undefined;
  /** Transport of a URL without a type. */
  readonly urlType?: 'sse' | undefined;
  /** Working directory for programs that set none. */
  readonly folder?: string | undefined;
  /** Additional members in our format. */
  readonly extra?: JsonObject | undefined;
  /** Members that a caller has already converted into `extra`. */
  readonly convertedKeys?: readonly string[];
}

/** The context of one conversion. `note` and `translate` collect remarks and problems. */
interface Conversion {
  readonly entry: EntryReader;
  readonly options: ConvertOptions;
  readonly translate: (text: string) => string;
  readonly note: (remark: string) => void;
}

const TRANSPORTS: Readonly<Record<string, string | undefined>> = {
  stdio: 'stdio',
  local: 'stdio',
  http: 'http',
  remote: undefined,
  auto: undefined,
  'streamable-http': 'http',
  streamable_http: 'http',
  streamablehttp: 'http',
  sse: 'sse',
};

/**
 * Converts an entry to our format, from the common format of MCP clients or a client's variant of it. Every setting is carried over,
 * ignored because it has no meaning outside the client, or reported in a remark.
 */
export function convertClientEntry(name: string, raw: unknown, options: ConvertOptions): ImportedServer {
  if (!isJsonObject(raw)) return { name, problem: 'it is not an object', remarks: [] };
  const remarks = new Set<string>();
  const problems: string[] = [];
  // Some clients nest the command or the URL in `transport`.
  const { transport, ...members } = raw;
  const entryReader = new EntryReader(isJsonObject(transport) ? { ...members, ...transport } : raw);
  const conversion: Conversion = {
    entry: entryReader,
    options,
    note: (remark) => remarks.add(remark),
    translate: (value) => {
      const { text, remark, problem } = options.dialect(value);
      if (remark !== undefined) remarks.add(remark);
      if (problem !== undefined) problems.push(problem);
      return text;
    },
  };
  const type = entryReader.text('type', 'transport', 'protocol');
  entryReader.text('transport', 'protocol');
  const entry = omitUndefined({
    ...(hasCommand(raw, transport) ? convertProgram(conversion) : convertRemote(conversion, type)),
    ...convertSettings(conversion),
    ...options.extra,
  });
  if (type !== undefined && !(type.toLowerCase() in TRANSPORTS)) {
    problems.push(`"${type}" is not a transport that Trunkline supports`);
  }
  if (entry['command'] === undefined && entry['url'] === undefined) {
    problems.push('it has neither a command nor a URL');
  }
  for (const key of entryReader.unused()) {
    if (options.convertedKeys?.includes(key) === true) continue;
    const remark = describeLeftOut(key);
    if (remark !== undefined) remarks.add(remark);
  }
  const problem = problems[0] ?? findEntryProblem(name, entry, options.context.path);
  if (problem !== undefined) return { name, problem, remarks: [] };
  return { name, entry, remarks: [...remarks] };
}

function hasCommand(raw: JsonObject, transport: unknown): boolean {
  const members = isJsonObject(transport) ? { ...raw, ...transport } : raw;
  const command = members['command'] ?? members['cmd'];
  return (typeof command === 'string' && command !== '') || Array.isArray(command) || isJsonObject(command);
}

function convertProgram(conversion: Conversion): JsonObject {
  const { entry, options, translate } = conversion;
  // Some clients have the whole command line in a list, and older versions of Zed have an object.
  const nested = entry.object('command');
  const [command = nested?.['path'] ?? nested?.['command'] ?? entry.text('command', 'cmd'), ...rest] =
    entry.list('command') ?? [];
  const args = [...rest, ...(nested === undefined ? (entry.list('args') ?? []) : toStrings(nested['args']))];
  const env = {
    ...convertInheritedVariables(entry),
    ...convertPairs(
      nested?.['env'] ?? entry.firstValue(isPairs, 'env', 'environment', 'envs'),
      'env',
      conversion,
    ),
  };
  const cwd = entry.text('cwd', 'working_dir', 'workingDirectory', 'working_directory');
  const folder = cwd === undefined ? options.folder : resolvePath(translate(cwd), options);
  const envFile = entry.text('envFile', 'env_file');
  return {
    command: typeof command === 'string' && command !== '' ? translate(command) : undefined,
    args: args.length > 0 ? args.map(translate) : undefined,
    env: Object.keys(env).length > 0 ? env : undefined,
    envFile: envFile === undefined ? undefined : resolvePath(translate(envFile), options),
    cwd: folder,
  };
}

/** Returns references to the variables that a program inherits. An unset variable of `env_vars` becomes empty. */
function convertInheritedVariables(entry: EntryReader): JsonObject {
  const variables = entry.firstValue((value) => Array.isArray(value), 'env_vars') ?? [];
  const names = variables.map((variable: unknown) => (isJsonObject(variable) ? variable['name'] : variable));
  // Goose stores the values of these variables in the keyring.
  const keys = (entry.list('env_keys') ?? []).filter(isVariableName).map((name) => [name, `\${env:${name}}`]);
  return Object.fromEntries([
    ...toStrings(names).flatMap((name) => (isVariableName(name) ? [[name, `\${env:${name}:-}`]] : [])),
    ...keys,
  ]) as JsonObject; // The entries are pairs of strings.
}

function convertRemote(conversion: Conversion, clientType: string | undefined): JsonObject {
  const { entry, options, translate } = conversion;
  const httpUrl = entry.text('httpUrl');
  const plainUrl = entry.text('url', 'serverUrl', 'baseUrl', 'uri', 'endpoint');
  const url = plainUrl ?? httpUrl;
  if (url === undefined) return {};
  const defaultType = plainUrl === undefined ? 'http' : options.urlType;
  const type = clientType === undefined ? defaultType : TRANSPORTS[clientType.toLowerCase()];
  const request = entry.object('requestOptions') ?? {};
  const token = entry.text('authorizationToken');
  const bearerVariable = entry.text('bearer_token_env_var', 'bearerTokenEnvVar', 'bearerTokenEnv');
  const headers = {
    ...(token !== undefined && {
      Authorization: translate(/^bearer /i.test(token) ? token : `Bearer ${token}`),
    }),
    ...convertPairs(
      entry.firstValue(isPairs, 'headers', 'http_headers') ?? request['headers'],
      'headers',
      conversion,
    ),
    ...(bearerVariable !== undefined &&
      isVariableName(bearerVariable) && { Authorization: `Bearer \${env:${bearerVariable}}` }),
    ...convertHeaderVariables(entry),
  };
  const auth = convertAuth(conversion);
  const headersHelper = entry.text('headersHelper', 'http_headers_helper');
  return {
    type: type === 'stdio' ? undefined : type,
    url: translate(url),
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    headersHelper,
    auth: Object.keys(auth).length > 0 ? auth : undefined,
  };
}

/** Whether a name can be in a reference. Braces would end the reference, and a program could follow in the next one. */
function isVariableName(name: string): boolean {
  return name !== '' && !/[{}]/.test(name);
}

/** Returns the headers whose values are in environment variables. */
function convertHeaderVariables(entry: EntryReader): JsonObject {
  const variables = entry.object('env_http_headers') ?? {};
  return Object.fromEntries(
    Object.entries(variables).flatMap(([header, variable]) =>
      typeof variable === 'string' && isVariableName(variable) ? [[header, `\${env:${variable}}`]] : [],
    ),
  );
}

/** Converts the settings of the OAuth application with which the client signs in. The tokens stay with the client. */
function convertAuth({ entry, translate, note }: Conversion): JsonObject {
  const member = entry.object('oauth', 'auth');
  const settings = new EntryReader(member ?? {});
  const clientId = settings.text('clientId', 'client_id', 'CLIENT_ID') ?? entry.text('oauth_client_id');
  const clientSecret = settings.text('clientSecret', 'client_secret', 'CLIENT_SECRET');
  const port = settings.number('callbackPort', 'callback_port');
  const scopes =
    settings.list('scopes') ?? settings.text('scope', 'scopes')?.split(/[\s,]+/) ?? entry.list('scopes');
  settings.flag('enabled');
  const isLeftOut = settings.unused().length > 0 || entry.text('auth', 'authProviderType') !== undefined;
  if (isLeftOut) {
    note(
      'some of its sign-in settings were left out: run `trunkline login` if the server requires a sign-in',
    );
  } else if (member !== undefined) {
    note('its sign-in stays with the client: run `trunkline login` if the server requires a sign-in');
  }
  return omitUndefined({
    clientId: clientId === undefined ? undefined : translate(clientId),
    clientSecret: clientSecret === undefined ? undefined : translate(clientSecret),
    scopes: scopes !== undefined && scopes.length > 0 ? scopes : undefined,
    callbackPort: port,
  });
}

function convertSettings(conversion: Conversion): JsonObject {
  const { entry } = conversion;
  const isDisabled =
    entry.flag('disabled') === true || entry.flag('enabled') === false || entry.flag('isActive') === false;
  const tags = (entry.list('tags') ?? []).filter((tag) => tag !== '');
  const description = entry.text('description');
  const timeouts = convertTimeouts(conversion);
  const tools = convertToolLists(entry);
  return {
    enabled: isDisabled ? false : undefined,
    description,
    tags: tags.length > 0 ? tags : undefined,
    timeouts: Object.keys(timeouts).length > 0 ? timeouts : undefined,
    tools: Object.keys(tools).length > 0 ? tools : undefined,
  };
}

function convertTimeouts({ entry, options: { timeoutUnit }, note }: Conversion): JsonObject {
  const startSeconds = entry.number('startup_timeout_sec');
  const connectMs =
    startSeconds === undefined ? entry.number('startup_timeout_ms', 'startupTimeoutMs') : startSeconds * 1000;
  const callSeconds = entry.number('tool_timeout_sec');
  const timeout = timeoutUnit === undefined ? undefined : entry.number('timeout');
  const callMs =
    callSeconds === undefined
      ? (entry.number('toolTimeoutMs') ?? (timeout && timeout * (timeoutUnit === 's' ? 1000 : 1)))
      : callSeconds * 1000;
  const limits = { connect: connectMs, call: callMs };
  return Object.fromEntries(
    Object.entries(limits).flatMap(([key, ms]) => {
      if (ms === undefined) return [];
      // In practice, a shorter timeout has the wrong unit, and would make every call fail.
      if (ms < 1000) note(`its timeout of ${ms} ms was left out: it is too short for a gateway`);
      return ms < 1000 ? [] : [[key, `${Math.round(ms)}ms`]];
    }),
  );
}

/** Returns which tools the client offers. An empty list of allowed tools offers none; `*` offers all. */
function convertToolLists(entry: EntryReader): JsonObject {
  const allow = entry.list(
    'includeTools',
    'enabled_tools',
    'enabledTools',
    'allowedTools',
    'available_tools',
    'tools',
  );
  const deny = entry.list('excludeTools', 'disabled_tools', 'disabledTools', 'blockedTools') ?? [];
  const isRestricted = allow !== undefined && !allow.includes('*');
  return omitUndefined({ allow: isRestricted ? allow : undefined, deny: deny.length > 0 ? deny : undefined });
}

/** Makes the paths of a project absolute, because its programs run in the project's folder. */
function resolvePath(path: string, { context, folder }: ConvertOptions): string {
  const { environment, scope } = context;
  const base = folder ?? (scope === 'project' ? environment.cwd : undefined);
  if (base === undefined || path.startsWith('${') || path.startsWith('~')) return path;
  return pathModuleFor(environment).resolve(base, path);
}

/** Converts all values to strings, since some clients also accept numbers and booleans, or a list of `KEY=VALUE`. */
function convertPairs(value: unknown, label: string, { translate, note }: Conversion): JsonObject {
  const entries = Array.isArray(value)
    ? toStrings(value).flatMap((line) => {
        const at = line.indexOf('=');
        return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
      })
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  return Object.fromEntries(
    entries.flatMap(([key, member]) => {
      if (typeof member === 'string') return [[key, translate(member)]];
      if (typeof member === 'number' || typeof member === 'boolean') return [[key, String(member)]];
      if (member !== null) note(`"${label}.${key}" was left out: its value is not a text`);
      return [];
    }),
  );
}

function isPairs(value: unknown): value is JsonObject | readonly unknown[] {
  return isJsonObject(value) || Array.isArray(value);
}
