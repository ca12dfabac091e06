import { GatewayError } from '../../../model/errors.ts';
import type { AdHocOptions } from '../../declare.ts';
import { adHocServer } from '../../line/on-line.ts';
import { isArgument } from './call-words.ts';

/** `NAME …` or `SERVER NAME …`: where an entry is and what follows its name. */
export interface EntryNamed {
  readonly named: { readonly name: string; readonly server?: string };
  readonly rest: readonly string[];
}

export function entryNamed(words: readonly string[], options: AdHocOptions): EntryNamed {
  const [first, second] = words;
  if (first === undefined || isArgument(first))
    throw new GatewayError('USAGE', 'The name of what is wanted comes first; trunkline tools has the names.');
  const only = adHocServer(options);
  if (only !== undefined) return { named: { server: only.name, name: first }, rest: words.slice(1) };
  if (second === undefined || isArgument(second)) return { named: { name: first }, rest: words.slice(1) };
  return { named: { server: first, name: second }, rest: words.slice(2) };
}
