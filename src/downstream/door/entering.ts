import type { Admission } from '../../auth/downstream/verdict.ts';
import type { Caller } from '../../model/caller.ts';
import { profileAt } from '../profile-path.ts';
import { serverAt } from '../single-server.ts';

/** What there is behind paths, for a caller. */
export interface Places {
  readonly hasProfile: (name: string) => boolean;
  readonly hasServer: (name: string, caller: Caller) => boolean;
}

/** Paths that MCP is served at, whether there is anything for this caller or not. */
export function isMcpPath(path: string): boolean {
  if (path === '/mcp' || path === '/sse' || path === '/messages') return true;
  return serverAt(path) !== undefined || profileAt(path) !== undefined;
}

/** Who a caller is at a path; undefined where there is nothing for them, which is the same as nothing at all. */
export class Entering {
  readonly #places: Places;
  /** Rules are looked up by the object, so that one caller is one object. */
  readonly #elsewhere = new WeakMap<Caller, Map<string, Caller>>();

  constructor(places: Places) {
    this.#places = places;
  }

  at(path: string, { caller, isBound }: Admission): Caller | undefined {
    const server = serverAt(path);
    if (server !== undefined) return this.#places.hasServer(server, caller) ? caller : undefined;
    const profile = profileAt(path);
    if (profile === undefined || profile === caller.profile) {
      return profile === undefined || this.#places.hasProfile(profile) ? caller : undefined;
    }
    return isBound || !this.#places.hasProfile(profile) ? undefined : this.#within(profile, caller);
  }

  #within(profile: string, caller: Caller): Caller {
    let known = this.#elsewhere.get(caller);
    if (known === undefined) this.#elsewhere.set(caller, (known = new Map<string, Caller>()));
    let same = known.get(profile);
    if (same === undefined) known.set(profile, (same = { ...caller, profile }));
    return same;
  }
}
