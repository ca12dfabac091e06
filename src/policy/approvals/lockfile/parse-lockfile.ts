import { GatewayError } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import { createSubject } from '../approval-subject.ts';
import type { ApprovalKind, ApprovalSubject } from '../approval-subject.ts';
import { LOCKFILE_FORMAT } from './lockfile.ts';
import type { Lockfile, LockedServer } from './lockfile.ts';

/** Parses a lockfile. Throws for any mistake, because a reviewer expects every part of the file to take effect. */
export function parseLockfile(file: string, text: string): Lockfile {
  const value = parseJson(file, text);
  if (!isJsonObject(value) || value['format'] !== LOCKFILE_FORMAT || !isJsonObject(value['servers']))
    throw lockfileError(file, `it must be an object with "format": ${LOCKFILE_FORMAT} and "servers"`);
  const servers = Object.entries(value['servers']).map(
    ([name, server]) => [name, parseServer(file, name, server)] as const,
  );
  return { file, digest: createSubject('words', '', { text }).fingerprint, servers: new Map(servers) };
}

function parseServer(file: string, server: string, value: unknown): LockedServer {
  if (!isJsonObject(value)) throw lockfileError(file, `"servers.${server}" must be an object`);
  const { words, tools = {}, prompts = {} } = value;
  if (!isJsonObject(tools) || !isJsonObject(prompts))
    throw lockfileError(file, `"tools" and "prompts" of "${server}" must be objects`);
  const subjects = [
    ...(words === undefined ? [] : [parseEntry(file, server, { kind: 'words', name: '', value: words })]),
    ...Object.entries(tools).map(([name, entry]) =>
      parseEntry(file, server, { kind: 'tool', name, value: entry }),
    ),
    ...Object.entries(prompts).map(([name, entry]) =>
      parseEntry(file, server, { kind: 'prompt', name, value: entry }),
    ),
  ];
  const byKey = new Map(subjects.map((subject) => [`${subject.kind} ${subject.name}`, subject]));
  return { subjects, find: (kind, name) => byKey.get(`${kind} ${name}`) };
}

function parseEntry(
  file: string,
  server: string,
  { kind, name, value }: { readonly kind: ApprovalKind; readonly name: string; readonly value: unknown },
): ApprovalSubject {
  const label =
    kind === 'words' ? `"words" of server "${server}"` : `${kind} "${name}" of server "${server}"`;
  const definition: unknown = isJsonObject(value) ? value['definition'] : undefined;
  if (!isJsonObject(value) || !isJsonObject(definition))
    throw lockfileError(file, `${label} has no definition`);
  const { fingerprint, formerFingerprint } = createSubject(kind, name, definition);
  const accepted = [fingerprint, ...(definition['_meta'] === undefined ? [formerFingerprint] : [])];
  const locked = accepted.find((known) => known !== undefined && known === value['fingerprint']);
  // Reviewers read only the definition. The fingerprint of another definition would approve that definition
  // unseen.
  if (locked === undefined)
    throw lockfileError(file, `the fingerprint of ${label} does not match its definition`);
  return { kind, name, definition, fingerprint: locked };
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw lockfileError(file, error instanceof Error ? error.message : String(error));
  }
}

function lockfileError(file: string, problem: string): GatewayError {
  return new GatewayError(
    'CONFIG_INVALID',
    `${file} cannot be used: ${problem}. Write it again with: trunkline lock. Or delete it.`,
    { details: { file } },
  );
}
