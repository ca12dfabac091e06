import { visible } from '../../../lib/visible.ts';
import { fieldsOf } from './entry-fields.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const shownKeys = new Set(['command', 'args', 'url', 'env', 'headers']);

/** An entry in as few lines as say everything of it. */
export function entryLines(entry: JsonObject): readonly string[] {
  const { command, url, env, headers } = fieldsOf(entry);
  const rest = Object.entries(entry).filter(([key]) => !shownKeys.has(key));
  return [
    command,
    url,
    ...env.map(([name, value]) => `${name}=${value}`),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
  ]
    .filter((line) => line !== '')
    .map(visible);
}
