import type { Catalog } from '../../catalog/catalog.ts';
import type { UpstreamConfig } from '../../config/config.ts';
import type { Caller } from '../../model/caller.ts';
import { GatewayError, RpcError } from '../../model/errors.ts';
import type { JsonObject } from '../../model/json.ts';
import { isList, isOfProtocol, namedBy } from './pass-through.ts';
import type { Quarantine } from '../quarantine.ts';
import type { Sight } from '../sight.ts';

interface BeyondDeps {
  readonly config: UpstreamConfig;
  readonly catalog: Catalog;
  readonly sight: Sight;
  readonly quarantine: Quarantine;
}

/** What of a server alone reaches it although no list has it. */
export class BeyondLists {
  readonly #deps: BeyondDeps;

  constructor(deps: BeyondDeps) {
    this.#deps = deps;
  }

  /** Whether what was never listed is the server's own to refuse: nothing of it is hidden from the caller, and nothing is ever held. */
  isOpen(caller: Caller): boolean {
    const { sight, quarantine } = this.#deps;
    return sight.of(caller).isOpen && !quarantine.isOn;
  }

  /** What a lenient server could take for something that is hidden or held here does not reach it. */
  refuseOdd(caller: Caller, method: string, params: JsonObject): void {
    const { isOpen } = this.#deps.sight.of(caller);
    if (isList(method) && !isOpen) throw noPage();
    const named = namedBy(method);
    if (named !== undefined && params[named] !== undefined && !this.#isUnfiltered(caller))
      throw new GatewayError('ARGUMENTS_INVALID', `${named} must be a string.`);
    // A rule can only speak of what is known.
    if (!isOfProtocol(method) && !isOpen)
      throw new RpcError({ code: -32601, message: `Method not found: ${method.slice(0, 200)}` });
  }

  /** A refusal is the server's own to word; tools and prompts that it gives instead were not looked at by anybody. */
  checkAnswered(caller: Caller, method: string): void {
    const isJudged = method === 'tools/list' || method === 'prompts/list';
    if (isJudged && !this.#isUnfiltered(caller)) throw noPage();
  }

  /** A tool that is hidden here must not be called, one that the server never listed is its own to refuse. */
  mayCall(caller: Caller, name: string): boolean {
    const { config, catalog } = this.#deps;
    if (!this.#isUnfiltered(caller)) return false;
    return catalog.listing(config.name)?.tools.some(({ definition }) => definition.name === name) === false;
  }

  #isUnfiltered(caller: Caller): boolean {
    const { allow, deny } = this.#deps.config.tools;
    return this.isOpen(caller) && deny.length === 0 && allow.includes('*');
  }
}

function noPage(): GatewayError {
  return new GatewayError('ARGUMENTS_INVALID', 'There is no such page; every list is one page here.');
}
