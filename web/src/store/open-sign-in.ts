import { Problem } from '../api/problem.ts';
import type { Store } from './store.ts';

/** Begins the sign-in to a server and opens its page; called at the press of a button. */
export async function openSignIn(
  server: string,
  { api, notices, signIns }: Store,
  window: Window,
): Promise<void> {
  // Opened at the press itself, since browsers refuse windows that come later.
  const tab = window.open('', '_blank');
  try {
    const { url } = await api.ask('POST /api/servers/:name/sign-in', { name: server });
    if (!/^https?:/.test(url)) throw new Problem({ message: 'The server names no page to sign in at.' });
    if (tab === null) {
      throw new Problem({
        message: 'The browser did not let us open the page to sign in at.',
        advice: `Open it yourself: ${url}`,
      });
    }
    tab.opener = null;
    tab.location.replace(url);
    notices.say(`Go on in the window that was opened for ${server}.`);
    signIns.refresh();
  } catch (error) {
    tab?.close();
    throw error;
  }
}
