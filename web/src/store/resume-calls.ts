import type { Store } from './store.ts';

/** Ends a pause. */
export async function resumeCalls({ api, notices, status }: Store): Promise<void> {
  await api.request('POST /api/resume', {});
  notices.showMessage('Calls are accepted again.');
  await status.load();
}
