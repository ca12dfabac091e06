import { createHash } from 'node:crypto';
import { dirname, resolve } from 'node:path';

import { canonicalJson } from '../lib/canonical-json.ts';
import type { Fingerprint, UpstreamName } from '../model/ids.ts';
import { AUTH_TEXTS, authProblems, readAuth } from './auth-config.ts';
import { cliSettings } from './schema/cli-schema.ts';
import type { TransportConfig, UpstreamConfig } from './config.ts';
import type { DocumentPath } from './file/document.ts';
import { escapeReferences, isHttpUrl, notHttpUrl, parseReferences, referenceProblem } from './references.ts';
import type { ConfigFile, ServerEntry } from './schema/schema.ts';

/** Some clients count the same key in seconds, and no call is meant to end that soon. */
const LEAST_TIMEOUT_MS = 1000;

interface Remark {
  /** Below the entry. */
  readonly path: DocumentPath;
  readonly message: string;
}

interface UpstreamReading {
  /** Absent when the entry cannot be used. */
  readonly upstream?: UpstreamConfig;
  /** Why it cannot be used. */
  readonly problems: readonly Remark[];
  /** What is not as the person may think, though the entry can be used. */
  readonly remarks: readonly Remark[];
}

/** Turns an entry that fits the schema into an upstream, if its keys go together. */
export function readUpstream(
  name: UpstreamName,
  entry: ServerEntry,
  { file, settings }: { readonly file: string; readonly settings: ConfigFile },
): UpstreamReading {
  const problems = [...combinationProblems(entry), ...textProblems(entry)];
  if (problems.length > 0) return { problems, remarks: [] };
  const transport = transportOf(entry, file);
  const hash = createHash('sha256').update(canonicalJson({ transport, era: entry.era }));
  const upstream: UpstreamConfig = {
    name,
    fingerprint: hash.digest('base64url').slice(0, 22) as Fingerprint,
    enabled: isEnabled(entry),
    ...(entry.description !== undefined && { description: entry.description }),
    tags: entry.tags,
    share: entry.share,
    trust: entry.trust,
    era: entry.era,
    transport,
    ...(transport.kind === 'http' && { auth: readAuth(entry.auth) }),
    idle: entry.idle ?? settings.idle,
    timeouts: {
      connectMs: entry.timeouts.connect ?? settings.timeouts.connect,
      callMs: entry.timeouts.call ?? foreignTimeout(entry) ?? settings.timeouts.call,
    },
    limits: {
      concurrency: entry.limits.concurrency ?? settings.limits.concurrency,
      waiting: entry.limits.waiting ?? settings.limits.waiting,
      sessions: entry.limits.sessions ?? settings.limits.sessions,
      rate: entry.limits.rate ?? settings.limits.rate,
      argumentBytes: entry.limits.argumentBytes ?? settings.limits.argumentBytes,
      resultBytes: entry.limits.resultBytes ?? settings.limits.resultBytes,
      isOfFleet: (entry.limits.scope ?? settings.limits.scope) === 'fleet',
    },
    redact: {
      arguments: entry.redact.arguments ?? settings.redact.arguments,
      results: entry.redact.results ?? settings.redact.results,
    },
    hasArgumentRules: entry.argumentRules,
    tools: { ...entry.tools, describe: describedBy(entry) },
  };
  return { upstream, problems, remarks: remarksOn(entry) };
}

function describedBy({ tools }: ServerEntry): NonNullable<UpstreamConfig['tools']['describe']> {
  return Object.fromEntries(
    Object.entries(tools.describe).map(([glob, text]) => [
      glob,
      typeof text === 'string' ? { append: text } : text,
    ]),
  );
}

function isEnabled(entry: ServerEntry): boolean {
  return entry.enabled ?? entry.disabled !== true;
}

function foreignTimeout({ timeout }: ServerEntry): number | undefined {
  return timeout === undefined || timeout < LEAST_TIMEOUT_MS ? undefined : Math.round(timeout);
}

function combinationProblems(entry: ServerEntry): readonly Remark[] {
  const { command, type } = entry;
  const urlKey = entry.url === undefined ? 'serverUrl' : 'url';
  const url = entry[urlKey];
  const problems: Remark[] = [];
  const say = (path: DocumentPath, message: string): void => void problems.push({ path, message });
  if (entry.url !== undefined && entry.serverUrl !== undefined) {
    say(['serverUrl'], 'it has both "url" and "serverUrl", which mean the same; keep one');
  }
  if (command !== undefined && url !== undefined) {
    say([urlKey], `it has both "command" and "${urlKey}"; keep the one that reaches the server`);
  } else if (command === undefined && url === undefined) {
    say([], 'it needs "command" (a program to start) or "url" (an address)');
  } else if (type === 'stdio' && command === undefined) {
    say(['type'], '"type": "stdio" needs "command", and it has an address');
  } else if (type !== undefined && type !== 'stdio' && url === undefined) {
    say(['type'], `"type": "${type}" needs "url", and it has "command"`);
  }
  if (entry.cli !== undefined && command === undefined && url !== undefined) {
    say(['cli'], '"cli" needs "command" (the program), and it has an address');
  }
  if (entry.cli !== undefined) problems.push(...presetProblems(entry.cli));
  if (entry.auth !== undefined) {
    for (const { key, message } of authProblems(entry.auth)) say(['auth', key], message);
  }
  if (entry.enabled !== undefined && entry.enabled === entry.disabled) {
    say(['disabled'], '"enabled" and "disabled" contradict each other; keep one');
  }
  return problems;
}

function presetProblems(cli: NonNullable<ServerEntry['cli']>): readonly Remark[] {
  if (cli === true) return [];
  const names = cli.tools.map(({ name }) => name);
  return cli.tools.flatMap(({ name, parameters }, at): readonly Remark[] => {
    const path = ['cli', 'tools', at];
    if (names.indexOf(name) !== at)
      return [{ path: [...path, 'name'], message: `there are two tools "${name}"` }];
    return Object.entries(parameters).flatMap(([key, { type, flag, repeat }]): readonly Remark[] => {
      const problem = { path: [...path, 'parameters', key] };
      if (type === 'boolean' && flag === undefined)
        return [{ ...problem, message: 'a "boolean" needs "flag"' }];
      if (type === 'boolean' && repeat) return [{ ...problem, message: 'a "boolean" cannot "repeat"' }];
      return [];
    });
  });
}

function textProblems(entry: ServerEntry): readonly Remark[] {
  const problems: Remark[] = [];
  const check = (path: DocumentPath, text: string | undefined): void => {
    const message = text === undefined ? undefined : referenceProblem(text);
    if (message !== undefined) problems.push({ path, message });
  };
  for (const key of ['command', 'envFile', 'cwd', 'url', 'serverUrl', 'authorizationToken'] as const) {
    check([key], entry[key]);
  }
  for (const [at, text] of (entry.args ?? []).entries()) check(['args', at], text);
  for (const key of ['env', 'headers'] as const) {
    for (const [name, text] of Object.entries(entry[key] ?? {})) check([key, name], text);
  }
  for (const key of AUTH_TEXTS) check(['auth', key], entry.auth?.[key]);
  for (const key of ['url', 'serverUrl'] as const) {
    const text = entry[key];
    // With a reference in it, only the revealed address can be judged.
    if (text !== undefined && !hasReference(text) && !isHttpUrl(text)) {
      problems.push({ path: [key], message: `"${key}" ${notHttpUrl}` });
    }
  }
  return problems;
}

function hasReference(text: string): boolean {
  return parseReferences(text).some((part) => typeof part !== 'string');
}

function remarksOn(entry: ServerEntry): readonly Remark[] {
  const remarks: Remark[] = [];
  const idle =
    entry.command === undefined
      ? (['args', 'env', 'envFile', 'cwd'] as const)
      : (['headers', 'authorizationToken', 'auth'] as const);
  const needed = entry.command === undefined ? 'command' : 'url';
  for (const key of idle) {
    const value = entry[key];
    if (value === undefined || Object.keys(value).length === 0) continue;
    remarks.push({ path: [key], message: `"${key}" has no effect without "${needed}"` });
  }
  if (
    entry.timeout !== undefined &&
    foreignTimeout(entry) === undefined &&
    entry.timeouts.call === undefined
  ) {
    const message =
      `"timeout" counts milliseconds, and ${entry.timeout} is too short to be meant; ` +
      `it is not obeyed. Write "timeouts": { "call": "${entry.timeout}s" } if seconds are`;
    remarks.push({ path: ['timeout'], message });
  }
  return remarks;
}

function transportOf(entry: ServerEntry, file: string): TransportConfig {
  const { command, url = entry.serverUrl, envFile, cwd } = entry;
  if (command === undefined) {
    return { kind: 'http', url: url ?? '', headers: headersOf(entry), flavour: flavourOf(entry.type) };
  }
  const program = {
    command,
    args: entry.args ?? [],
    env: entry.env ?? {},
    ...(envFile !== undefined && { envFile: anchored(envFile, file) }),
    ...(cwd !== undefined && { cwd: anchored(cwd, file) }),
  };
  if (entry.cli === undefined) return { kind: 'stdio', ...program };
  return { kind: 'cli', ...program, cli: cliSettings(entry.cli) };
}

function flavourOf(type: ServerEntry['type']): 'auto' | 'streamable' | 'sse' {
  if (type === undefined) return 'auto';
  return type === 'sse' ? 'sse' : 'streamable';
}

function headersOf({ headers = {}, authorizationToken }: ServerEntry): Readonly<Record<string, string>> {
  const isSet = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (authorizationToken === undefined || isSet) return headers;
  return { ...headers, Authorization: `Bearer ${authorizationToken}` };
}

/** Absolute where that can be said before references and `~` are known. */
function anchored(path: string, file: string): string {
  if (path.startsWith('~') || hasReference(path)) return path;
  return resolve(escapeReferences(dirname(file)), path);
}
