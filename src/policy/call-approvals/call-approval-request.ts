import type { Caller } from '../../core/caller.ts';
import type { Entry } from '../../core/entry.ts';
import { isJsonObject } from '../../core/json.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Call } from '../guard.ts';

/** The call that a person decides about. An approval applies to exactly these values. */
export interface CallApprovalRequest {
  readonly caller: Caller;
  readonly entry: Entry;
  /** The arguments as the person sees them. */
  readonly arguments: JsonObject;
  /** Digest of the original arguments if `arguments` are masked. */
  readonly argumentsDigest?: string | undefined;
  /** Digest of the policy that requires the approval. */
  readonly policy: string;
  readonly rule: string;
  readonly message?: string | undefined;
}

/** Returns the request for approval of a call. Returns undefined for calls without an entry and for completions, which call nothing. */
export function createApprovalRequest(
  { caller, operation }: Call,
  { policy, rule, message }: Pick<CallApprovalRequest, 'policy' | 'rule' | 'message'>,
): CallApprovalRequest | undefined {
  const { entry, kind, params, argumentsDigest } = operation;
  if (entry === undefined || kind === 'completion') return undefined;
  const { arguments: args, uri } = params;
  return {
    caller,
    entry,
    arguments: isJsonObject(args) ? args : typeof uri === 'string' ? { uri } : {},
    argumentsDigest,
    policy,
    rule,
    message,
  };
}

/** Returns the exposed name or URI of an entry. */
export function entryLabel(entry: Entry): string {
  switch (entry.kind) {
    case 'resource':
      return entry.uri;
    case 'template':
      return entry.uriTemplate;
    default:
      return entry.name;
  }
}

const MAX_SHOWN_CHARS = 2000;
const MAX_LABEL_CHARS = 200;
const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/** A question for the user of the client. */
interface ApprovalQuestion {
  readonly message: string;
  /** Whether the message contains all arguments. If not, the answer must not approve the call. */
  readonly isWhole: boolean;
}

/**
 * Returns the question for the user of the client. It contains the names of the entry, the server and the rule, and the arguments. It
 * does not contain the server's description, which could mislead the user. Arguments that are too long are left out completely, because
 * the part that is not shown could be harmful.
 */
export function formatApprovalQuestion({
  entry,
  arguments: args,
  rule,
}: CallApprovalRequest): ApprovalQuestion {
  // JSON escapes line breaks inside values, so the remaining ones come from the indentation and must not be escaped.
  const visible = JSON.stringify(args, null, 2).split('\n').map(escapeInvisible).join('\n');
  const label = escapeInvisible(entryLabel(entry));
  const subject = `${label} of server "${entry.upstream}"`;
  if (label.length + visible.length <= MAX_SHOWN_CHARS)
    return { message: `May ${subject} be called? (rule "${rule}")\n${visible}`, isWhole: true };
  const shown = label.length > MAX_LABEL_CHARS ? `An entry of server "${entry.upstream}"` : subject;
  const advice = 'Review it with trunkline approvals or in the dashboard; here it can only be refused.';
  return {
    message: `${shown} is held for approval (rule "${rule}"). Its arguments have ${visible.length} characters, which is too long to be shown here. ${advice}`,
    isWhole: false,
  };
}

function escapeInvisible(text: string): string {
  return text.replaceAll(
    INVISIBLE_CHARACTERS,
    (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`,
  );
}
