import type { UpstreamConfig } from '../../config/config.ts';
import type { UpstreamStatus } from '../../gateway/operating/status.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { AdminServer } from '../contract/contract.ts';
import type { AdminDeps } from '../deps.ts';
import { shownTransport } from './shown-transport.ts';

/** Every configured server, the disabled ones last. */
export function allServers({ gateway, config }: AdminDeps): readonly AdminServer[] {
  const { value, disabled } = config();
  const configs = new Map(value.upstreams.map((upstream) => [upstream.name, upstream]));
  return [
    ...gateway.status().map((status) => serverShown(status, configs.get(status.name), gateway)),
    ...disabled.map(disabledServer),
  ];
}

/** The same with what is known to be wrong with servers that nobody has needed yet; nothing is started to find out. */
export async function foreseenServers(deps: AdminDeps): Promise<readonly AdminServer[]> {
  await deps.gateway.quarantine.noticeServers();
  const foreseen = await deps.gateway.servers.foreseen();
  return allServers(deps).map((server) => {
    const error = server.state === 'idle' ? foreseen.get(server.name) : undefined;
    if (error === undefined) return server;
    const { code, message } = error;
    return { ...server, state: 'failed', problem: { code, message } };
  });
}

export function oneServer({ gateway, config }: AdminDeps, name: UpstreamName): AdminServer {
  const upstream = config().value.upstreams.find((each) => each.name === name);
  return serverShown(gateway.servers.statusOf(name), upstream, gateway);
}

function serverShown(
  status: UpstreamStatus,
  config: UpstreamConfig | undefined,
  gateway: AdminDeps['gateway'],
): AdminServer {
  const facts = gateway.servers.listing(status.name)?.facts;
  return {
    ...status,
    enabled: true,
    ...(config !== undefined && { share: config.share, transport: shownTransport(config.transport) }),
    ...(config?.description !== undefined && { description: config.description }),
    ...(facts !== undefined && { server: facts }),
  };
}

function disabledServer(name: UpstreamName): AdminServer {
  return { name, enabled: false, state: 'disabled', tools: 0, prompts: 0, resources: 0, inFlight: 0 };
}
