import type { Offer, SignInDesk } from '../../auth/upstream/sign-in-desk.ts';
import type { OfferedSignIn } from '../../auth/upstream/sign-in-state.ts';
import { GatewayError } from '../../model/errors.ts';
import type { UpstreamName } from '../../model/ids.ts';
import type { SignIns, SignInsWorld } from './sign-ins.ts';

/** Signing in to the servers of a running gateway; nothing of it is loaded before somebody wants it. */
export class GatewaySignIns implements AsyncDisposable {
  readonly #world: SignInsWorld;
  #loaded: Promise<Loaded> | undefined;

  constructor(world: SignInsWorld) {
    this.#world = world;
  }

  /** A link, or a link and a code, with which somebody signs in; the same one while it is open. */
  async begin(server: string, caller: string, flow?: 'browser' | 'device'): Promise<Offer> {
    const { signIns, desk } = await this.#load();
    const configured = await signIns.flowOf(server);
    if (configured === 'client-credentials')
      throw new GatewayError('USAGE', `Server "${server}" is signed in to without anybody's help.`);
    return desk.begin(place(server, caller), flow ?? configured);
  }

  /** The last one of this server, over or not. */
  async at(server: string, caller: string): Promise<Offer | undefined> {
    if (this.#loaded === undefined) return undefined;
    return (await this.#load()).desk.at(place(server, caller));
  }

  /** Hears of every change of every sign-in that was begun here. */
  async watch(listener: (state: OfferedSignIn) => void): Promise<Disposable> {
    return (await this.#load()).desk.events.on('changed', listener);
  }

  async signOut(...[server, caller, signal]: Parameters<SignIns['signOut']>): ReturnType<SignIns['signOut']> {
    return (await this.#load()).signIns.signOut(server, caller, signal);
  }

  async list(): ReturnType<SignIns['list']> {
    return (await this.#load()).signIns.list();
  }

  /** These servers are in no configuration any more: their tokens go, and nobody signs in to them. */
  async forget(servers: readonly UpstreamName[]): Promise<void> {
    const { vault } = this.#world;
    const places = (await vault.places()).filter(({ upstream }) => servers.includes(upstream));
    for (const gone of places) {
      await vault.forget(gone);
      await vault.note(gone, undefined);
    }
    if (this.#loaded === undefined) return;
    const { desk } = await this.#loaded;
    const reason = new GatewayError('CALL_CANCELLED', 'The server is not in the configuration any more.');
    const callers = [...new Set(['', ...places.map(({ caller }) => caller)])];
    for (const server of servers)
      for (const caller of callers) await (await desk.at({ upstream: server, caller }))?.end(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#loaded)?.desk[Symbol.asyncDispose]();
  }

  #load(): Promise<Loaded> {
    this.#loaded ??= load(this.#world);
    return this.#loaded;
  }
}

interface Loaded {
  readonly signIns: SignIns;
  readonly desk: SignInDesk;
}

async function load(world: SignInsWorld): Promise<Loaded> {
  const [{ signInsOf }, { SignInDesk: Desk }] = await Promise.all([
    import('./sign-ins.ts'),
    import('../../auth/upstream/sign-in-desk.ts'),
  ]);
  const signIns = signInsOf(world);
  const desk = new Desk(({ upstream, caller }, how) => signIns.signIn({ server: upstream, caller, ...how }));
  return { signIns, desk };
}

/** That there is such a server was asked before. */
function place(server: string, caller: string): { readonly upstream: UpstreamName; readonly caller: string } {
  return { upstream: server as UpstreamName, caller };
}
