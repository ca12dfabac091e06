import { Problem } from '../api/problem.ts';
import type { Store } from './store.ts';

/** Starts the sign-in to a server and opens its page in a new tab. Must be called from a click handler. */
export async function openSignIn(
  server: string,
  { api, notices, signIns }: Store,
  window: Window,
): Promise<void> {
  // Browsers allow a new tab only during the click, so it is opened before the address is known.
  const tab = window.open('', '_blank');
  try {
    const { url } = await api.request('POST /api/servers/:name/sign-in', { name: server });
    if (!/^https?:/.test(url))
      throw new Problem({ message: `The sign-in to ${server} has no valid web address.` });
    if (tab === null) {
      throw new Problem({
        message: 'The browser blocked the sign-in page.',
        advice: `Open it yourself: ${url}`,
      });
    }
    // The sign-in page must not be able to control the dashboard.
    tab.opener = null;
    tab.location.replace(url);
    notices.showMessage(`Continue in the new tab to sign in to ${server}.`);
    signIns.refresh();
  } catch (error) {
    tab?.close();
    throw error;
  }
}
