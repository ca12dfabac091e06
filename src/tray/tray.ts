import { act } from './act.ts';
import type { Desktop } from './act.ts';
import { GatewayWatch } from './gateway-watch.ts';
import type { Connect, WatchOptions } from './gateway-watch.ts';
import { menuOf } from './menu.ts';
import type { Deed } from './menu.ts';
import { headline, lookOf } from './state.ts';
import type { TrayState } from './state.ts';
import type { OnChosen, TrayIcon } from './tray-icon.ts';

export interface TrayOptions extends Desktop {
  readonly openIcon: (onChosen: OnChosen) => Promise<TrayIcon>;
  readonly connect: Connect;
  readonly now: () => number;
  readonly everyMs: number;
  /** Aborted when the program is told to end. */
  readonly signal: AbortSignal;
}

type Reason = 'quit' | 'desktop-gone' | 'told';

/** Shows the icon until the person quits, the desktop ends or we are told to; says which. */
export async function runTray(options: TrayOptions): Promise<Reason> {
  const ending = new AbortController();
  const { signal } = ending;
  const end = (reason: Reason): void => ending.abort(reason);
  let state: TrayState = { gateway: undefined };
  const opening = options.openIcon((action) => {
    if (action.do === 'quit') end('quit');
    else void carryOut(action);
  });
  const icon = await orAbort(opening, options.signal);
  if (icon === undefined) return 'told';
  const onFacts: WatchOptions['onFacts'] = (gateway) => {
    // What a gateway has said is of no use when it has gone.
    const isLost = gateway === undefined && state.gateway !== undefined;
    show({ gateway, ...(isLost && { notice: undefined }) });
  };
  const watch = new GatewayWatch({ ...options, signal, onFacts });
  try {
    show({});
    options.signal.addEventListener('abort', () => end('told'), { once: true });
    void icon.gone.then(() => end('desktop-gone'));
    await watch.run();
  } finally {
    await icon[Symbol.asyncDispose]();
  }
  // Only `end` aborts it.
  return signal.reason as Reason;

  function show(next: Partial<TrayState>): void {
    state = { ...state, ...next };
    icon?.show({ look: lookOf(state), title: headline(state), menu: menuOf(state) });
  }

  async function carryOut(action: Deed): Promise<void> {
    const begun = action.do === 'refresh' ? 'Asking all servers what they offer…' : undefined;
    show({ notice: begun });
    try {
      const notice = await act(action, options.connect, options);
      // Something else may have been said meanwhile.
      if (state.notice === begun) show({ notice });
    } catch (error) {
      show({ notice: error instanceof Error ? error.message : String(error) });
    }
    watch.look();
  }
}

/** Undefined when it is not wanted any more; an icon that comes later is taken away. */
async function orAbort(opening: Promise<TrayIcon>, signal: AbortSignal): Promise<TrayIcon | undefined> {
  const aborted = new Promise<undefined>((resolve) => {
    if (signal.aborted) resolve(undefined);
    signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
  const icon = await Promise.race([opening, aborted]);
  // Best effort: what fails now is of no interest.
  if (icon === undefined) opening.then((late) => late[Symbol.asyncDispose]()).catch(() => {});
  return icon;
}
