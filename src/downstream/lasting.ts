import type { Served } from '../gateway/served.ts';
import type { View } from '../gateway/view.ts';
import type { Caller } from '../model/caller.ts';
import type { ClientChannel } from '../wire/serving.ts';
import type { ClientCalls } from './client-calls.ts';
import { KnownLists } from './known-lists.ts';
import { Listeners } from './listeners.ts';
import type { SessionExposure } from './session-exposure.ts';
import type { KeptSession } from './sessions/kept-session.ts';
import { SessionSettings } from './sessions/session-settings.ts';

interface LastingBinding {
  readonly gateway: Served;
  readonly caller: Caller;
  readonly channel: ClientChannel;
  readonly kept?: KeptSession | undefined;
  readonly replica?: string | undefined;
}

/** What a client needs that stays, or listens. Most clients of the modern era do neither: they have a session for each call. */
export class Lasting {
  readonly known: KnownLists;
  readonly listeners: Listeners;
  readonly settings: SessionSettings;

  constructor(
    { gateway, caller, channel, kept, replica }: LastingBinding,
    client: { readonly calls: ClientCalls; readonly exposure: SessionExposure; readonly view: () => View },
  ) {
    const { calls, exposure, view } = client;
    this.known = new KnownLists({ isShared: replica !== undefined });
    this.listeners = new Listeners(gateway, caller, (name) => exposure.digests(view(), 'modern', name));
    this.settings = new SessionSettings({
      ...{ gateway, channel, kept, calls, exposure },
      listeners: this.listeners,
    });
  }
}
