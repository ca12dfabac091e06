import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { eventually } from '../../support/eventually.ts';
import { type GatewayOptions, type RunningGateway, startGateway } from '../../support/gateway.ts';
import { type ProtectedServer, login, startProtectedServer } from '../../support/protected-server.ts';
import { temporaryFolder, testRun } from '../../support/test-run.ts';
import { scaleDeadline } from '../../support/scale-deadline.ts';
import type { FaultKind } from '../plan.ts';
import { isGrantLost } from '../watch/lost-grant.ts';
import { ConfigFile, type Switches } from './config-file.ts';
import { HttpServer } from './http-server.ts';
import { MisbehavingServer } from './misbehaving-server.ts';
import { type AdjustableClock, createAdjustableClock } from './adjustable-clock.ts';
import { type SmallDisk, mountSmallDisk } from './small-disk.ts';

const probe = fileURLToPath(new URL('../probe.mjs', import.meta.url));
/** Short, so that a hanging call ends within a round. */
const usualCallMs = 4000;
/** For servers without faults: even a machine that has become slow must not make their calls fail. */
const steadyCallMs = 30_000;
export const shutdownMs = 1500;

/** Events about tokens in the log of the server that requires a sign-in. */
const grantEvents = new Set(['issued', 'refresh', 'refused', 'unauthorized']);

/** Servers of both transports and eras, the gateways in front of them, and access to both for faults. */
export class SoakEnvironment {
  readonly home = temporaryFolder('h');
  readonly aloneHome = temporaryFolder('a');
  readonly probeFile = join(testRun().folder, 'probe.json');
  readonly disk: SmallDisk | undefined;
  readonly clock: AdjustableClock | undefined;
  /** A server without faults: every call to it must succeed. */
  readonly steady = new MisbehavingServer('steady', ['--era', 'both']);
  /** Servers that the gateway starts. */
  readonly started = {
    one: new MisbehavingServer('one', ['--era', 'legacy']),
    two: new MisbehavingServer('two', ['--era', 'modern']),
    own: new MisbehavingServer('own', ['--era', 'legacy']),
    launched: new MisbehavingServer(
      'launched',
      ['--era', 'legacy', '--real', 'misbehaves-on-demand'],
      'launcher',
    ),
    removable: new MisbehavingServer('removable', ['--era', 'both']),
    addable: new MisbehavingServer('addable', ['--era', 'legacy']),
  };
  readonly silent = new MisbehavingServer('silent', [], 'never-answers');
  /** A server that exits only on SIGKILL, so that the watchdog must end it after a kill of the gateway. */
  readonly stubborn = new MisbehavingServer('stubborn', [], 'ignores-signals');
  readonly overHttp = {
    three: new HttpServer(new MisbehavingServer('three', ['--era', 'legacy'])),
    four: new HttpServer(new MisbehavingServer('four', ['--era', 'modern'])),
  };
  readonly alone = {
    steady: new MisbehavingServer('alone-steady', ['--era', 'both']),
    misbehaving: new MisbehavingServer('alone-misbehaving', ['--era', 'both']),
  };
  readonly config: ConfigFile;
  readonly #bounds = boundsNow();
  readonly #common = commonNow();
  readonly #pipes: RunningGateway[] = [];
  /** The current gateway over HTTP and its predecessors. */
  readonly #mains: RunningGateway[] = [];
  guarded!: ProtectedServer;
  gateway!: RunningGateway;
  standalone!: RunningGateway;
  /** When the soak last killed the gateways. */
  killedAt: number | undefined;

  constructor() {
    this.disk = mountSmallDisk(join(this.home, 'state'), 48);
    this.clock = createAdjustableClock(join(testRun().folder, 'clock'));
    const text = (switches: Switches): string => JSON.stringify(this.#configOf(switches), null, 2);
    this.config = new ConfigFile(join(this.home, 'config.jsonc'), text);
  }

  /** Faults that are impossible on this machine, with the reason. */
  get impossible(): ReadonlyMap<FaultKind, string> {
    return new Map<FaultKind, string>([
      ...(this.disk === undefined ? [['disk-full', 'only root can mount a small disk'] as const] : []),
      ...(this.clock === undefined ? [['clock-jump', 'libfaketime is not installed'] as const] : []),
    ]);
  }

  /** Servers that faults can target, by their names in the configuration. */
  get faultTargets(): Readonly<Record<string, MisbehavingServer>> {
    const { three, four } = this.overHttp;
    const { one, two, own, launched } = this.started;
    return { one, two, own, launched, three: three.server, four: four.server };
  }

  get all(): readonly MisbehavingServer[] {
    const { steady, silent, stubborn, started, overHttp, alone } = this;
    const http = Object.values(overHttp).map(({ server }) => server);
    return [steady, silent, stubborn, ...Object.values(started), ...http, ...Object.values(alone)];
  }

  /** Starts the servers that must run before the gateways. */
  async openServers(): Promise<void> {
    await Promise.all(Object.values(this.overHttp).map((server) => server.start()));
    this.guarded = await startProtectedServer({ tokenTtl: 4 });
  }

  async openGateways(): Promise<void> {
    this.gateway = await this.startMain();
    await this.signIn();
    this.standalone = await startGateway({
      home: this.aloneHome,
      mcpServers: {
        steady: this.alone.steady.entry(steadyBounds),
        misbehaving: this.alone.misbehaving.entry(this.#bounds),
      },
      config: this.#common,
    });
  }

  /** Starts a gateway over HTTP, which pipes find as well. */
  async startMain(): Promise<RunningGateway> {
    const env = {
      ...this.clock?.env,
      NODE_OPTIONS: `--import ${probe}`,
      SOAK_PROBE: this.probeFile,
    };
    const main = await startGateway({ ...this.#options(), env, listen: 'http' });
    this.#mains.push(main);
    return main;
  }

  /** Starts a pipe with the same clock as the gateways, because they are on one machine. */
  async startPipe(): Promise<RunningGateway> {
    const pipe = await startGateway({ ...this.#options(), env: { ...this.clock?.env }, listen: 'attached' });
    this.#pipes.push(pipe);
    return pipe;
  }

  /** Signs in, with retries, because the configuration may be broken at the moment. */
  async signIn(): Promise<void> {
    await eventually(
      async () => {
        const { code, stderr } = await login(this.home, 'guarded', [], { ...this.clock?.env });
        if (code !== 0) throw new Error(stderr);
      },
      { what: 'Signing in', withinMs: 20_000 },
    );
  }

  /** Returns whether the last kill of the gateways lost the sign-in; true at most once per kill. */
  hasLostGrant(): boolean {
    const isLost = this.killedAt !== undefined && isGrantLost(this.guarded.log.all(), this.killedAt);
    if (isLost) this.killedAt = undefined;
    return isLost;
  }

  /** Returns the latest tokens that the protected server issued and rejected, with the time since gateways were killed. */
  grants(): string {
    const told = this.guarded.log.all().filter(({ event }) => grantEvents.has(event));
    const since = (at: number): string => `${at - (this.killedAt ?? at)} ms`;
    return told
      .slice(-20)
      .map(({ event, at, wasSpent, why, description }) =>
        [event, since(at), wasSpent === true ? 'spent' : '', JSON.stringify(why ?? description ?? '')]
          .join(' ')
          .trim(),
      )
      .join('; ');
  }

  /** Returns the latest output of the gateways. */
  latestOutput(): string {
    const mains = this.#mains.map(
      (one) => `The gateway ${one.pid} over HTTP:\n${one.stderr().slice(-500_000)}\n`,
    );
    const alone = this.standalone?.stderr().slice(-500_000);
    const pipes = this.#pipes.slice(-20).map((pipe) => `The pipe ${pipe.pid}:\n${pipe.stderr()}\n`);
    return `${mains.slice(-20).join('\n')}\nThe standalone gateway:\n${alone}\n\n${pipes.join('\n')}`;
  }

  /** Stops the servers that the gateways did not start, and unmounts the disk. */
  async close(): Promise<void> {
    await Promise.all(Object.values(this.overHttp).map((server) => server.close()));
    await this.guarded?.stop();
    this.disk?.unmount();
  }

  #options(): Pick<GatewayOptions, 'home' | 'mcpServers' | 'config'> {
    const { mcpServers, ...config } = JSON.parse(this.config.text()) as Pick<GatewayOptions, 'mcpServers'>;
    return { home: this.home, mcpServers, config };
  }

  #configOf({
    hasRemovable: hasGuest,
    hasAddable: hasLodger,
    generation,
  }: Switches): Readonly<Record<string, unknown>> {
    const { one, two, own, launched, removable, addable } = this.started;
    const { three, four } = this.overHttp;
    const bounds = this.#bounds;
    return {
      mcpServers: {
        steady: this.steady.entry(steadyBounds),
        one: one.entry(bounds, generation),
        two: two.entry(bounds),
        own: own.entry({ ...bounds, share: 'session' }),
        launched: launched.entry(bounds),
        silent: this.silent.entry(bounds),
        stubborn: this.stubborn.entry(bounds),
        three: { url: three.url, ...bounds },
        four: { url: four.url, ...bounds },
        guarded: { url: this.guarded.url, ...bounds },
        // Stopped after half a second without a call, and started again.
        ...(hasGuest && { removable: removable.entry({ ...bounds, idle: '500ms' }) }),
        ...(hasLodger && { addable: addable.entry(bounds) }),
      },
      profiles: { searching: { servers: ['*'], expose: 'search' } },
      ...this.#common,
    };
  }
}

const steadyBounds = { timeouts: { call: `${steadyCallMs}ms` }, idle: 'never' };

function boundsNow() {
  const ms = `${Math.round(scaleDeadline(usualCallMs, 'soak'))}ms`;
  return { timeouts: { call: ms, connect: ms }, idle: 'never' };
}

function commonNow() {
  const shutdown = `${Math.round(scaleDeadline(shutdownMs, 'soak'))}ms`;
  return { shutdown, startup: { listWait: '10s' }, audit: { maxBytes: 8_000_000 } };
}
