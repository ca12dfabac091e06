import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { toFields } from './entry-fields.ts';

const summarizedKeys = new Set(['command', 'args', 'url', 'env', 'headers']);

/** Returns a complete configuration entry in a few lines of text. */
export function summarizeEntry(entry: Readonly<Record<string, unknown>>): readonly string[] {
  const { command, url, env, headers } = toFields(entry);
  const rest = Object.entries(entry).filter(([key]) => !summarizedKeys.has(key));
  return [
    command,
    url,
    ...env.map(([name, value]) => `${name}=${value}`),
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...rest.map(([key, value]) => `${key}: ${JSON.stringify(value)}`),
  ]
    .filter((line) => line !== '')
    .map(escapeInvisible);
}
