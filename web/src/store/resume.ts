import type { Store } from './store.ts';

/** Ends a pause; called at the press of a button. */
export async function resume({ api, notices, status }: Store): Promise<void> {
  await api.ask('POST /api/resume', {});
  notices.say('Calls are let through again.');
  await status.load();
}
