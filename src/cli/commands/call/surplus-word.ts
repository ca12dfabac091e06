import { GatewayError } from '../../../model/errors.ts';
import type { Work } from '../../line/on-line.ts';
import type { EntryNamed } from './entry-named.ts';

const TAKES = 'Arguments are a JSON object, key=value, key:=json, @file, or - for standard input.';

/**
 * `TOOL WORD` reads like a server and its tool. Where no server has that name but an entry has, the word is the mistake; undefined
 * where nothing of it is known.
 */
export async function surplusWord(
  line: Work,
  { server, name }: EntryNamed['named'],
  error: unknown,
  takes = TAKES,
): Promise<GatewayError | undefined> {
  const isServer =
    error instanceof GatewayError && error.code === 'ENTRY_NOT_FOUND' && error.details['kind'] === 'server';
  if (!isServer || server === undefined) return undefined;
  const found = await line.client.ask('GET /api/explain', { name: server }, line);
  // One of a server that was never listed is known by the beginning of its name alone.
  const isEntry = found.kind === undefined ? found.server !== undefined : found.kind !== 'server';
  if (!isEntry) return undefined;
  return new GatewayError('USAGE', `"${name.slice(0, 60)}" is no argument of ${server}. ${takes}`);
}
