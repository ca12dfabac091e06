import { GatewayError } from '../../core/errors.ts';
import type { UpstreamName } from '../../core/ids.ts';
import type { SignInId } from './sign-in-id.ts';
import type { SignInLink, SignInLinks } from './sign-in-links.ts';
import type { OfferedSignIn, SignInStatus } from './sign-in-status.ts';
import type { UpstreamSignIns, UpstreamSignInsDeps } from './upstream-sign-ins.ts';

/** Manages the sign-ins of a running gateway. Loads its modules when they are first needed, which keeps the start fast. */
export class GatewaySignIns implements AsyncDisposable {
  readonly #deps: UpstreamSignInsDeps;
  #loaded: Promise<LoadedModules> | undefined;

  constructor(deps: UpstreamSignInsDeps) {
    this.#deps = deps;
  }

  /** Starts a sign-in with a link (browser flow) or with a link and a code (device flow). Returns an open sign-in if there is one. */
  async start(server: string, caller: string, flow?: 'browser' | 'device'): Promise<SignInLink> {
    const { signIns, links } = await this.#load();
    const configured = await signIns.flowOf(server);
    if (configured === 'client-credentials')
      throw new GatewayError(
        'USAGE',
        `Server "${server}" uses client credentials, so no person has to sign in.`,
      );
    return links.start(toSignInId(server, caller), flow ?? configured);
  }

  /** Returns the last sign-in to this server that this gateway started, even if the sign-in has ended. */
  async find(server: string, caller: string): Promise<SignInLink | undefined> {
    if (this.#loaded === undefined) return undefined;
    return (await this.#load()).links.find(toSignInId(server, caller));
  }

  /** Calls `listener` for every change of every sign-in that this gateway starts. */
  async watch(listener: (state: OfferedSignIn) => void): Promise<Disposable> {
    return (await this.#load()).links.events.on('changed', listener);
  }

  async signOut(
    server: string,
    caller: string,
    signal: AbortSignal,
  ): Promise<'revoked' | 'forgotten' | 'not-signed-in'> {
    return (await this.#load()).signIns.signOut(server, caller, signal);
  }

  async list(): Promise<readonly SignInStatus[]> {
    return (await this.#load()).signIns.list();
  }

  /** Deletes the tokens of servers that were removed from the configuration, and ends their sign-ins. */
  async forget(servers: readonly UpstreamName[]): Promise<void> {
    const { vault } = this.#deps;
    const ids = (await vault.listSignInIds()).filter(({ upstream }) => servers.includes(upstream));
    for (const id of ids) {
      await vault.remove(id);
      await vault.saveNote(id, undefined);
    }
    if (this.#loaded === undefined) return;
    const { links } = await this.#loaded;
    const reason = new GatewayError('CALL_CANCELLED', 'The server was removed from the configuration.');
    const callers = [...new Set(['', ...ids.map(({ caller }) => caller)])];
    for (const upstream of servers)
      for (const caller of callers) await (await links.find({ upstream, caller }))?.end(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#loaded)?.links[Symbol.asyncDispose]();
  }

  #load(): Promise<LoadedModules> {
    this.#loaded ??= loadModules(this.#deps);
    return this.#loaded;
  }
}

interface LoadedModules {
  readonly signIns: UpstreamSignIns;
  readonly links: SignInLinks;
}

async function loadModules(deps: UpstreamSignInsDeps): Promise<LoadedModules> {
  const [signInsModule, linksModule] = await Promise.all([
    import('./upstream-sign-ins.ts'),
    import('./sign-in-links.ts'),
  ]);
  const signIns = new signInsModule.UpstreamSignIns(deps);
  const links = new linksModule.SignInLinks(({ upstream, caller }, options) =>
    signIns.signIn({ server: upstream, caller, ...options }),
  );
  return { signIns, links };
}

/** Returns the id of a sign-in. Does not check the name: a sign-in rejects an unknown server, and a lookup finds no link for it. */
function toSignInId(server: string, caller: string): SignInId {
  return { upstream: server as UpstreamName, caller };
}
