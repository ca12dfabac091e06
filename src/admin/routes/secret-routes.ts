import { isSecretReferenceName } from '../../config/resolve-references.ts';
import { usesSecret } from '../../config/server-texts.ts';
import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import { createSecretEvent } from '../../observability/audit/audit-record.ts';
import { addRoute, requireText } from '../add-route.ts';
import type { AdminApp, AdminRequest } from '../add-route.ts';
import type { AdminDeps } from '../admin-deps.ts';

/** Adds the routes that list, store and delete secrets. No route returns a value. */
export function addSecretRoutes(
  app: AdminApp,
  { secrets, config, gateway, audit, restartOnOwner }: AdminDeps,
): void {
  const listUsers = (secret: string): readonly UpstreamName[] =>
    config()
      .value.upstreams.filter((upstream) => usesSecret(upstream, secret))
      .map(({ name }) => name);
  addRoute(app, 'GET /api/secrets', async () =>
    (await secrets.list()).map((secret) => ({ ...secret, servers: listUsers(secret.name) })),
  );
  addRoute(app, 'PUT /api/secrets/:name', async (request) => {
    const name = secretName(request);
    const place = await secrets.write(name, requireText(request.body, 'value'));
    audit.record(createSecretEvent('store-secret', name, request.caller));
    const servers = listUsers(name);
    // A failed restart does not fail the request: the status of the server shows the reason.
    const restart = async (server: UpstreamName): Promise<void> => {
      await restartOnOwner(server);
      await gateway.servers.restart(server);
    };
    await Promise.allSettled(servers.map(restart));
    return { name, place, savedAt: Date.now(), servers };
  });
  addRoute(app, 'DELETE /api/secrets/:name', async (request) => {
    const name = secretName(request);
    const removed = await secrets.remove(name);
    if (removed) audit.record(createSecretEvent('delete-secret', name, request.caller));
    return { removed };
  });
}

function secretName({ params }: AdminRequest): string {
  const name = params['name'] ?? '';
  if (isSecretReferenceName(name)) return name;
  throw new GatewayError('USAGE', 'The name of a secret has up to 128 letters, digits, "_", "-" and ".".');
}
