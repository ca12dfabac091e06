import { findEntryProblem } from '../../config/read-server-entry.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { pathModuleFor } from './client-paths.ts';
import type { Dialect } from './dialect.ts';
import type { ImportedServer, SourceContext } from './import-source.ts';

interface ConvertOptions {
  readonly context: SourceContext;
  readonly dialect: Dialect;
  /** Unit of `timeout`; undefined if the client's `timeout` does not limit calls. */
  readonly timeoutUnit?: 'ms' | 's';
  /** Transport of a URL without a type. */
  readonly urlType?: 'sse';
  /** Working directory of programs without one. */
  readonly folder?: string | undefined;
  /** Additional members in our format. */
  readonly extra?: JsonObject | undefined;
}

type Translate = (text: string) => string;

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

/** Converts an entry in the common format of MCP clients, including the variants of single clients, to ours. */
export function convertClientEntry(name: string, raw: unknown, options: ConvertOptions): ImportedServer {
  if (!isJsonObject(raw)) return { name, problem: 'it is not an object', remarks: [] };
  const remarks: string[] = [];
  const problems: string[] = [];
  const translate: Translate = (value) => {
    const { text, remark, problem } = options.dialect(value);
    if (remark !== undefined && !remarks.includes(remark)) remarks.push(remark);
    if (problem !== undefined) problems.push(problem);
    return text;
  };
  const { command } = raw;
  const isProgram = isNonEmptyString(command) || Array.isArray(command) || isJsonObject(command);
  const entry: JsonObject = {
    ...(isProgram ? convertProgram(raw, options, translate) : convertRemote(raw, options, translate)),
    ...convertSettings(raw, options),
    ...options.extra,
  };
  for (const key of ['oauth', 'auth', 'authProviderType']) {
    if (raw[key] !== undefined && entry['auth'] === undefined) {
      remarks.push(
        'its sign-in settings were left out: run `trunkline login` if the server requires a sign-in',
      );
    }
  }
  const type = raw['type'] ?? raw['transport'] ?? raw['protocol'];
  if (typeof type === 'string' && type !== '' && !(type.toLowerCase() in TRANSPORTS)) {
    problems.push(`"${type}" is not a transport that Trunkline supports`);
  }
  if (entry['command'] === undefined && entry['url'] === undefined) {
    problems.push('it has neither a command nor a URL');
  }
  const problem = problems[0] ?? findEntryProblem(name, entry, options.context.path);
  if (problem !== undefined) return { name, problem, remarks: [] };
  return { name, entry, remarks };
}

function convertProgram(raw: JsonObject, options: ConvertOptions, translate: Translate): JsonObject {
  // Some clients have the whole command line in a list, and older versions of Zed have an object.
  const nested = isJsonObject(raw['command']) ? raw['command'] : undefined;
  const words = Array.isArray(raw['command']) ? toStrings(raw['command']) : [];
  const [command = nested?.['path'] ?? nested?.['command'] ?? raw['command'], ...rest] = words;
  const args = [...rest, ...toStrings(nested?.['args'] ?? raw['args'])];
  const env = {
    ...convertInheritedVariables(raw),
    ...convertPairs(nested?.['env'] ?? raw['env'] ?? raw['environment'], translate),
  };
  const cwd = raw['cwd'] ?? raw['working_dir'] ?? raw['workingDirectory'];
  const folder = isNonEmptyString(cwd) ? resolvePath(translate(cwd), options) : options.folder;
  const envFile = raw['envFile'] ?? raw['env_file'];
  return {
    ...(isNonEmptyString(command) && { command: translate(command) }),
    ...(args.length > 0 && { args: args.map(translate) }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(isNonEmptyString(envFile) && { envFile: resolvePath(translate(envFile), options) }),
    ...(folder !== undefined && { cwd: folder }),
  };
}

/** Returns references to the variables that a program inherits; a variable that is not set becomes empty. */
function convertInheritedVariables(raw: JsonObject): JsonObject {
  return Object.fromEntries(
    toStrings(raw['env_vars'])
      .filter((name) => name !== '')
      .map((name) => [name, `\${env:${name}:-}`]),
  );
}

function convertRemote(raw: JsonObject, options: ConvertOptions, translate: Translate): JsonObject {
  const url = [raw['url'], raw['serverUrl'], raw['httpUrl'], raw['endpoint']].find(isNonEmptyString);
  if (url === undefined) return {};
  const clientType = [raw['type'], raw['transport'], raw['protocol']].find(isNonEmptyString)?.toLowerCase();
  const isHttp = raw['url'] === undefined && raw['httpUrl'] !== undefined;
  const type = clientType === undefined ? (isHttp ? 'http' : options.urlType) : TRANSPORTS[clientType];
  const request = isJsonObject(raw['requestOptions']) ? raw['requestOptions'] : {};
  const token = raw['authorizationToken'];
  const bearerVariable = raw['bearer_token_env_var'];
  const headers = {
    ...(isNonEmptyString(token) && {
      Authorization: translate(/^bearer /i.test(token) ? token : `Bearer ${token}`),
    }),
    ...convertPairs(raw['headers'] ?? raw['http_headers'] ?? request['headers'], translate),
    ...(isNonEmptyString(bearerVariable) && { Authorization: `Bearer \${env:${bearerVariable}}` }),
    ...convertHeaderVariables(raw['env_http_headers']),
  };
  return {
    ...(type !== undefined && type !== 'stdio' && { type }),
    url: translate(url),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

/** Returns the headers whose values are in environment variables. */
function convertHeaderVariables(variables: unknown): JsonObject {
  if (!isJsonObject(variables)) return {};
  return Object.fromEntries(
    Object.entries(variables).flatMap(([header, variable]) =>
      isNonEmptyString(variable) ? [[header, `\${env:${variable}}`]] : [],
    ),
  );
}

function convertSettings(raw: JsonObject, { timeoutUnit }: ConvertOptions): JsonObject {
  const isDisabled = raw['disabled'] === true || raw['enabled'] === false || raw['isActive'] === false;
  const seconds = raw['tool_timeout_sec'];
  const timeoutMs =
    typeof seconds === 'number' ? seconds * 1000 : Number(raw['timeout']) * (timeoutUnit === 's' ? 1000 : 1);
  const isTimeoutKnown = timeoutUnit !== undefined || seconds !== undefined;
  const callMs = isTimeoutKnown && timeoutMs >= 1000 ? Math.round(timeoutMs) : undefined;
  const allow = toStrings(raw['includeTools'] ?? raw['enabled_tools'] ?? raw['allowedTools']);
  const deny = toStrings(raw['excludeTools'] ?? raw['disabled_tools'] ?? raw['disabledTools']);
  const tags = toStrings(raw['tags']).filter((tag) => tag !== '');
  return {
    ...(isDisabled && { enabled: false }),
    ...(isNonEmptyString(raw['description']) && { description: raw['description'] }),
    ...(tags.length > 0 && { tags }),
    ...(callMs !== undefined && { timeouts: { call: `${callMs}ms` } }),
    ...((allow.length > 0 || deny.length > 0) && {
      tools: { ...(allow.length > 0 && { allow }), ...(deny.length > 0 && { deny }) },
    }),
  };
}

/** Makes the paths of a project absolute, because its programs run in the project's folder. */
function resolvePath(path: string, { context, folder }: ConvertOptions): string {
  const { environment, scope } = context;
  const base = folder ?? (scope === 'project' ? environment.cwd : undefined);
  if (base === undefined || path.startsWith('${') || path.startsWith('~')) return path;
  return pathModuleFor(environment).resolve(base, path);
}

/** Converts all values to strings, since some clients also accept numbers and booleans, or a list of `KEY=VALUE`. */
function convertPairs(value: unknown, translate: Translate): JsonObject {
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
      return typeof member === 'number' || typeof member === 'boolean' ? [[key, String(member)]] : [];
    }),
  );
}

/** Returns the strings, numbers and booleans of a list as strings. */
export function toStrings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) =>
    typeof item === 'string' || typeof item === 'number' || typeof item === 'boolean' ? [String(item)] : [],
  );
}

export function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
