import type { AuthenticatedCaller } from '../../auth/downstream/auth-result.ts';
import type { Caller } from '../../core/caller.ts';
import { readProfileFromPath, readServerFromPath } from './mcp-paths.ts';

/** Tells which paths exist for a caller. */
export interface PathTargets {
  readonly hasProfile: (name: string) => boolean;
  readonly hasServer: (name: string, caller: Caller) => boolean;
}

/** Determines the caller of a request: the authenticated caller, in the profile that the path selects. */
export class CallerResolver {
  readonly #targets: PathTargets;
  /** Keeps one object per caller and profile, because other code caches the rules of a caller by object identity. */
  readonly #inProfile = new WeakMap<Caller, Map<string, Caller>>();

  constructor(targets: PathTargets) {
    this.#targets = targets;
  }

  /** Returns undefined if the path has nothing for this caller. The response must then be the same as for a path that does not exist. */
  resolve(path: string, { caller, isBound }: AuthenticatedCaller): Caller | undefined {
    const server = readServerFromPath(path);
    if (server !== undefined) return this.#targets.hasServer(server, caller) ? caller : undefined;
    const profile = readProfileFromPath(path);
    if (profile === undefined) return caller;
    if (!this.#targets.hasProfile(profile)) return undefined;
    if (profile === caller.profile) return caller;
    return isBound ? undefined : this.#withProfile(profile, caller);
  }

  #withProfile(profile: string, caller: Caller): Caller {
    let profiles = this.#inProfile.get(caller);
    if (profiles === undefined) this.#inProfile.set(caller, (profiles = new Map<string, Caller>()));
    let found = profiles.get(profile);
    if (found === undefined) profiles.set(profile, (found = { ...caller, profile }));
    return found;
  }
}
