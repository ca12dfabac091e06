import type { FixtureLog } from './fixture-log.ts';
import { type Preset, fixture, fixtureLog, startHttpFixture } from './fixture.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from './gateway.ts';
import type { RawClient } from './raw-client.ts';
import type { Era, RawClientOptions } from './raw-messages.ts';
import type { Transport } from './raw-transports.ts';

/** One side of the gateway: its transport and protocol era. */
export type Leg = 'stdio/legacy' | 'stdio/modern' | 'http/legacy' | 'http/modern' | 'sse/legacy';

/** One combination of client and server legs in which a scenario runs. */
export interface Cell {
  readonly downstream: Leg;
  readonly upstream: Leg;
}

type Changes = Readonly<Record<string, unknown>>;

interface TestSetupOptions extends Omit<GatewayOptions, 'mcpServers' | 'listen'>, RawClientOptions {
  /** More keys for entries of `mcpServers`; a function receives the entry, for keys that depend on the address of the fixture. */
  readonly entries?: Readonly<Record<string, Changes | ((entry: UpstreamEnd['entry']) => Changes)>>;
  /** `false` leaves the handshake to the test. */
  readonly open?: boolean;
}

/** A gateway between one client and fixture servers, with the log of each server. */
export interface TestSetup extends AsyncDisposable {
  readonly gateway: RunningGateway;
  readonly client: RawClient;
  /** Logs by server name. */
  readonly logs: Readonly<Record<string, FixtureLog>>;
  /** Servers by name. Stopping a server that the gateway starts has no effect. */
  readonly upstreams: Readonly<Record<string, UpstreamEnd>>;
  /** Opens another client of the same gateway; HTTP only. */
  another(options?: RawClientOptions): Promise<RawClient>;
}

export type Servers = Readonly<Record<string, readonly [Preset, ...string[]]>>;

/**
 * Opens the setup of a cell: fixture servers over the upstream leg, a gateway, a client over the downstream leg. Closing it stops the
 * gateway, which must exit with code 0, and fails if a server saw the gateway violate the protocol.
 */
export async function openTestSetup(
  cell: Cell,
  servers: Servers,
  options: TestSetupOptions = {},
): Promise<TestSetup> {
  const {
    entries = {},
    open = true,
    era: _era,
    version,
    capabilities,
    clientInfo,
    ...gatewayOptions
  } = options;
  const [over, era] = partsOf(cell.downstream);
  const started = new Map<string, UpstreamEnd>();
  const cleanUp = new AsyncStack();
  const client = {
    over,
    era,
    ...(version !== undefined && { version }),
    ...(capabilities !== undefined && { capabilities }),
    ...(clientInfo !== undefined && { clientInfo }),
  };
  try {
    for (const [name, [preset, ...args]] of Object.entries(servers)) {
      const end = await startServer(cell.upstream, preset, args);
      cleanUp.add(() => end.stop());
      started.set(name, end);
    }
    const mcpServers = Object.fromEntries(
      [...started].map(([name, { entry }]) => {
        const changes = entries[name];
        return [name, { ...entry, ...(typeof changes === 'function' ? changes(entry) : changes) }];
      }),
    );
    const listen = over === 'stdio' ? 'stdio' : 'http';
    const gateway = await startGateway({ ...gatewayOptions, mcpServers, listen });
    cleanUp.add(() => gateway[Symbol.asyncDispose]());
    const first = await gateway.client({ ...client, open });
    cleanUp.add(() => first.close());
    const logs = Object.fromEntries([...started].map(([name, { log }]) => [name, log]));
    return {
      gateway,
      client: first,
      logs,
      upstreams: Object.fromEntries(started),
      async another(changes = {}) {
        const next = await gateway.client({ ...client, ...changes });
        cleanUp.add(() => next.close());
        return next;
      },
      async [Symbol.asyncDispose]() {
        await cleanUp.run();
        complainOfViolations(logs);
      },
    };
  } catch (error) {
    await cleanUp.run().catch(() => {});
    throw error;
  }
}

export interface UpstreamEnd {
  /** The entry for `mcpServers`. */
  readonly entry: Readonly<Record<string, unknown>>;
  readonly log: FixtureLog;
  stop(): Promise<void>;
}

async function startServer(leg: Leg, preset: Preset, args: readonly string[]): Promise<UpstreamEnd> {
  const [over, era] = partsOf(leg);
  const all = args.includes('--era') ? args : ['--era', era, ...args];
  if (over === 'stdio') {
    const entry = fixture(preset, ...all);
    return { entry: { ...entry }, log: fixtureLog(entry), stop: async () => {} };
  }
  const server = await startHttpFixture(preset, over === 'sse' ? [...all, '--sse', '0'] : all);
  return { entry: { url: server.url }, log: server.log, stop: () => server.stop() };
}

function partsOf(leg: Leg): [Transport, Era] {
  // Every leg has the form `transport/era`.
  return leg.split('/') as [Transport, Era];
}

function complainOfViolations(logs: Readonly<Record<string, FixtureLog>>): void {
  const seen = Object.entries(logs).flatMap(([name, log]) =>
    log.violations().map((one) => `${name}: ${JSON.stringify(one)}`),
  );
  if (seen.length > 0) throw new Error(`Servers saw rules of the protocol broken:\n  ${seen.join('\n  ')}`);
}

/** Closes everything in reverse order, and then throws the first error. */
class AsyncStack {
  readonly #closers: (() => PromiseLike<void>)[] = [];

  add(close: () => PromiseLike<void>): void {
    this.#closers.push(close);
  }

  async run(): Promise<void> {
    const errors: unknown[] = [];
    for (const close of this.#closers.splice(0).toReversed()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
