import type { Catalog } from '../../catalog/catalog.ts';
import type { UpstreamConfig } from '../../config/config.ts';
import type { Caller } from '../../core/caller.ts';
import { GatewayError, RpcError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { CallerVisibility } from '../caller-visibility.ts';
import type { HeldEntries } from '../held-entries.ts';
import { isListMethod, isProtocolMethod, targetParameter } from './pass-through.ts';

interface UnlistedAccessDeps {
  readonly config: UpstreamConfig;
  readonly catalog: Catalog;
  readonly visibility: CallerVisibility;
  readonly heldEntries: HeldEntries;
}

/**
 * Decides which requests are sent to a single server although they name no listed entry. Rules and approvals apply only to listed
 * entries, so such a request must not reach an entry that they would hide or hold.
 */
export class UnlistedAccess {
  readonly #deps: UnlistedAccessDeps;

  constructor(deps: UnlistedAccessDeps) {
    this.#deps = deps;
  }

  /** Whether neither rules nor approvals can hide anything from the caller. If so, unlisted names can be left to the server. */
  isOpenTo(caller: Caller): boolean {
    const { visibility, heldEntries } = this.#deps;
    return visibility.policyFor(caller).isUnrestricted && !heldEntries.isEnabled;
  }

  /** Throws for a request that a lenient server could understand as a request for a hidden or held entry. */
  assertForwardable(caller: Caller, method: string, params: JsonObject): void {
    const { isUnrestricted } = this.#deps.visibility.policyFor(caller);
    if (isListMethod(method) && !isUnrestricted) throw unknownPageError();
    const parameter = targetParameter(method);
    // A request with a string as its target is not forwarded, so the value is of another type here.
    if (parameter !== undefined && params[parameter] !== undefined && !this.#isUnfiltered(caller))
      throw new GatewayError('ARGUMENTS_INVALID', `${parameter} must be a string.`);
    // No rule can decide about a method whose effect is unknown.
    if (!isProtocolMethod(method) && !isUnrestricted)
      throw new RpcError({ code: -32601, message: `Method not found: ${method.slice(0, 200)}` });
  }

  /** Throws if the server answered a forwarded list request, because the tools and prompts in it were not assessed. */
  assertResultAllowed(caller: Caller, method: string): void {
    const needsApproval = method === 'tools/list' || method === 'prompts/list';
    if (needsApproval && !this.#isUnfiltered(caller)) throw unknownPageError();
  }

  /** Whether a tool that is not visible may be called, because no list of the server contains it. */
  canCall(caller: Caller, name: string): boolean {
    const { config, catalog } = this.#deps;
    if (!this.#isUnfiltered(caller)) return false;
    return catalog.listing(config.name)?.tools.some(({ definition }) => definition.name === name) === false;
  }

  /** Whether, in addition to `isOpenTo`, the `tools` setting of the server hides no tool. */
  #isUnfiltered(caller: Caller): boolean {
    const { allow, deny } = this.#deps.config.tools;
    return this.isOpenTo(caller) && deny.length === 0 && allow.includes('*');
  }
}

function unknownPageError(): GatewayError {
  return new GatewayError(
    'ARGUMENTS_INVALID',
    'There is no such page. Every list has a single page here; request it without a cursor.',
  );
}
