import type { CallRequest } from '../gateway/calls/call-request.ts';
import type { CatalogView } from '../gateway/catalog-view.ts';
import type { Payload } from '../core/lib/payload.ts';
import type { Caller } from '../core/caller.ts';
import type { JsonObject } from '../core/json.ts';

/** Presents a catalog view to a client. It is chosen once per session and holds no state. */
export interface Exposure {
  readonly kind: 'direct' | 'search' | 'code';
  /** The kind of client whose limits the exposure respects; absent if it is the same for all clients. */
  readonly client?: string;
  /**
   * Whether the result of `tools` depends on what the servers list. If not, clients get it before any server
   * was listed.
   */
  readonly dependsOnListings: boolean;
  /** Whether another exposure may be chosen once all listings have been fetched; false if absent. */
  readonly isProvisional?: boolean;
  instructions(view: CatalogView): string;
  /** Returns the definitions that the client sees, including those of `revealed` names. */
  tools(view: CatalogView, revealed?: ReadonlySet<string>): readonly JsonObject[];
  /** Returns a digest of the list that `tools` returns. It stays the same while the list stays the same. */
  digest(view: CatalogView, revealed?: ReadonlySet<string>): string;
  callTool(name: string, request: CallRequest, context: ExposureContext): Promise<Payload>;
}

/** The operations that an exposure may perform for the client that it answers. */
export interface ExposureContext {
  readonly caller: Caller;
  readonly view: CatalogView;
  /** The key under which the tool lists of the client are counted: its session, or its caller if it has no session. */
  readonly listOwner: string;
  /** Resolves to the view once every listing has been fetched or the startup wait has timed out. */
  settled(): Promise<CatalogView>;
  /** Calls a tool as `caller`; an exposure cannot act for another caller. */
  call(name: string, request: CallRequest): Promise<Payload>;
  /** Like `call`, but asks the client the server's questions in between, so the returned result is final. */
  callUntilResult(name: string, request: CallRequest): Promise<Payload>;
  /** Lists these tools for the rest of the client session; does nothing without a session. */
  reveal(names: readonly string[]): void;
}

/** Chooses the exposure of a view for a client with this `clientInfo.name`. */
export type ExposureChoice = (view: CatalogView, client?: string) => Exposure;
