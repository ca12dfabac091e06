import { GatewayError } from '../core/errors.ts';
import { OWN_SERVER_NAME } from '../core/ids.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { isJsonObject } from '../core/json.ts';
import { completeAtOnce } from '../core/lib/complete-in-slices.ts';
import type { ConfigSnapshot, ConfigWarning, GatewayConfig, SearchConfig, UpstreamConfig } from './config.ts';
import { describeSchemaIssues } from './describe-schema-issues.ts';
import {
  type DocumentMember,
  type DocumentPath,
  type DocumentProblem,
  findDuplicateKeys,
  findNode,
  formatPath,
  listMembers,
  type Node,
  parseDocument,
  readNodeValue,
  toPosition,
} from './file/document.ts';
import { formatConfigName } from './file/inline-config.ts';
import { readCallers } from './read-callers.ts';
import { readPolicy } from './read-policy.ts';
import { readUpstream } from './read-upstream.ts';
import { type ConfigFile, fileSchema, serverSchema } from './schema/schema.ts';

const SERVERS = 'mcpServers';
const MAX_NAME_LENGTH = 128;
const FOREIGN_KEY_ADVICE = '`trunkline import` converts the entries of other clients';
/** The maximum number of reported problems. People do not read a longer list; the rest is reported once these problems are fixed. */
const MAX_REPORTED = 20;

interface ConfigText {
  readonly file: string;
  readonly text: string;
}

interface ServerContext {
  readonly file: string;
  readonly settings: ConfigFile;
}

interface ConfigSource extends ConfigText {
  readonly revision: Fingerprint;
  /** Additional entries, which replace those of the same name. */
  readonly servers?: Readonly<Record<string, unknown>> | undefined;
}

/** Returns the configuration that a text describes. A bad server entry becomes a warning; any other problem is thrown. */
export function validateConfig(source: ConfigSource): ConfigSnapshot {
  return completeAtOnce(validateSteps(source));
}

/** Does the same with a step for each server, because thousands of them take more than 100 ms. */
export function* validateSteps(source: ConfigSource): Generator<undefined, ConfigSnapshot> {
  const { file, text, revision } = source;
  const parsed = parseDocument(text);
  if ('problem' in parsed) throw invalidConfigError([parsed.problem, ...(parsed.further ?? [])], source);
  const { root } = parsed;
  const { settings, problems: settingsProblems } = readSettings(root);
  const { upstreams, unusable, problems: serverProblems } = yield* readServers(root, { file, settings });
  const duplicates = findDuplicateKeys(root);
  const warnings = [
    ...duplicates
      .filter(isInServerEntry)
      .map((problem) => ({ ...problem, message: `${problem.message}; the last one is used` })),
    ...serverProblems,
  ].toSorted(byOffset);
  const errors = [...duplicates.filter((problem) => !isInServerEntry(problem)), ...settingsProblems].toSorted(
    byOffset,
  );
  // The warnings are reported as well, since the file has to be edited anyway.
  if (errors.length > 0) throw invalidConfigError([...errors, ...warnings], source);
  for (const upstream of readAdditionalServers(source.servers ?? {}, { file, settings })) {
    const at = upstreams.findIndex(({ name }) => name === upstream.name);
    upstreams.splice(at < 0 ? upstreams.length : at, 1, upstream);
  }
  const { problems: policyProblems, ...policy } = readPolicy(settings, {
    servers: [...[...listServers(root)].map(({ key }) => key), OWN_SERVER_NAME],
    tags: upstreams.flatMap(({ tags }) => tags),
  });
  const { problems: callerProblems, auth } = readCallers(settings);
  const unknownNames = [...policyProblems, ...callerProblems].map((problem) => addOffset(problem, root));
  if (unknownNames.length > 0) throw invalidConfigError([...unknownNames, ...warnings], source);
  const enabled = upstreams.filter((upstream) => upstream.enabled);
  return deepFreeze({
    file,
    revision,
    value: {
      ...convertSettings(settings),
      upstreams: enabled,
      unusedTags: readUnusedTags(root, enabled),
      policy: policy.policy,
      profiles: policy.profiles,
      auth,
    },
    disabled: upstreams.filter((upstream) => !upstream.enabled).map(({ name }) => name),
    unusable,
    warnings: warnings.map((problem) => toWarning(problem, source)),
  });
}

/** Creates an error with one line per problem, in the format of compilers. */
function invalidConfigError(problems: readonly DocumentProblem[], source: ConfigText): GatewayError {
  const warnings = problems.slice(0, MAX_REPORTED).map((problem) => toWarning(problem, source));
  const lines = warnings.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
  const more = problems.length - warnings.length;
  if (more > 0) lines.push(`${formatConfigName(source.file)}: … and ${more} more`);
  return new GatewayError('CONFIG_INVALID', lines.join('\n'), {
    details: { ...warnings[0], problems: warnings.length > 1 ? warnings : undefined },
  });
}

function toWarning({ path, offset, message }: DocumentProblem, { file, text }: ConfigText): ConfigWarning {
  return { file: formatConfigName(file), ...toPosition(text, offset), path: formatPath(path), message };
}

/** Reads the settings. If they are invalid, returns the problems and default settings, so that the rest of the file can be checked. */
function readSettings(root: Node): {
  readonly settings: ConfigFile;
  readonly problems: readonly DocumentProblem[];
} {
  const value = readNodeValue(root);
  // Server entries are read one by one, so that a bad one does not invalidate the others.
  const withoutServers =
    isJsonObject(value) && isJsonObject(value[SERVERS]) ? { ...value, [SERVERS]: {} } : value;
  const result = fileSchema.safeParse(withoutServers);
  if (result.success) return { settings: result.data, problems: [] };
  const problems = describeSchemaIssues(result.error.issues, { schema: fileSchema, node: root });
  return { settings: fileSchema.parse({}), problems };
}

function* readServers(
  root: Node,
  context: ServerContext,
): Generator<
  undefined,
  {
    readonly upstreams: UpstreamConfig[];
    readonly unusable: readonly UpstreamName[];
    readonly problems: readonly DocumentProblem[];
  }
> {
  const upstreams: UpstreamConfig[] = [];
  const unusable: UpstreamName[] = [];
  const problems: DocumentProblem[] = [];
  for (const member of listServers(root)) {
    yield;
    const result = readServer(member, context);
    problems.push(...result.problems);
    if (result.upstream !== undefined) upstreams.push(result.upstream);
    else unusable.push(member.key as UpstreamName); // The name that the upstream would have.
  }
  yield;
  return { upstreams, unusable, problems };
}

/** Returns one member per name: the last one if a name occurs twice. */
function listServers(root: Node): Iterable<DocumentMember> {
  const node = findNode(root, [SERVERS]);
  const members = node === undefined ? [] : listMembers(node);
  return new Map(members.map((member) => [member.key, member])).values();
}

function readServer(
  { key, keyNode, valueNode }: DocumentMember,
  context: ServerContext,
): { readonly upstream?: UpstreamConfig | undefined; readonly problems: readonly DocumentProblem[] } {
  const name = JSON.stringify(key);
  const toProblem = (path: DocumentPath, message: string): DocumentProblem => ({
    path: [SERVERS, key, ...path],
    offset: path.length === 0 ? keyNode.offset : (findNode(valueNode, path)?.offset ?? keyNode.offset),
    message,
  });
  const nameProblem = findNameProblem(key);
  if (nameProblem !== undefined) {
    return { problems: [toProblem([], `server ${name} is left out: its name ${nameProblem}`)] };
  }
  const result = serverSchema.safeParse(readNodeValue(valueNode));
  if (!result.success) {
    const issues = describeSchemaIssues(result.error.issues, {
      schema: serverSchema,
      node: valueNode,
      advice: FOREIGN_KEY_ADVICE,
    });
    return {
      problems: issues.map(({ path, offset, message }) => ({
        path: [SERVERS, key, ...path],
        offset,
        message: `server ${name} is left out: ${message}`,
      })),
    };
  }
  // The name was checked above, so the cast is safe.
  const { upstream, problems, remarks } = readUpstream(key as UpstreamName, result.data, context);
  return {
    upstream,
    problems: [
      ...problems.map(({ path, message }) => toProblem(path, `server ${name} is left out: ${message}`)),
      ...remarks.map(({ path, message }) => toProblem(path, `server ${name}: ${message}`)),
    ],
  };
}

/** Returns the problem of a server's name, or undefined if the name is valid. */
export function findNameProblem(name: string): string | undefined {
  if (name === '') return 'is empty';
  if (name.length > MAX_NAME_LENGTH) return `is longer than ${MAX_NAME_LENGTH} characters`;
  return /\p{Cc}/u.test(name) ? 'has control characters' : undefined;
}

function isInServerEntry({ path }: DocumentProblem): boolean {
  return path[0] === SERVERS && path.length > 1;
}

function byOffset(a: DocumentProblem, b: DocumentProblem): number {
  return a.offset - b.offset;
}

/** Reads entries from the command line. Throws for an invalid one, because the user has just typed it. */
function readAdditionalServers(
  servers: Readonly<Record<string, unknown>>,
  context: ServerContext,
): readonly UpstreamConfig[] {
  return Object.entries(servers).map(([name, entry]) => {
    const nameProblem = findNameProblem(name);
    const parsed = serverSchema.safeParse(entry);
    const result =
      nameProblem === undefined && parsed.success
        ? readUpstream(name as UpstreamName, parsed.data, context) // The name was just checked.
        : undefined;
    if (result?.upstream !== undefined) return result.upstream;
    const reason = nameProblem === undefined ? result?.problems[0]?.message : `its name ${nameProblem}`;
    throw new GatewayError('USAGE', `Server "${name}" cannot be used: ${reason ?? 'it is not a server'}.`);
  });
}

function addOffset({ path, message }: Omit<DocumentProblem, 'offset'>, root: Node): DocumentProblem {
  return { path, message, offset: findNode(root, path)?.offset ?? root.offset };
}

function convertSettings(
  settings: ConfigFile,
): Omit<GatewayConfig, 'upstreams' | 'unusedTags' | 'policy' | 'profiles' | 'auth'> {
  const { limits, argumentRules } = settings;
  const { sessionIdle, drain, ...http } = settings.http;
  const { keepFor, ...results } = settings.results;
  const { timeout, cpu, ...code } = settings.code;
  const { connectTimeout, statementTimeout, ...storage } = settings.storage;
  const { keepDays, ...audit } = settings.audit;
  const { interval, endpoint, ...telemetry } = settings.telemetry;
  return {
    names: settings.names,
    expose: settings.expose,
    http: { ...http, sessionIdleMs: sessionIdle, drainMs: drain },
    results: { ...results, keepMs: keepFor },
    search: convertSearch(settings.search),
    code: { ...code, timeoutMs: timeout, cpuMs: cpu },
    storage: { ...storage, connectTimeoutMs: connectTimeout, statementTimeoutMs: statementTimeout },
    fleet: settings.fleet,
    audit: { ...audit, keepMs: keepDays * 24 * 3_600_000 },
    telemetry: { ...telemetry, endpoint: endpoint === '' ? undefined : endpoint, intervalMs: interval },
    metrics: settings.metrics,
    management: settings.management,
    readOnly: settings.readOnly,
    callerLimits: {
      rate: limits.callerRate,
      concurrency: limits.callerConcurrency,
      waiting: limits.waiting,
      isFleetWide: limits.scope === 'fleet',
    },
    redact: settings.redact,
    argumentRules: argumentRules === false ? undefined : argumentRules,
    guards: settings.guards,
    startup: { listWaitMs: settings.startup.listWait, refreshMs: settings.startup.refresh },
    maxCallMs: settings.timeouts.max,
    shutdownMs: settings.shutdown,
    idleExitMs: settings.idleExit,
    log: settings.log,
  };
}

function convertSearch({ usage, rerank }: ConfigFile['search']): SearchConfig {
  if (rerank === undefined) return { usage };
  const { timeout, ...rest } = rerank;
  return { usage, rerank: { ...rest, timeoutMs: timeout } };
}

/** Returns the tags of entries that are disabled or invalid, as far as they can be read. */
function readUnusedTags(root: Node, enabled: readonly UpstreamConfig[]): GatewayConfig['unusedTags'] {
  const used = new Set<string>(enabled.map(({ name }) => name));
  const unused = [...listServers(root)].flatMap(({ key, valueNode }) => {
    const entry = used.has(key) ? undefined : readNodeValue(valueNode);
    const tags: unknown = isJsonObject(entry) ? entry['tags'] : undefined;
    const texts = Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];
    return texts.length === 0 ? [] : [[key, texts] as const];
  });
  return unused.length === 0 ? undefined : Object.fromEntries(unused);
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member as object);
  }
  return Object.freeze(value);
}
