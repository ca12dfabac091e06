import type { ClientBehind } from '../model/client-behind.ts';
import type { Credentials } from '../model/credentials.ts';
import type { Fingerprint } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';
import type { Era } from '../model/server-facts.ts';
import type { Logger } from '../observe/log.ts';
import type { ClientIdentity } from './opening/negotiate.ts';
import type { OpenPeer } from './open-peer.ts';
import type { OwnedIds } from './owned-ids.ts';
import type { UpstreamState } from './state.ts';

/** Remembered per fingerprint of the config, so that the probe is paid once and a changed command is asked again. */
export interface EraMemory {
  recall(config: Fingerprint): { readonly era: Era } | undefined;
  remember(config: Fingerprint, verdict: { readonly era: Era; readonly protocol: string }): void;
}

export interface UpstreamDeps {
  readonly open: OpenPeer;
  readonly identity: ClientIdentity;
  /** Absent where nobody needs to sign in. */
  readonly credentials?: Credentials | undefined;
  readonly eras: EraMemory;
  readonly log: Logger;
  readonly now: () => number;
  readonly random?: () => number;
  readonly onState: (state: UpstreamState) => void;
  readonly onListChanged: () => void;
  readonly onNews: (params: JsonObject) => void;
  /** Whom the server may turn to outside of calls. */
  readonly outside: () => ClientBehind | undefined;
  readonly owned: OwnedIds;
  /** It is that of one session. */
  readonly isOfSession?: boolean | undefined;
}
