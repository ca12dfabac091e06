import { openSignIn } from '../../store/open-sign-in.ts';
import { resume } from '../../store/resume.ts';
import type { Store } from '../../store/store.ts';
import type { Need } from './needs.ts';

/** Does what the button of a need says. */
export async function actOn({ act }: Need, store: Store, window: Window): Promise<void> {
  const { api, router, notices, status } = store;
  switch (act.do) {
    case 'review':
      router.go(act.href);
      return;
    case 'copy':
      await window.navigator.clipboard.writeText(act.text);
      notices.say('Copied.');
      return;
    case 'restart':
    case 'try':
      await api.ask('POST /api/servers/:name/restart', { name: act.server });
      notices.say(`${act.server} was started again.`);
      status.refresh();
      return;
    case 'resume':
      await resume(store);
      return;
    case 'sign-in':
      await openSignIn(act.server, store, window);
  }
}
