import type { Api, RouteResponse } from '../api/api.ts';
import { createResource, type Resource } from './resource.ts';

type ResourceOf<Route extends Parameters<Api['request']>[0]> = Resource<RouteResponse<Route>>;

/** Data that several pages show, or that is worth keeping between visits of a page. */
export interface Resources {
  readonly status: ResourceOf<'GET /api/status'>;
  readonly config: ResourceOf<'GET /api/config'>;
  readonly approvals: ResourceOf<'GET /api/approvals'>;
  readonly signIns: ResourceOf<'GET /api/sign-ins'>;
  /** All tools as of the last listings. */
  readonly tools: ResourceOf<'GET /api/tools'>;
  /** The latency of the last hour. */
  readonly latency: ResourceOf<'GET /api/latency'>;
  /** The tokens of the last seven days. */
  readonly tokens: ResourceOf<'GET /api/tokens'>;
  readonly clients: ResourceOf<'GET /api/clients'>;
  readonly keys: ResourceOf<'GET /api/keys'>;
  readonly profiles: ResourceOf<'GET /api/profiles'>;
}

export function createResources({ request }: Api): Resources {
  return {
    status: createResource(async () => request('GET /api/status', {})),
    config: createResource(async () => request('GET /api/config', {})),
    approvals: createResource(async () => request('GET /api/approvals', {})),
    signIns: createResource(async () => request('GET /api/sign-ins', {})),
    tools: createResource(async () => request('GET /api/tools', { cached: true })),
    latency: createResource(async () => request('GET /api/latency', {})),
    tokens: createResource(async () => request('GET /api/tokens', { days: 7 })),
    clients: createResource(async () => request('GET /api/clients', {})),
    keys: createResource(async () => request('GET /api/keys', {})),
    profiles: createResource(async () => request('GET /api/profiles', {})),
  };
}
