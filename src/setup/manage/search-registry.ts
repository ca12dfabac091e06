import { GatewayError } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json.ts';
import type { RegistryClient } from '../registry/registry-client.ts';
import { createRegistryEntry } from '../registry/registry-entry.ts';
import type { NeededVariable } from '../registry/registry-entry.ts';
import type { RegistryServer } from '../registry/registry-server.ts';

/** A server of the registry with the entry that would be written for it. */
export interface RegistrySearchResult {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly status: string;
  readonly repository?: string | undefined;
  /** Absent if there is a `problem`. */
  readonly entry?: JsonObject;
  /** Variables that must be set in the environment of the gateway. */
  readonly needs: readonly NeededVariable[];
  /** Optional variables. */
  readonly takes: readonly NeededVariable[];
  /** Why the server cannot be added. */
  readonly problem?: string;
}

export async function searchRegistry(
  registry: RegistryClient,
  text: string,
  limit: number,
): Promise<readonly RegistrySearchResult[]> {
  return (await registry.search(text, limit)).map(toSearchResult);
}

/** Returns the entry to add for a server of the registry, under its short name by default. */
export async function resolveRegistryServer(
  registry: RegistryClient,
  { name, as }: { readonly name: string; readonly as?: string | undefined },
): Promise<{ readonly servers: JsonObject; readonly remarks: readonly string[] }> {
  const result = toSearchResult(await registry.server(name));
  if (result.entry === undefined) {
    throw new GatewayError(
      'UPSTREAM_REFUSED',
      `The registry's server ${name} cannot be added: ${result.problem}.`,
    );
  }
  const remarks = result.needs.map(
    (variable) => `set ${variable.name} in the environment of Trunkline: ${variable.description}`,
  );
  return { servers: { [as ?? name.split('/').at(-1) ?? name]: result.entry }, remarks };
}

function toSearchResult(server: RegistryServer): RegistrySearchResult {
  const { name, description, version, status, repository } = server;
  const created = createRegistryEntry(server);
  const details =
    'problem' in created
      ? { problem: created.problem, needs: [], takes: [] }
      : { entry: created.entry, needs: created.needs, takes: created.takes };
  return { name, description, version, status, repository, ...details };
}
