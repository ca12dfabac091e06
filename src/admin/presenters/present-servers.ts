import type { TransportConfig, UpstreamConfig } from '../../config/config.ts';
import { maskArgs, maskUrl, maskValues } from '../../config/mask-secrets.ts';
import { describeError } from '../../gateway/control/upstream-status.ts';
import type { UpstreamStatus } from '../../gateway/control/upstream-status.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { AdminServer, AdminTransport } from '../contract/contract.ts';
import type { AdminDeps } from '../admin-deps.ts';

/** Returns every configured server, the disabled ones last. */
export function presentServers({ gateway, config }: AdminDeps): readonly AdminServer[] {
  const { value, disabled } = config();
  const configs = new Map(value.upstreams.map((upstream) => [upstream.name, upstream]));
  return [
    ...gateway.status().map((status) => toAdminServer(status, configs.get(status.name), gateway)),
    ...disabled.map(disabledServer),
  ];
}

/** Returns every configured server. Adds the problems that a preflight check finds for idle servers, without starting them. */
export async function presentCheckedServers(deps: AdminDeps): Promise<readonly AdminServer[]> {
  await deps.gateway.heldEntries.detectHeldServers();
  const preflightErrors = await deps.gateway.servers.preflightErrors();
  return presentServers(deps).map((server) => {
    const error = server.state === 'idle' ? preflightErrors.get(server.name) : undefined;
    if (error === undefined) return server;
    return { ...server, state: 'failed', problem: describeError(error) };
  });
}

export function presentServer({ gateway, config }: AdminDeps, name: UpstreamName): AdminServer {
  const upstream = config().value.upstreams.find((configured) => configured.name === name);
  return toAdminServer(gateway.servers.statusOf(name), upstream, gateway);
}

function toAdminServer(
  status: UpstreamStatus,
  config: UpstreamConfig | undefined,
  gateway: AdminDeps['gateway'],
): AdminServer {
  const facts = gateway.servers.listing(status.name)?.facts;
  return {
    ...status,
    enabled: true,
    description: config?.description,
    share: config?.share,
    transport: config && maskTransport(config.transport),
    server: facts,
  };
}

/** Returns how a server is reached. Keeps references, and masks all other values that may be secrets. */
function maskTransport(transport: TransportConfig): AdminTransport {
  if (transport.kind === 'http') {
    const { url, flavour, headers } = transport;
    return { kind: 'http', url: maskUrl(url), flavour, headers: maskValues(headers) };
  }
  const { kind, command, args, env, cwd } = transport;
  return { kind, command, args: maskArgs(args), env: maskValues(env), cwd };
}

function disabledServer(name: UpstreamName): AdminServer {
  return { name, enabled: false, state: 'disabled', tools: 0, prompts: 0, resources: 0, inFlight: 0 };
}
