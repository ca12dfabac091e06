import { joinCommand, splitCommand } from '../../../lib/command-line.ts';

type JsonObject = Readonly<Record<string, unknown>>;

export type Pair = readonly [name: string, value: string];

/** An entry as a form shows it. */
export interface EntryFields {
  readonly kind: 'program' | 'address';
  /** Program and arguments as one would type them. */
  readonly command: string;
  readonly env: readonly Pair[];
  readonly cwd: string;
  readonly url: string;
  readonly headers: readonly Pair[];
  readonly description: string;
  /** Empty for what is usual. */
  readonly share: string;
  readonly trust: string;
}

const programKeys = ['command', 'args', 'env', 'envFile', 'cwd', 'cli'];
const addressKeys = ['url', 'headers', 'auth'];

export function fieldsOf(entry: JsonObject): EntryFields {
  const args = Array.isArray(entry['args']) ? entry['args'].map(String) : [];
  const command = text(entry['command']);
  return {
    kind: text(entry['url']) === '' ? 'program' : 'address',
    command: command === '' ? '' : joinCommand([command, ...args]),
    env: pairs(entry['env']),
    cwd: text(entry['cwd']),
    url: text(entry['url']),
    headers: pairs(entry['headers']),
    description: text(entry['description']),
    share: text(entry['share']),
    trust: text(entry['trust']),
  };
}

/** The entry that the form says; keys that it does not show stay as they were, as far as they belong to this kind of server. */
export function entryOf(fields: EntryFields, base: JsonObject): JsonObject {
  const isProgram = fields.kind === 'program';
  const foreign = new Set(isProgram ? addressKeys : programKeys);
  const wasProgram = text(base['url']) === '';
  // What `type` says of the other kind would be a contradiction.
  if (wasProgram !== isProgram) foreign.add('type');
  const rest = Object.entries(base).filter(([key]) => !foreign.has(key));
  const [command = '', ...args] = splitCommand(fields.command);
  const own: JsonObject = isProgram
    ? {
        command,
        args: args.length > 0 ? args : kept(base['args'], []),
        env: object(fields.env, base['env']),
        cwd: fields.cwd.trim(),
      }
    : { url: fields.url.trim(), headers: object(fields.headers, base['headers']) };
  const { description, share, trust } = fields;
  const all = { ...Object.fromEntries(rest), ...own, description: description.trim(), share, trust };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== ''));
}

/** What is wrong with the form, before anybody is asked. */
export function fieldsProblem({ kind, command, url }: EntryFields): string | undefined {
  if (kind === 'program') return splitCommand(command).length === 0 ? 'Say which program is run.' : undefined;
  if (/^https?:\/\/./.test(url.trim()) || url.includes('${')) return undefined;
  return 'The address must begin with https:// or http://.';
}

function pairs(value: unknown): readonly Pair[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, each]) => [name, text(each)]);
}

function object(given: readonly Pair[], before: unknown): JsonObject | undefined {
  const named = given
    .filter(([name]) => name.trim() !== '')
    .map(([name, value]) => [name.trim(), value] as const);
  return named.length > 0 ? Object.fromEntries(named) : kept(before, {});
}

/** What is empty stays written where it was written before. */
function kept<Value>(before: unknown, empty: Value): Value | undefined {
  return before === undefined ? undefined : empty;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
