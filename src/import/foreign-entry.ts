import { entryProblem } from '../config/entry-problem.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';
import type { Dialect } from './dialect.ts';
import { pathsOf } from './paths.ts';
import type { ReadServer, Reading } from './source.ts';

interface EntryOptions {
  readonly reading: Reading;
  readonly dialect: Dialect;
  /** What its `timeout` counts; undefined where it is something else than the time for a call. */
  readonly timeout?: 'ms' | 's';
  /** What an address without a type is. */
  readonly urlType?: 'sse';
  /** In which a program is started that says nothing about it. */
  readonly folder?: string | undefined;
  /** Members of ours that the caller has worked out. */
  readonly more?: JsonObject;
}

const TYPES: Readonly<Record<string, string | undefined>> = {
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

/** A server as nearly all clients write it, with the spellings that they differ in, as an entry of ours. */
export function foreignEntry(name: string, raw: unknown, options: EntryOptions): ReadServer {
  if (!isJsonObject(raw)) return { name, problem: 'it is not an object', remarks: [] };
  const remarks: string[] = [];
  const problems: string[] = [];
  const text = (value: string): string => {
    const { text: own, remark, problem } = options.dialect(value);
    if (remark !== undefined && !remarks.includes(remark)) remarks.push(remark);
    if (problem !== undefined) problems.push(problem);
    return own;
  };
  const entry: JsonObject = {
    ...(hasText(raw['command']) || Array.isArray(raw['command']) || isJsonObject(raw['command'])
      ? program(raw, options, text)
      : remote(raw, options, text)),
    ...settings(raw, options),
    ...options.more,
  };
  for (const key of ['oauth', 'auth', 'authProviderType'])
    if (raw[key] !== undefined && entry['auth'] === undefined)
      remarks.push('its settings for signing in were left out: run `trunkline login` if it asks for it');
  const typeSaid = raw['type'] ?? raw['transport'] ?? raw['protocol'];
  if (typeof typeSaid === 'string' && typeSaid !== '' && !(typeSaid.toLowerCase() in TYPES))
    problems.push(`"${typeSaid}" is not a transport that Trunkline has`);
  if (entry['command'] === undefined && entry['url'] === undefined)
    problems.push('it has neither a command nor an address');
  const problem = problems[0] ?? entryProblem(name, entry, options.reading.path);
  if (problem !== undefined) return { name, problem, remarks: [] };
  return { name, entry, remarks };
}

function program(raw: JsonObject, options: EntryOptions, text: (value: string) => string): JsonObject {
  // Some have the whole command line in a list, and Zed had an object.
  const nested = isJsonObject(raw['command']) ? raw['command'] : undefined;
  const words = Array.isArray(raw['command']) ? strings(raw['command']) : [];
  const [first = nested?.['path'] ?? nested?.['command'] ?? raw['command'], ...rest] = words;
  const args = [...rest, ...strings(nested?.['args'] ?? raw['args'])];
  const env = { ...inherited(raw), ...pairs(nested?.['env'] ?? raw['env'] ?? raw['environment'], text) };
  const cwd = raw['cwd'] ?? raw['working_dir'] ?? raw['workingDirectory'];
  const folder = hasText(cwd) ? anchored(text(cwd), options) : options.folder;
  const envFile = raw['envFile'] ?? raw['env_file'];
  return {
    ...(hasText(first) && { command: text(first) }),
    ...(args.length > 0 && { args: args.map(text) }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(hasText(envFile) && { envFile: anchored(text(envFile), options) }),
    ...(folder !== undefined && { cwd: folder }),
  };
}

/** Names of variables that a program gets from its surroundings. */
function inherited(raw: JsonObject): JsonObject {
  return Object.fromEntries(
    strings(raw['env_vars'])
      .filter((name) => name !== '')
      .map((name) => [name, `\${env:${name}:-}`]),
  );
}

function remote(raw: JsonObject, options: EntryOptions, text: (value: string) => string): JsonObject {
  const url = [raw['url'], raw['serverUrl'], raw['httpUrl'], raw['endpoint']].find(hasText);
  if (url === undefined) return {};
  const said = [raw['type'], raw['transport'], raw['protocol']].find(hasText)?.toLowerCase();
  const isHttp = raw['url'] === undefined && raw['httpUrl'] !== undefined;
  const type = said === undefined ? (isHttp ? 'http' : options.urlType) : TYPES[said];
  const request = isJsonObject(raw['requestOptions']) ? raw['requestOptions'] : {};
  const token = raw['authorizationToken'];
  const headers = {
    ...(hasText(token) && { Authorization: text(/^bearer /i.test(token) ? token : `Bearer ${token}`) }),
    ...pairs(raw['headers'] ?? raw['http_headers'] ?? request['headers'], text),
    ...bearer(raw),
    ...environmentHeaders(raw),
  };
  return {
    ...(type !== undefined && type !== 'stdio' && { type }),
    url: text(url),
    ...(Object.keys(headers).length > 0 && { headers }),
  };
}

function bearer(raw: JsonObject): JsonObject {
  const name = raw['bearer_token_env_var'];
  return hasText(name) ? { Authorization: `Bearer \${env:${name}}` } : {};
}

function environmentHeaders(raw: JsonObject): JsonObject {
  const named = raw['env_http_headers'];
  if (!isJsonObject(named)) return {};
  return Object.fromEntries(
    Object.entries(named).flatMap(([header, name]) => (hasText(name) ? [[header, `\${env:${name}}`]] : [])),
  );
}

function settings(raw: JsonObject, { timeout }: EntryOptions): JsonObject {
  const isOff = raw['disabled'] === true || raw['enabled'] === false || raw['isActive'] === false;
  const seconds = raw['tool_timeout_sec'];
  const said =
    typeof seconds === 'number' ? seconds * 1000 : Number(raw['timeout']) * (timeout === 's' ? 1000 : 1);
  const callMs =
    (timeout === undefined && seconds === undefined) || !(said >= 1000) ? undefined : Math.round(said);
  const allow = strings(raw['includeTools'] ?? raw['enabled_tools'] ?? raw['allowedTools']);
  const deny = strings(raw['excludeTools'] ?? raw['disabled_tools'] ?? raw['disabledTools']);
  const tags = strings(raw['tags']).filter((tag) => tag !== '');
  return {
    ...(isOff && { enabled: false }),
    ...(hasText(raw['description']) && { description: raw['description'] }),
    ...(tags.length > 0 && { tags }),
    ...(callMs !== undefined && { timeouts: { call: `${callMs}ms` } }),
    ...((allow.length > 0 || deny.length > 0) && {
      tools: { ...(allow.length > 0 && { allow }), ...(deny.length > 0 && { deny }) },
    }),
  };
}

/** Programs of a project are started in it, whatever our own folder is. */
function anchored(path: string, { reading, folder }: EntryOptions): string {
  const paths = pathsOf(reading.places);
  const base = folder ?? (reading.scope === 'project' ? reading.places.cwd : undefined);
  if (base === undefined || path.startsWith('${') || path.startsWith('~')) return path;
  return paths.resolve(base, path);
}

/** As texts, since some clients also take numbers and truth values. */
function pairs(value: unknown, text: (value: string) => string): JsonObject {
  const entries = Array.isArray(value)
    ? strings(value).flatMap((line) => {
        const at = line.indexOf('=');
        return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
      })
    : isJsonObject(value)
      ? Object.entries(value)
      : [];
  return Object.fromEntries(
    entries.flatMap(([key, each]) => {
      if (typeof each === 'string') return [[key, text(each)]];
      return typeof each === 'number' || typeof each === 'boolean' ? [[key, String(each)]] : [];
    }),
  );
}

export function strings(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) =>
    typeof each === 'string'
      ? [each]
      : typeof each === 'number' || typeof each === 'boolean'
        ? [String(each)]
        : [],
  );
}

export function hasText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
