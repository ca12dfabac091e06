import { tokenSeedVariable } from '../../auth/upstream/token-import/token-seed.ts';
import type { ConfigSnapshot } from '../../config/config.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { Logger } from '../../observability/log.ts';
import type { ReferenceVariables } from '../reference-variables.ts';
import { findReferencedVariables, KEYCHAIN_VARIABLE } from '../shared-gateway/client-variables.ts';
import type { DifferingVariable, VariableValues } from '../shared-gateway/client-variables.ts';
import type { ClientHello } from '../shared-gateway/pipe-handshake.ts';

interface VariableExchangeDeps {
  readonly variables: ReferenceVariables;
  readonly config: () => ConfigSnapshot;
  /** Returns the number of connected clients. */
  readonly clients: () => number;
  /** Whether the gateway can end when a client needs another one. A gateway that a person started keeps the values it was started with. */
  readonly isBackground: boolean;
  /** Connects servers anew. */
  readonly reopen: (servers: readonly UpstreamName[]) => void;
  readonly log: Logger;
}

export interface ExchangeOutcome {
  readonly differing: readonly DifferingVariable[];
  /** Whether the gateway has to make room for another one, because it has read a variable at its start that now has another value. */
  readonly mustStop: boolean;
}

/** Decides which variables of clients the gateway uses. Logs and answers contain names, never values. */
export class VariableExchange {
  readonly #deps: VariableExchangeDeps;
  /** The variables of the connected clients. */
  readonly #connected = new Set<VariableValues>();

  constructor(deps: VariableExchangeDeps) {
    this.#deps = deps;
  }

  /**
   * Takes over the variables of a client that the gateway lacks. Unless `replace` decides it, a different value replaces that of the gateway
   * only if no client is connected. The gateway makes room only for a client that stays, which can start another one.
   */
  receive(
    brought: VariableValues,
    { replace, isPipe = true }: Pick<ClientHello, 'replace'> & { readonly isPipe?: boolean } = {},
  ): ExchangeOutcome {
    const { variables, isBackground, clients, log } = this.#deps;
    const usage = this.#readUsage();
    const canReplace = isBackground && (replace === undefined ? clients() === 0 : replace === 'always');
    const unequal = listUnequal(brought, usage, variables);
    const mustStop = isPipe && canReplace && unequal.some((name) => usage.atStart.has(name));
    if (mustStop) return { differing: [], mustStop };
    const taken = unequal.filter((name) => !usage.atStart.has(name) && (canReplace || variables.lacks(name)));
    this.#take(brought, taken);
    const differing = unequal.filter((name) => !taken.includes(name));
    if (differing.length > 0)
      log.warn('A client has other values of variables. The gateway keeps using its own.', {
        variables: differing,
      });
    return { differing: describe(differing, usage), mustStop };
  }

  /** Returns the variables of which the gateway uses another value. */
  compare(brought: VariableValues): readonly DifferingVariable[] {
    const { variables } = this.#deps;
    const usage = this.#readUsage();
    const differing = listUnequal(brought, usage, variables).filter(
      (name) => usage.atStart.has(name) || !variables.lacks(name),
    );
    return describe(differing, usage);
  }

  /** Remembers the variables of a client until the result is disposed. */
  connect(brought: VariableValues): Disposable {
    const own = { ...brought };
    this.#connected.add(own);
    return { [Symbol.dispose]: () => void this.#connected.delete(own) };
  }

  /** Returns the variables of which a connected client has another value than the gateway uses. */
  differing(): readonly DifferingVariable[] {
    const all = [...this.#connected].flatMap((brought) => this.compare(brought));
    return [...new Map(all.map((variable) => [variable.name, variable])).values()];
  }

  #take(brought: VariableValues, names: readonly string[]): void {
    if (names.length === 0) return;
    const { variables, config, reopen, log } = this.#deps;
    for (const name of names) variables.use(name, brought[name] ?? '');
    const servers = config()
      .value.upstreams.filter(({ name, transport, auth }) => {
        const used = new Set([...listReferences([transport, auth ?? null]), tokenSeedVariable(name)]);
        return names.some((taken) => used.has(taken));
      })
      .map(({ name }) => name);
    log.info('Uses variables that a client brought.', { variables: names, servers });
    if (servers.length > 0) reopen(servers);
  }

  #readUsage(): VariableUsage {
    const { value } = this.#deps.config();
    const { upstreams, search, storage, telemetry } = value;
    return {
      all: new Set([
        ...listReferences(value),
        ...upstreams.map(({ name }) => tokenSeedVariable(name)),
        KEYCHAIN_VARIABLE,
      ]),
      atStart: new Set([...listReferences([storage, telemetry.endpoint ?? null]), KEYCHAIN_VARIABLE]),
      withSecrets: new Set(listReferences([upstreams, search])),
    };
  }
}

/** Which variables the configuration uses, and for what. */
interface VariableUsage {
  readonly all: ReadonlySet<string>;
  /** Variables that are read only when the gateway starts. */
  readonly atStart: ReadonlySet<string>;
  /** Variables in settings that accept references to stored secrets, too. */
  readonly withSecrets: ReadonlySet<string>;
}

function listReferences(setting: unknown): readonly string[] {
  return findReferencedVariables(JSON.stringify(setting));
}

function listUnequal(
  brought: VariableValues,
  { all }: VariableUsage,
  variables: ReferenceVariables,
): readonly string[] {
  return Object.keys(brought).filter((name) => all.has(name) && brought[name] !== variables.read(name));
}

function describe(
  names: readonly string[],
  { withSecrets, atStart }: VariableUsage,
): readonly DifferingVariable[] {
  return names.map((name) => ({ name, canBeSecret: withSecrets.has(name) && !atStart.has(name) }));
}
