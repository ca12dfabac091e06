import type { AdminServer, AdminServerChanged } from '../../../../src/admin/contract/contract.ts';
import { openSignIn } from '../../store/open-sign-in.ts';
import type { Store } from '../../store/store.ts';
import type { Mending } from './mending.ts';

export type ServerAction = Mending | 'restart' | 'refresh' | 'disable' | 'remove' | 'sign-out';

/** Does what a button of a server says, and says what came of it. */
export async function actOnServer(action: ServerAction, name: string, store: Store): Promise<void> {
  const { api, notices, router, signIns, status } = store;
  switch (action) {
    case 'approve':
      return router.go(`/approvals?server=${encodeURIComponent(name)}`);
    case 'edit':
      return router.go(serverPath(name, 'entry'));
    case 'sign-in':
      return openSignIn(name, store, window);
    case 'sign-out':
      await api.ask('POST /api/servers/:name/sign-out', { name });
      notices.say(`Signed out of ${name}.`);
      return signIns.refresh();
    case 'try':
    case 'restart':
      told(await api.ask('POST /api/servers/:name/restart', { name }), store);
      break;
    case 'refresh':
      await api.ask('POST /api/servers/:name/refresh', { name });
      notices.say(`${name} was listed again.`);
      break;
    case 'enable':
      changed(await api.ask('POST /api/servers/:name/enable', { name }), `${name} is used again.`, store);
      break;
    case 'disable':
      changed(await api.ask('POST /api/servers/:name/disable', { name }), `${name} is switched off.`, store);
      break;
    case 'remove':
      if (!(await agreed(name, store))) return;
      changed(await api.ask('DELETE /api/servers/:name', { name }), `${name} was removed.`, store);
      router.go('/servers');
  }
  status.refresh();
}

export function serverPath(name: string, tab?: string): string {
  const server = `/servers?server=${encodeURIComponent(name)}`;
  return tab === undefined ? server : `${server}&tab=${tab}`;
}

/** Says what came of a change; something that is only written in the file is not in use yet. */
export function changed(
  { applied, isHeld, name }: AdminServerChanged,
  said: string,
  { notices }: Store,
): void {
  if (isHeld) return notices.say(`${name} waits for your approval.`);
  notices.say(applied.state === 'later' ? `${said} ${applied.reason}` : said);
}

function told({ name, state, problem }: AdminServer, { notices }: Store): void {
  if (problem !== undefined) notices.fail(new Error(problem.message));
  else notices.say(state === 'ready' ? `${name} was started again.` : `${name} is being started.`);
}

async function agreed(name: string, { notices }: Store): Promise<boolean> {
  return notices.confirm({
    title: `Remove ${name}?`,
    text: 'Its tools disappear for every client, its entry is taken out of the configuration, and what is kept about it is deleted: approvals, sign-ins and its log.',
    action: 'Remove',
    isDangerous: true,
  });
}
