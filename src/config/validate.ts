import { GatewayError } from '../model/errors.ts';
import { OWN_SERVER } from '../model/ids.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import { isJsonObject } from '../model/json.ts';
import type { ConfigSnapshot, GatewayConfig, SearchConfig, UpstreamConfig } from './config.ts';
import {
  type DocumentPath,
  doubledKeys,
  type Member,
  membersOf,
  type Node,
  nodeAt,
  parseDocument,
  type Problem,
  valueOf,
} from './file/document.ts';
import type { ArgumentRule } from './guards-config.ts';
import { configWarning, invalidConfig } from './invalid-config.ts';
import type { ConfigText } from './invalid-config.ts';
import { schemaProblems } from './problems.ts';
import { readCallers } from './read-callers.ts';
import { readPolicy } from './read-policy.ts';
import { type ConfigFile, fileSchema, serverSchema } from './schema/schema.ts';
import { readUpstream } from './upstream-config.ts';

const SERVERS = 'mcpServers';
const MAX_NAME_LENGTH = 128;
const FOREIGN_KEYS = '`trunkline import` takes over what other clients write';

/** The value that a file's text stands for; a bad server entry becomes a warning, anything else bad is thrown. */
export function validateConfig(
  source: ConfigText & {
    readonly revision: Fingerprint;
    /** Further entries, which win over those of the same name. */
    readonly servers?: Readonly<Record<string, unknown>> | undefined;
  },
): ConfigSnapshot {
  const { file, text, revision } = source;
  const parsed = parseDocument(text);
  if ('problem' in parsed) throw invalidConfig([parsed.problem, ...(parsed.further ?? [])], source);
  const { root } = parsed;
  const doubled = doubledKeys(root);
  const isOfServer = ({ path }: Problem): boolean => path[0] === SERVERS && path.length > 1;
  const read = readSettings(root);
  const { upstreams, unusable, ...servers } = readServers(root, { file, settings: read.settings });
  const problems = [
    ...doubled
      .filter(isOfServer)
      .map((problem) => ({ ...problem, message: `${problem.message}; the last one counts` })),
    ...servers.problems,
  ].toSorted(byPlace);
  // Whoever has to mend the file anyway is told everything.
  const fatal = [...doubled.filter((problem) => !isOfServer(problem)), ...read.problems].toSorted(byPlace);
  if (fatal.length > 0) throw invalidConfig([...fatal, ...problems], source);
  const { settings } = read;
  for (const upstream of furtherServers(source.servers ?? {}, { file, settings })) {
    const at = upstreams.findIndex(({ name }) => name === upstream.name);
    upstreams.splice(at < 0 ? upstreams.length : at, 1, upstream);
  }
  const { problems: strangers, ...policy } = readPolicy(settings, {
    servers: [...[...serversOf(root)].map(({ key }) => key), OWN_SERVER],
    tags: upstreams.flatMap(({ tags }) => tags),
  });
  const { problems: strangeCallers, ...callers } = readCallers(settings);
  const unknown = [...strangers, ...strangeCallers];
  if (unknown.length > 0)
    throw invalidConfig([...unknown.map((problem) => placed(problem, root)), ...problems], source);
  return deepFreeze({
    file,
    revision,
    value: {
      ...gatewayConfig(
        settings,
        upstreams.filter(({ enabled }) => enabled),
      ),
      ...policy,
      ...callers,
      ...unusedTags(root, upstreams),
    },
    disabled: upstreams.filter(({ enabled }) => !enabled).map(({ name }) => name),
    unusable,
    warnings: problems.map((problem) => configWarning(problem, source)),
  });
}

/** Where they cannot be used, those of an empty file, so that the rest can be looked at as well. */
function readSettings(root: Node): {
  readonly settings: ConfigFile;
  readonly problems: readonly Problem[];
} {
  const value = valueOf(root);
  // Entries are read one by one, so that a bad one does not stop the others.
  const withoutServers =
    isJsonObject(value) && isJsonObject(value[SERVERS]) ? { ...value, [SERVERS]: {} } : value;
  const result = fileSchema.safeParse(withoutServers);
  if (result.success) return { settings: result.data, problems: [] };
  const problems = schemaProblems(result.error.issues, { schema: fileSchema, node: root });
  return { settings: fileSchema.parse({}), problems };
}

function readServers(
  root: Node,
  context: { readonly file: string; readonly settings: ConfigFile },
): {
  readonly upstreams: UpstreamConfig[];
  readonly unusable: readonly UpstreamName[];
  readonly problems: readonly Problem[];
} {
  const upstreams: UpstreamConfig[] = [];
  const unusable: UpstreamName[] = [];
  const problems: Problem[] = [];
  for (const member of serversOf(root)) {
    const reading = readServer(member, context);
    problems.push(...reading.problems);
    if (reading.upstream !== undefined) upstreams.push(reading.upstream);
    else unusable.push(member.key as UpstreamName); // What it was, or would be, if it had no mistake.
  }
  return { upstreams, unusable, problems };
}

/** Tags of entries that are switched off or have a mistake in them, as far as they can be read. */
function unusedTags(root: Node, upstreams: readonly UpstreamConfig[]): Pick<GatewayConfig, 'unusedTags'> {
  const used = new Set<string>(upstreams.filter(({ enabled }) => enabled).map(({ name }) => name));
  const found = [...serversOf(root)].flatMap(({ key, valueNode }): [string, string[]][] => {
    const entry = used.has(key) ? undefined : valueOf(valueNode);
    const tags: unknown = isJsonObject(entry) ? entry['tags'] : undefined;
    const texts = Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];
    return texts.length === 0 ? [] : [[key, texts]];
  });
  return found.length === 0 ? {} : { unusedTags: Object.fromEntries(found) };
}

/** One member per name, the last of those that are written twice. */
function serversOf(root: Node): Iterable<Member> {
  const node = nodeAt(root, [SERVERS]);
  return new Map((node === undefined ? [] : membersOf(node)).map((member) => [member.key, member])).values();
}

function readServer(
  { key, keyNode, valueNode }: Member,
  context: { readonly file: string; readonly settings: ConfigFile },
): { readonly upstream?: UpstreamConfig; readonly problems: readonly Problem[] } {
  const shown = JSON.stringify(key);
  const place = (path: DocumentPath, message: string): Problem => ({
    path: [SERVERS, key, ...path],
    offset: path.length === 0 ? keyNode.offset : (nodeAt(valueNode, path)?.offset ?? keyNode.offset),
    message,
  });
  const wrongName = nameProblem(key);
  if (wrongName !== undefined) {
    return { problems: [place([], `server ${shown} is left out: its name ${wrongName}`)] };
  }
  const result = serverSchema.safeParse(valueOf(valueNode));
  if (!result.success) {
    const found = schemaProblems(result.error.issues, {
      schema: serverSchema,
      node: valueNode,
      advice: FOREIGN_KEYS,
    });
    return {
      problems: found.map(({ path, offset, message }) => ({
        path: [SERVERS, key, ...path],
        offset,
        message: `server ${shown} is left out: ${message}`,
      })),
    };
  }
  // The name was checked above; this is where a text becomes one.
  const { upstream, problems, remarks } = readUpstream(key as UpstreamName, result.data, context);
  return {
    ...(upstream !== undefined && { upstream }),
    problems: [
      ...problems.map(({ path, message }) => place(path, `server ${shown} is left out: ${message}`)),
      ...remarks.map(({ path, message }) => place(path, `server ${shown}: ${message}`)),
    ],
  };
}

/** Entries that are in no file; there is no going on without one of them, since somebody has just typed it. */
function furtherServers(
  servers: Readonly<Record<string, unknown>>,
  context: { readonly file: string; readonly settings: ConfigFile },
): readonly UpstreamConfig[] {
  return Object.entries(servers).map(([name, entry]) => {
    const wrongName = nameProblem(name);
    const result = serverSchema.safeParse(entry);
    const reading =
      wrongName === undefined && result.success
        ? readUpstream(name as UpstreamName, result.data, context) // The name was just checked.
        : undefined;
    if (reading?.upstream !== undefined) return reading.upstream;
    const why = wrongName === undefined ? reading?.problems[0]?.message : `its name ${wrongName}`;
    throw new GatewayError('USAGE', `Server "${name}" cannot be used: ${why ?? 'it is no server'}.`);
  });
}

/** What is wrong with a server's name; undefined when nothing is. */
export function nameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.length > MAX_NAME_LENGTH) return `is longer than ${MAX_NAME_LENGTH} characters`;
  return /\p{Cc}/u.test(name) ? 'has control characters' : undefined;
}

function placed({ path, message }: Omit<Problem, 'offset'>, root: Node): Problem {
  return { path, message, offset: nodeAt(root, path)?.offset ?? root.offset };
}

function gatewayConfig(
  settings: ConfigFile,
  upstreams: readonly UpstreamConfig[],
): Omit<GatewayConfig, 'policy' | 'profiles' | 'auth'> {
  const { sessionIdle, drain: drainMs, publicUrl, ...http } = settings.http;
  const { keepFor, ...results } = settings.results;
  const { timeout, cpu, ...code } = settings.code;
  const { keepDays, ...audit } = settings.audit;
  const { interval, endpoint, ...telemetry } = settings.telemetry;
  const { url, key, poolSize, connectTimeout, statementTimeout } = settings.storage;
  const { listen, address } = settings.fleet;
  return {
    upstreams,
    names: settings.names,
    expose: settings.expose,
    http: { ...http, sessionIdleMs: sessionIdle, drainMs, ...(publicUrl !== undefined && { publicUrl }) },
    results: { ...results, keepMs: keepFor },
    search: searchConfig(settings.search),
    code: { ...code, timeoutMs: timeout, cpuMs: cpu },
    storage: {
      ...{ poolSize, connectTimeoutMs: connectTimeout, statementTimeoutMs: statementTimeout },
      ...(url !== undefined && { url }),
      ...(key !== undefined && { key }),
    },
    fleet: { ...(listen !== undefined && { listen }), ...(address !== undefined && { address }) },
    audit: { ...audit, keepMs: keepDays * 24 * 3_600_000 },
    telemetry: { ...telemetry, ...(endpoint !== '' && { endpoint }), intervalMs: interval },
    metrics: settings.metrics,
    management: settings.management,
    readOnly: settings.readOnly,
    ...guarding(settings),
    startup: { listWaitMs: settings.startup.listWait, refreshMs: settings.startup.refresh },
    maxCallMs: settings.timeouts.max,
    shutdownMs: settings.shutdown,
    idleExitMs: settings.idleExit,
    log: settings.log,
  };
}

function guarding({ limits, redact, argumentRules, guards }: ConfigFile) {
  return {
    callerLimits: {
      ...{ rate: limits.callerRate, concurrency: limits.callerConcurrency, waiting: limits.waiting },
      isOfFleet: limits.scope === 'fleet',
    },
    redact,
    ...(argumentRules !== false && { argumentRules: argumentRules.map(withoutGaps) }),
    guards,
  };
}

/** Without the members that were not given. */
function withoutGaps(rule: Exclude<ConfigFile['argumentRules'], false>[number]): ArgumentRule {
  const { id, pattern, servers, tools, message } = rule;
  return {
    ...{ id, pattern },
    ...(servers !== undefined && { servers }),
    ...(tools !== undefined && { tools }),
    ...(rule.arguments !== undefined && { arguments: rule.arguments }),
    ...(message !== undefined && { message }),
  };
}

function searchConfig({ usage, rerank }: ConfigFile['search']): SearchConfig {
  if (rerank === undefined) return { usage };
  const { timeout, apiKey, ...rest } = rerank;
  return { usage, rerank: { ...rest, timeoutMs: timeout, ...(apiKey !== undefined && { apiKey }) } };
}

function byPlace(a: Problem, b: Problem): number {
  return a.offset - b.offset;
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member as object);
  }
  return Object.freeze(value);
}
