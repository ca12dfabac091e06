import type { Entry } from '../../model/entry.ts';
import { isJsonObject } from '../../model/json.ts';
import type { Call } from '../call.ts';
import type { AskedCall } from './waiting-calls.ts';

const MAX_SHOWN_CHARS = 2000;
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** Undefined where nobody has to be asked: completing an argument calls nothing. */
export function askedCall(
  { caller, operation }: Call,
  { policy, rule, message }: Pick<AskedCall, 'policy' | 'rule' | 'message'>,
): AskedCall | undefined {
  const { entry, kind, params, given } = operation;
  if (entry === undefined || kind === 'completion') return undefined;
  const { arguments: args, uri } = params;
  return {
    ...{ caller, entry, policy, rule },
    arguments: isJsonObject(args) ? args : typeof uri === 'string' ? { uri } : {},
    ...(given !== undefined && { given }),
    ...(message !== undefined && { message }),
  };
}

export function nameOf(entry: Entry): string {
  switch (entry.kind) {
    case 'resource':
      return entry.uri;
    case 'template':
      return entry.uriTemplate;
    default:
      return entry.name;
  }
}

/** What the client's person reads; only its name and arguments, since a description could talk anybody into anything. */
export function questionText({ entry, arguments: args, rule }: AskedCall): string {
  const shown = JSON.stringify(args, null, 2).replaceAll(UNSEEN, (character) =>
    character === '\n' ? character : `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
  const cut = shown.length > MAX_SHOWN_CHARS ? `${shown.slice(0, MAX_SHOWN_CHARS)}…` : shown;
  return `May ${nameOf(entry)} of server "${entry.upstream}" be called? (rule "${rule}")\n${cut}`;
}
