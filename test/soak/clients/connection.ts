import { RawClient } from '../../support/raw-client.ts';
import type { Era, RawClientOptions } from '../../support/raw-messages.ts';
import { httpTransport, sseTransport } from '../../support/raw-transports.ts';
import type { RunningGateway } from '../../support/gateway.ts';
import type { SoakEnvironment } from '../environment/soak-environment.ts';

/** How a client reaches a gateway: `pipe` is stdio as users have it, `alone` is a separate gateway. */
export type Way = 'http' | 'search' | 'sse' | 'pipe' | 'alone';

export interface ClientKind {
  readonly name: string;
  readonly way: Way;
  readonly era: Era;
}

export const clientKinds: readonly ClientKind[] = [
  { name: 'http-legacy', way: 'http', era: 'legacy' },
  { name: 'http-modern', way: 'http', era: 'modern' },
  { name: 'http-search', way: 'search', era: 'modern' },
  { name: 'sse', way: 'sse', era: 'legacy' },
  { name: 'pipe-legacy', way: 'pipe', era: 'legacy' },
  { name: 'pipe-modern', way: 'pipe', era: 'modern' },
  { name: 'alone', way: 'alone', era: 'legacy' },
];

export interface Connection {
  readonly raw: RawClient;
  /** Disconnects without notice, like a client that crashes. */
  drop(): Promise<void>;
  /** Disconnects normally; resolves when its processes have exited. */
  leave(): Promise<void>;
}

const capabilities = { elicitation: { form: {} } };

/** Connects a client without performing the handshake. */
export async function connect({ way, era }: ClientKind, environment: SoakEnvironment): Promise<Connection> {
  const options: RawClientOptions = { era, capabilities };
  switch (way) {
    case 'http':
    case 'search': {
      const url = way === 'http' ? environment.gateway.url : `${environment.gateway.url}/p/searching`;
      return dropped(await RawClient.over(httpTransport(url), options));
    }
    case 'sse':
      return dropped(
        await RawClient.over(sseTransport(new URL('/sse', environment.gateway.url).href), options),
      );
    case 'pipe':
      return overProcess(await environment.startPipe(), options);
    case 'alone': {
      const raw = await environment.standalone.client({ ...options, open: false });
      return dropped(raw);
    }
  }
}

async function overProcess(pipe: RunningGateway, options: RawClientOptions): Promise<Connection> {
  const raw = await pipe.client({ ...options, open: false });
  return {
    raw,
    async drop() {
      await pipe.kill();
      await raw.close();
      await pipe[Symbol.asyncDispose]();
    },
    async leave() {
      await raw.close();
      await pipe.exited;
      await pipe[Symbol.asyncDispose]();
    },
  };
}

function dropped(raw: RawClient): Connection {
  const close = (): Promise<void> => raw.close();
  return { raw, drop: close, leave: close };
}
