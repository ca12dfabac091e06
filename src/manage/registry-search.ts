import { GatewayError } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { registryEntry } from '../registry/registry-entry.ts';
import type { NeededVariable } from '../registry/registry-entry.ts';
import type { Registry } from '../registry/registry.ts';
import type { RegistryServer } from '../registry/registry-server.ts';

/** A server of the registry, with what would be written for it. */
export interface FoundServer {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly status: string;
  readonly repository?: string;
  /** Absent with `problem`. */
  readonly entry?: JsonObject;
  /** Variables that must be set where the gateway is started. */
  readonly needs: readonly NeededVariable[];
  /** Variables that it would also take. */
  readonly takes: readonly NeededVariable[];
  /** Why it cannot be added. */
  readonly problem?: string;
}

export async function registrySearch(
  registry: Registry,
  text: string,
  limit: number,
): Promise<readonly FoundServer[]> {
  return (await registry.search(text, limit)).map(foundServer);
}

/** What is to be added for a server of the registry, under its short name unless another is wanted. */
export async function fromRegistry(
  registry: Registry,
  { name, as }: { readonly name: string; readonly as?: string | undefined },
): Promise<{ readonly servers: JsonObject; readonly remarks: readonly string[] }> {
  const found = foundServer(await registry.server(name));
  if (found.entry === undefined)
    throw new GatewayError('UPSTREAM_REFUSED', `${name} of the registry cannot be added: ${found.problem}.`);
  const remarks = found.needs.map(
    (need) => `set ${need.name} where Trunkline is started: ${need.description}`,
  );
  return { servers: { [as ?? name.split('/').at(-1) ?? name]: found.entry }, remarks };
}

function foundServer(server: RegistryServer): FoundServer {
  const { name, description, version, status, repository } = server;
  const made = registryEntry(server);
  const how =
    'problem' in made
      ? { problem: made.problem, needs: [], takes: [] }
      : { entry: made.entry, needs: made.needs, takes: made.takes };
  return { name, description, version, status, ...(repository !== undefined && { repository }), ...how };
}
