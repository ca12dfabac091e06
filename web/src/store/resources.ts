import type { Answer, Api } from '../api/api.ts';
import { resource, type Resource } from './resource.ts';

type Of<Route extends Parameters<Api['ask']>[0]> = Resource<Answer<Route>>;

/** What more than one page shows, or what is worth keeping between visits of a page. */
export interface Resources {
  readonly status: Of<'GET /api/status'>;
  readonly config: Of<'GET /api/config'>;
  readonly approvals: Of<'GET /api/approvals'>;
  readonly signIns: Of<'GET /api/sign-ins'>;
  /** All of them, as they were listed last. */
  readonly tools: Of<'GET /api/tools'>;
  /** Of the last hour. */
  readonly latency: Of<'GET /api/latency'>;
  /** Of the last seven days. */
  readonly tokens: Of<'GET /api/tokens'>;
  readonly keys: Of<'GET /api/keys'>;
  readonly profiles: Of<'GET /api/profiles'>;
}

export function resourcesOf({ ask }: Api): Resources {
  return {
    status: resource(async () => ask('GET /api/status', {})),
    config: resource(async () => ask('GET /api/config', {})),
    approvals: resource(async () => ask('GET /api/approvals', {})),
    signIns: resource(async () => ask('GET /api/sign-ins', {})),
    tools: resource(async () => ask('GET /api/tools', { cached: true })),
    latency: resource(async () => ask('GET /api/latency', {})),
    tokens: resource(async () => ask('GET /api/tokens', { days: 7 })),
    keys: resource(async () => ask('GET /api/keys', {})),
    profiles: resource(async () => ask('GET /api/profiles', {})),
  };
}
