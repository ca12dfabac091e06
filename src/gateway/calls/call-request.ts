import type { ToolEntry } from '../../core/entry.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Call } from '../../policy/guard.ts';

/** A request of a client. `params` are those of the client, without the members that concern only its connection to the gateway. */
export interface CallRequest extends Pick<
  Call,
  | 'session'
  | 'group'
  | 'client'
  | 'cancellation'
  | 'onProgress'
  | 'requestingClient'
  | 'shouldValidateArguments'
> {
  readonly params: JsonObject;
  /** Timeout in milliseconds that replaces the configured one. */
  readonly timeoutMs?: number | undefined;
  /** Called with the tool before the guards run; throws to refuse the call. */
  readonly check?: ((entry: ToolEntry) => void) | undefined;
}
