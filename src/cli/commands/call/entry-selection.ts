import { GatewayError } from '../../../core/errors.ts';
import type { AdHocOptions } from '../../declare.ts';
import { readAdHocServer } from '../../gateway-client/with-gateway.ts';
import { isArgumentWord } from './typed-arguments.ts';

/** The entry that `NAME …` or `SERVER NAME …` selects, and the words after it. */
export interface EntrySelection {
  readonly entry: { readonly name: string; readonly server?: string };
  readonly rest: readonly string[];
}

export function parseEntrySelection(words: readonly string[], options: AdHocOptions): EntrySelection {
  const [first, second] = words;
  if (first === undefined || isArgumentWord(first))
    throw new GatewayError('USAGE', 'Missing argument: name. List the names with: trunkline tools');
  const server = readAdHocServer(options);
  if (server !== undefined) return { entry: { server: server.name, name: first }, rest: words.slice(1) };
  if (second === undefined || isArgumentWord(second)) return { entry: { name: first }, rest: words.slice(1) };
  return { entry: { server: first, name: second }, rest: words.slice(2) };
}
