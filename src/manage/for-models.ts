import { GatewayError } from '../model/errors.ts';
import { isJsonObject } from '../model/json.ts';
import type { JsonObject } from '../model/json.ts';

/** How a server is run and reached: whatever a model changes here waits for a person. */
const HELD_KEYS = [
  ...['command', 'args', 'env', 'envFile', 'cwd', 'cli', 'url', 'serverUrl', 'headers'],
  ...['authorizationToken', 'type', 'era'],
];
/** What can do no harm. */
const FREE_KEYS = ['enabled', 'disabled', 'idle', 'timeouts', 'timeout'];
const MAY_CHANGE: ReadonlySet<string> = new Set([...HELD_KEYS, ...FREE_KEYS]);
/** A name is read by every other model, so that it must not be able to say something. */
const NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;

/** What a model may say of a server that it adds; everything else is left out, and told. */
export function addableByModel(entry: JsonObject): {
  readonly entry: JsonObject;
  readonly remarks: readonly string[];
} {
  const left: string[] = [];
  const kept = Object.entries(entry).flatMap(([key, value]): readonly (readonly [string, unknown])[] => {
    if (MAY_CHANGE.has(key) || key === 'share') return [[key, value]];
    // What is not offered cannot harm.
    if (key === 'tools' && isJsonObject(value)) {
      const { allow, deny } = value;
      const narrow = { ...(allow !== undefined && { allow }), ...(deny !== undefined && { deny }) };
      if (Object.keys(narrow).length < Object.keys(value).length) left.push('tools');
      return Object.keys(narrow).length === 0 ? [] : [[key, narrow]];
    }
    left.push(key);
    return [];
  });
  const remarks = left.map((key) => `"${key}" was left out: only a person may set it`);
  return { entry: Object.fromEntries(kept), remarks };
}

/** Trust, texts that other models read, and what policy goes by are a person's business. */
export function refuseChangeByModel(changes: JsonObject): void {
  const [key] = Object.keys(changes).filter((each) => !MAY_CHANGE.has(each));
  if (key === undefined) return;
  throw new GatewayError(
    'ARGUMENTS_REFUSED',
    `"${key}" of a server is for a person to change: in the configuration file, or in the dashboard. A model can change ${[...MAY_CHANGE].join(', ')}.`,
    { details: { key } },
  );
}

export function nameProblemForModel(name: string): string | undefined {
  return NAME.test(name)
    ? undefined
    : 'its name may have letters, digits, "_", "-" and "." only, at most 64 of them';
}
