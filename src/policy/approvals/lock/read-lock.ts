import { GatewayError } from '../../../model/errors.ts';
import { isJsonObject } from '../../../model/json.ts';
import { approvalFingerprint } from '../subject.ts';
import type { ApprovalKind, Subject } from '../subject.ts';
import { LOCK_FORMAT } from './lock.ts';
import type { Lock, LockedServer } from './lock.ts';

/** Nothing is ignored: a lockfile that cannot be read whole would hold back less than was reviewed. */
export function readLock(file: string, text: string): Lock {
  const value = parsed(file, text);
  if (!isJsonObject(value) || value['format'] !== LOCK_FORMAT || !isJsonObject(value['servers']))
    throw invalid(file, `it must be an object with "format": ${LOCK_FORMAT} and "servers"`);
  const servers = Object.entries(value['servers']).map(
    ([name, server]) => [name, readServer(file, name, server)] as const,
  );
  return { file, digest: approvalFingerprint({ text }), servers: new Map(servers) };
}

function readServer(file: string, server: string, value: unknown): LockedServer {
  if (!isJsonObject(value)) throw invalid(file, `"servers.${server}" must be an object`);
  const { words, tools = {}, prompts = {} } = value;
  if (!isJsonObject(tools) || !isJsonObject(prompts))
    throw invalid(file, `"tools" and "prompts" of "${server}" must be objects`);
  const subjects = [
    ...(words === undefined ? [] : [readEntry(file, server, { kind: 'words', name: '', value: words })]),
    ...Object.entries(tools).map(([name, entry]) =>
      readEntry(file, server, { kind: 'tool', name, value: entry }),
    ),
    ...Object.entries(prompts).map(([name, entry]) =>
      readEntry(file, server, { kind: 'prompt', name, value: entry }),
    ),
  ];
  const byKey = new Map(subjects.map((subject) => [`${subject.kind} ${subject.name}`, subject]));
  return { subjects, find: (kind, name) => byKey.get(`${kind} ${name}`) };
}

function readEntry(
  file: string,
  server: string,
  { kind, name, value }: { readonly kind: ApprovalKind; readonly name: string; readonly value: unknown },
): Subject {
  const what = `${kind === 'words' ? 'what' : `${kind} "${name}" of`} server "${server}"`;
  const definition: unknown = isJsonObject(value) ? value['definition'] : undefined;
  if (!isJsonObject(value) || !isJsonObject(definition)) throw invalid(file, `${what} has no definition`);
  const fingerprint = approvalFingerprint(definition);
  // Who reviews reads the definition, so that is what counts.
  if (value['fingerprint'] !== fingerprint)
    throw invalid(file, `the fingerprint of ${what} is not that of its definition`);
  return { kind, name, definition, fingerprint };
}

function parsed(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalid(file, error instanceof Error ? error.message : String(error));
  }
}

function invalid(file: string, problem: string): GatewayError {
  return new GatewayError(
    'CONFIG_INVALID',
    `${file} cannot be used: ${problem}. Write it anew with trunkline lock, or remove it.`,
    { details: { file } },
  );
}
