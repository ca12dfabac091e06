import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';

import { canonicalJson } from '../core/lib/canonical-json.ts';
import type { Fingerprint, UpstreamName } from '../core/ids.ts';
import { hasAuthorization } from './authorization-header.ts';
import type { TransportConfig, UpstreamConfig } from './config.ts';
import type { DocumentPath } from './file/document.ts';
import {
  escapeReferences,
  findReferenceProblem,
  HTTP_URL_HINT,
  isHttpUrl,
  parseReferences,
} from './resolve-references.ts';
import { readCliSettings } from './schema/cli-schema.ts';
import type { ConfigFile, ServerEntry } from './schema/schema.ts';
import { AUTH_TEXT_KEYS, findAuthProblems, readUpstreamAuth } from './read-upstream-auth.ts';

/** A smaller `timeout` is ignored: some clients count it in seconds, and no sensible timeout is shorter than a second. */
const MIN_TIMEOUT_MS = 1000;

interface EntryMessage {
  /** Relative to the entry. */
  readonly path: DocumentPath;
  readonly message: string;
}

interface UpstreamResult {
  /** Absent if the entry cannot be used. */
  readonly upstream?: UpstreamConfig;
  /** Why the entry cannot be used. */
  readonly problems: readonly EntryMessage[];
  /** Settings without effect in an entry that can be used. */
  readonly remarks: readonly EntryMessage[];
}

/** Turns an entry that matches the schema into an upstream, if its keys can be combined. */
export function readUpstream(
  name: UpstreamName,
  entry: ServerEntry,
  { file, settings }: { readonly file: string; readonly settings: ConfigFile },
): UpstreamResult {
  const problems = [...findCombinationProblems(entry), ...findTextProblems(entry)];
  if (problems.length > 0) return { problems, remarks: [] };
  const transport = readTransport(entry, file);
  const fingerprint = hashOf({ transport, era: entry.era });
  const auth = transport.kind === 'http' ? readUpstreamAuth(entry.auth) : undefined;
  const hasOwnAuth = auth !== undefined && entry.auth !== undefined;
  const upstream: UpstreamConfig = {
    name,
    fingerprint,
    startFingerprint: hasOwnAuth ? hashOf({ fingerprint, auth }) : fingerprint,
    enabled: entry.enabled ?? entry.disabled !== true,
    description: entry.description,
    tags: entry.tags,
    share: entry.share,
    trust: entry.trust,
    era: entry.era,
    transport,
    auth,
    idle: entry.idle ?? settings.idle,
    timeouts: {
      connectMs: entry.timeouts.connect ?? settings.timeouts.connect,
      callMs: entry.timeouts.call ?? readForeignTimeout(entry) ?? settings.timeouts.call,
    },
    limits: readLimits(entry, settings),
    redact: {
      arguments: entry.redact.arguments ?? settings.redact.arguments,
      results: entry.redact.results ?? settings.redact.results,
    },
    hasArgumentRules: entry.argumentRules,
    passedMeta: entry.passMeta,
    tools: { ...entry.tools, describe: readDescriptions(entry) },
  };
  return { upstream, problems, remarks: findRemarks(entry) };
}

function hashOf(value: object): Fingerprint {
  return createHash('sha256').update(canonicalJson(value)).digest('base64url').slice(0, 22) as Fingerprint;
}

function findCombinationProblems(entry: ServerEntry): readonly EntryMessage[] {
  const { command, type } = entry;
  const urlKey = entry.url === undefined ? 'serverUrl' : 'url';
  const url = entry[urlKey];
  const problems: EntryMessage[] = [];
  const report = (path: DocumentPath, message: string): void => void problems.push({ path, message });
  if (entry.url !== undefined && entry.serverUrl !== undefined) {
    report(['serverUrl'], 'it has both "url" and "serverUrl", which mean the same; keep one');
  }
  if (command !== undefined && url !== undefined) {
    report([urlKey], `it has both "command" and "${urlKey}"; keep the one that reaches the server`);
  } else if (command === undefined && url === undefined) {
    report([], 'it needs "command" (a program to start) or "url" (the URL of a server)');
  } else if (type === 'stdio' && command === undefined) {
    report(['type'], '"type": "stdio" needs "command", but it has a URL');
  } else if (type !== undefined && type !== 'stdio' && url === undefined) {
    report(['type'], `"type": "${type}" needs "url", but it has "command"`);
  }
  if (entry.cli !== undefined && command === undefined && url !== undefined) {
    report(['cli'], '"cli" needs "command" (the program), but it has a URL');
  }
  if (entry.cli !== undefined) problems.push(...findPresetProblems(entry.cli));
  if (entry.auth !== undefined) {
    for (const { key, message } of findAuthProblems(entry.auth)) report(['auth', key], message);
  }
  if (entry.enabled !== undefined && entry.enabled === entry.disabled) {
    report(['disabled'], '"enabled" and "disabled" contradict each other; keep one');
  }
  return problems;
}

function findPresetProblems(cli: NonNullable<ServerEntry['cli']>): readonly EntryMessage[] {
  if (cli === true) return [];
  const names = cli.tools.map(({ name }) => name);
  return cli.tools.flatMap(({ name, parameters }, at): readonly EntryMessage[] => {
    const path = ['cli', 'tools', at];
    if (names.indexOf(name) !== at) {
      return [{ path: [...path, 'name'], message: `there are two tools "${name}"; rename one` }];
    }
    return Object.entries(parameters).flatMap(([key, { type, flag, repeat }]): readonly EntryMessage[] => {
      const parameterPath = [...path, 'parameters', key];
      if (type === 'boolean' && flag === undefined) {
        return [{ path: parameterPath, message: 'a "boolean" needs "flag"' }];
      }
      if (type === 'boolean' && repeat) {
        return [{ path: parameterPath, message: 'a "boolean" cannot "repeat"' }];
      }
      return [];
    });
  });
}

/** Checks the syntax of references and of URLs without references. */
function findTextProblems(entry: ServerEntry): readonly EntryMessage[] {
  const problems: EntryMessage[] = [];
  const checkReferences = (path: DocumentPath, text: string | undefined): void => {
    const message = text === undefined ? undefined : findReferenceProblem(text);
    if (message !== undefined) problems.push({ path, message });
  };
  for (const key of ['command', 'envFile', 'cwd', 'url', 'serverUrl', 'authorizationToken'] as const) {
    checkReferences([key], entry[key]);
  }
  for (const [at, text] of (entry.args ?? []).entries()) checkReferences(['args', at], text);
  for (const key of ['env', 'headers'] as const) {
    for (const [name, text] of Object.entries(entry[key] ?? {})) checkReferences([key, name], text);
  }
  for (const key of AUTH_TEXT_KEYS) checkReferences(['auth', key], entry.auth?.[key]);
  for (const key of ['url', 'serverUrl'] as const) {
    const text = entry[key];
    // A URL with references can only be checked after they are resolved.
    if (text !== undefined && !hasReference(text) && !isHttpUrl(text)) {
      problems.push({ path: [key], message: `"${key}" ${HTTP_URL_HINT}` });
    }
  }
  return problems;
}

function readTransport(entry: ServerEntry, file: string): TransportConfig {
  const { command, url = entry.serverUrl, envFile, cwd } = entry;
  if (command === undefined) {
    const transport = { kind: 'http', url: url ?? '', headers: readHeaders(entry) } as const;
    const flavour = readFlavour(entry.type);
    // Without a helper, the key stays absent, so that the fingerprints of earlier versions stay valid.
    const { headersHelper } = entry;
    return headersHelper === undefined ? { ...transport, flavour } : { ...transport, headersHelper, flavour };
  }
  const program = {
    command,
    args: entry.args ?? [],
    env: entry.env ?? {},
    envFile: envFile === undefined ? undefined : resolvePath(envFile, file),
    cwd: cwd === undefined ? undefined : resolvePath(cwd, file),
  };
  if (entry.cli === undefined) return { kind: 'stdio', ...program };
  return { kind: 'cli', ...program, cli: readCliSettings(entry.cli) };
}

function readHeaders({ headers = {}, authorizationToken }: ServerEntry): Readonly<Record<string, string>> {
  if (authorizationToken === undefined || hasAuthorization(headers)) return headers;
  return { ...headers, Authorization: `Bearer ${authorizationToken}` };
}

function readFlavour(type: ServerEntry['type']): 'auto' | 'streamable' | 'sse' {
  if (type === undefined) return 'auto';
  return type === 'sse' ? 'sse' : 'streamable';
}

/** Makes a path absolute. Leaves a path with references or `~` unchanged, because they are resolved later. */
function resolvePath(path: string, file: string): string {
  if (path.startsWith('~') || hasReference(path)) return path;
  return resolve(escapeReferences(dirname(file)), path);
}

function hasReference(text: string): boolean {
  return parseReferences(text).some((part) => typeof part !== 'string');
}

function readForeignTimeout({ timeout }: ServerEntry): number | undefined {
  return timeout === undefined || timeout < MIN_TIMEOUT_MS ? undefined : Math.round(timeout);
}

function readLimits({ limits: own }: ServerEntry, { limits }: ConfigFile): UpstreamConfig['limits'] {
  return {
    concurrency: own.concurrency ?? limits.concurrency,
    waiting: own.waiting ?? limits.waiting,
    sessions: own.sessions ?? limits.sessions,
    rate: own.rate ?? limits.rate,
    argumentBytes: own.argumentBytes ?? limits.argumentBytes,
    resultBytes: own.resultBytes ?? limits.resultBytes,
    isFleetWide: (own.scope ?? limits.scope) === 'fleet',
  };
}

function readDescriptions({ tools }: ServerEntry): NonNullable<UpstreamConfig['tools']['describe']> {
  return Object.fromEntries(
    Object.entries(tools.describe).map(([glob, text]) => [
      glob,
      typeof text === 'string' ? { append: text } : text,
    ]),
  );
}

function findRemarks(entry: ServerEntry): readonly EntryMessage[] {
  const remarks: EntryMessage[] = [];
  const unusedKeys =
    entry.command === undefined
      ? (['args', 'env', 'envFile', 'cwd'] as const)
      : (['headers', 'headersHelper', 'authorizationToken', 'auth'] as const);
  const neededKey = entry.command === undefined ? 'command' : 'url';
  for (const key of unusedKeys) {
    const value = entry[key];
    if (value === undefined || Object.keys(value).length === 0) continue;
    remarks.push({ path: [key], message: `"${key}" has no effect without "${neededKey}"` });
  }
  const { timeout } = entry;
  if (timeout !== undefined && readForeignTimeout(entry) === undefined && entry.timeouts.call === undefined) {
    const message =
      `"timeout" is in milliseconds, and ${timeout} is too short, so it is ignored. ` +
      `For seconds, write "timeouts": { "call": "${timeout}s" }`;
    remarks.push({ path: ['timeout'], message });
  }
  return remarks;
}
