import { CLIENTS_SUBJECT } from '../../core/connected-client.ts';
import type { ConnectedClient } from '../../core/connected-client.ts';
import { GatewayError } from '../../core/errors.ts';
import type { ReplicaBus } from '../../core/replica-bus.ts';
import { addRoute, readNumber } from '../add-route.ts';
import type { AdminApp } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';

const DEFAULT_LIMIT = 200;
const MAX_LIMIT = 1000;
const REPLICA_TIMEOUT_MS = 3000;

/** Adds the route that lists the connected clients of this gateway, or of all replicas of its fleet. */
export function addClientRoutes(app: AdminApp, { connectedClients, replicas }: AdminDeps): void {
  addRoute(app, 'GET /api/clients', async ({ query }) => {
    const limit = readNumber(query, 'limit') ?? DEFAULT_LIMIT;
    if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
      throw new GatewayError('USAGE', `"limit" must be a whole number from 1 to ${MAX_LIMIT}.`);
    const missing: string[] = [];
    const clientsOfOthers = (replicas?.others() ?? []).map(async (replica) => {
      const clients = await readClientsOf(replica, replicas);
      if (clients === undefined) missing.push(replica);
      return (clients ?? []).map((client) => ({ ...client, replica }));
    });
    const own = connectedClients.list().map((client) => ({ ...client, replica: replicas?.self }));
    const all = [...own, ...(await Promise.all(clientsOfOthers)).flat()];
    const clients = all.toSorted((a, b) => b.usedAt - a.usedAt).slice(0, limit);
    return { clients, total: all.length, missing };
  });
}

/** Resolves with undefined if the replica does not respond. */
async function readClientsOf(
  replica: string,
  replicas: ReplicaBus | undefined,
): Promise<readonly ConnectedClient[] | undefined> {
  try {
    const response = await replicas?.request(replica, CLIENTS_SUBJECT, {}, { timeoutMs: REPLICA_TIMEOUT_MS });
    // Replicas of one fleet authenticate each other, and run this code.
    return response?.['clients'] as readonly ConnectedClient[] | undefined;
  } catch {
    return undefined; // The replica has just stopped, or runs an older version.
  }
}
