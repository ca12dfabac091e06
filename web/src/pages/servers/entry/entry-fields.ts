import { joinCommand, splitCommand } from '../../../lib/command-line.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export type KeyValue = readonly [name: string, value: string];

/** The form fields of a configuration entry. */
export interface EntryFields {
  readonly kind: 'program' | 'url';
  /** The program and its arguments as a command line. */
  readonly command: string;
  readonly env: readonly KeyValue[];
  readonly cwd: string;
  readonly url: string;
  readonly headers: readonly KeyValue[];
  readonly description: string;
  /** Empty for the default. */
  readonly share: string;
  /** Empty for the default. */
  readonly trust: string;
}

/** The keys that apply only to programs, and those that apply only to servers at a URL. */
const programKeys = ['command', 'args', 'env', 'envFile', 'cwd', 'cli'];
const urlKeys = ['url', 'headers', 'auth'];

export function toFields(entry: JsonObject): EntryFields {
  const args = Array.isArray(entry['args']) ? entry['args'].map(String) : [];
  const command = toText(entry['command']);
  return {
    kind: toText(entry['url']) === '' ? 'program' : 'url',
    command: command === '' ? '' : joinCommand([command, ...args]),
    env: toKeyValues(entry['env']),
    cwd: toText(entry['cwd']),
    url: toText(entry['url']),
    headers: toKeyValues(entry['headers']),
    description: toText(entry['description']),
    share: toText(entry['share']),
    trust: toText(entry['trust']),
  };
}

/** Returns the entry for the fields. Keys of `base` without a field are kept if they apply to this kind of server. */
export function toEntry(fields: EntryFields, base: JsonObject): JsonObject {
  const isProgram = fields.kind === 'program';
  const droppedKeys = new Set(isProgram ? urlKeys : programKeys);
  const wasProgram = toText(base['url']) === '';
  // If the kind changes, the `type` of the old kind would contradict the new transport.
  if (wasProgram !== isProgram) droppedKeys.add('type');
  const keptMembers = Object.entries(base).filter(([key]) => !droppedKeys.has(key));
  const [command = '', ...args] = splitCommand(fields.command);
  const transport: JsonObject = isProgram
    ? {
        command,
        args: args.length > 0 ? args : emptyIfPresent(base['args'], []),
        env: toObject(fields.env, base['env']),
        cwd: fields.cwd.trim(),
      }
    : { url: fields.url.trim(), headers: toObject(fields.headers, base['headers']) };
  const { description, share, trust } = fields;
  const entry = {
    ...Object.fromEntries(keptMembers),
    ...transport,
    description: description.trim(),
    share,
    trust,
  };
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined && value !== ''));
}

/** Returns why the fields are not valid, as far as this can be checked without the gateway. */
export function validateFields({ kind, command, url }: EntryFields): string | undefined {
  if (kind === 'program') return splitCommand(command).length === 0 ? 'Enter the program to run.' : undefined;
  if (/^https?:\/\/./.test(url.trim()) || url.includes('${')) return undefined;
  return 'The URL must start with https:// or http://.';
}

function toKeyValues(value: unknown): readonly KeyValue[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, text]) => [name, toText(text)]);
}

function toObject(rows: readonly KeyValue[], before: unknown): JsonObject | undefined {
  const members = rows
    .filter(([name]) => name.trim() !== '')
    .map(([name, value]) => [name.trim(), value] as const);
  return members.length > 0 ? Object.fromEntries(members) : emptyIfPresent(before, {});
}

/** Returns the empty value if the key existed before, so that the entry keeps the key. Returns undefined otherwise. */
function emptyIfPresent<Value>(before: unknown, empty: Value): Value | undefined {
  return before === undefined ? undefined : empty;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
