import { hasCommandReference } from '../../config/resolve-references.ts';
import { GatewayError } from '../../core/errors.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import { omitUndefined } from '../../core/lib/omit-undefined.ts';

/** Keys that determine how a server is run and reached. If a model changes one of them, the server is held for approval. */
const HELD_KEYS = [
  'command',
  'args',
  'env',
  'envFile',
  'cwd',
  'cli',
  'url',
  'serverUrl',
  'headers',
  'authorizationToken',
  'type',
  'era',
];
/** Keys that a model may change without approval, because they can do no harm. */
const HARMLESS_KEYS = ['enabled', 'disabled', 'idle', 'timeouts', 'timeout'];
const CHANGEABLE_KEYS: ReadonlySet<string> = new Set([...HELD_KEYS, ...HARMLESS_KEYS]);
/** Other models read server names, so this pattern leaves no room for instructions. */
const SERVER_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** Removes the members of a new entry that a model must not set. The remarks name them. */
export function filterEntryForModel(entry: JsonObject): {
  readonly entry: JsonObject;
  readonly remarks: readonly string[];
} {
  assertNoCommandReference(entry);
  const removed: string[] = [];
  const members = Object.entries(entry).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    if (CHANGEABLE_KEYS.has(key) || key === 'share') return [[key, value]];
    // Offering fewer tools can do no harm.
    if (key === 'tools' && isJsonObject(value)) {
      const { allow, deny } = value;
      const filter = omitUndefined({ allow, deny });
      if (Object.keys(filter).length < Object.keys(value).length) removed.push('tools');
      return Object.keys(filter).length === 0 ? [] : [[key, filter]];
    }
    removed.push(key);
    return [];
  });
  const remarks = removed.map((key) => `"${key}" was left out: only a person may set it`);
  return { entry: Object.fromEntries(members), remarks };
}

/** Throws if a model changes trust, texts that other models read, or settings that policy depends on. */
export function assertModelMayChange(changes: JsonObject): void {
  assertNoCommandReference(changes);
  const key = Object.keys(changes).find((candidate) => !CHANGEABLE_KEYS.has(candidate));
  if (key === undefined) return;
  throw new GatewayError(
    'ARGUMENTS_REFUSED',
    `Only a person can change "${key}" of a server, in the configuration file or in the dashboard. A model can change ${[...CHANGEABLE_KEYS].join(', ')}.`,
    { details: { key } },
  );
}

/** Throws if a text contains a reference that runs a program. */
function assertNoCommandReference(value: unknown): void {
  if (typeof value === 'string' && hasCommandReference(value))
    throw new GatewayError(
      'ARGUMENTS_REFUSED',
      'Only a person can use a reference that runs a program, such as ${cmd:…}. Use ${secret:NAME}, and ask the user to store the value with: trunkline secret set NAME',
    );
  if (value !== null && typeof value === 'object')
    for (const item of Object.values(value)) assertNoCommandReference(item);
}

export function findModelNameProblem(name: string): string | undefined {
  return SERVER_NAME.test(name)
    ? undefined
    : 'its name may have only letters, digits, "_", "-" and ".", and at most 64 characters';
}
