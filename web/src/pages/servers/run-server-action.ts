import type { AdminServer, AdminChangeServerResult } from '../../../../src/admin/contract/contract.ts';
import { openSignIn } from '../../store/open-sign-in.ts';
import type { Store } from '../../store/store.ts';
import type { Remedy } from './server-remedy.ts';

export type ServerAction = Remedy | 'restart' | 'refresh' | 'disable' | 'remove' | 'sign-out';

/** Runs the action of a button and shows its result. */
export async function runServerAction(action: ServerAction, name: string, store: Store): Promise<void> {
  const { api, notices, router, signIns, status } = store;
  switch (action) {
    case 'approve':
      return router.go(`/approvals?server=${encodeURIComponent(name)}`);
    case 'edit':
      return router.go(serverUrl(name, 'entry'));
    case 'sign-in':
      return openSignIn(name, store, window);
    case 'sign-out':
      await api.request('POST /api/servers/:name/sign-out', { name });
      notices.showMessage(`Signed out of ${name}.`);
      return signIns.refresh();
    case 'try':
    case 'restart':
      reportRestart(await api.request('POST /api/servers/:name/restart', { name }), store);
      break;
    case 'refresh':
      await api.request('POST /api/servers/:name/refresh', { name });
      notices.showMessage(`${name} was refreshed.`);
      break;
    case 'enable':
      reportChange(
        await api.request('POST /api/servers/:name/enable', { name }),
        `${name} is enabled.`,
        store,
      );
      break;
    case 'disable':
      reportChange(
        await api.request('POST /api/servers/:name/disable', { name }),
        `${name} is disabled.`,
        store,
      );
      break;
    case 'remove':
      if (!(await confirmRemoval(name, store))) return;
      reportChange(await api.request('DELETE /api/servers/:name', { name }), `${name} was removed.`, store);
      router.go('/servers');
  }
  status.refresh();
}

export function serverUrl(name: string, tab?: string): string {
  const url = `/servers?server=${encodeURIComponent(name)}`;
  return tab === undefined ? url : `${url}&tab=${tab}`;
}

/** Shows the result of a change. If the gateway has saved but not applied it, also shows the reason. */
export function reportChange(
  { applied, isHeld, name }: AdminChangeServerResult,
  message: string,
  { notices }: Store,
): void {
  if (isHeld) return notices.showMessage(`${name} is held for approval.`);
  notices.showMessage(applied.state === 'later' ? `${message} ${applied.reason}` : message);
}

function reportRestart({ name, state, problem }: AdminServer, { notices }: Store): void {
  if (problem !== undefined) notices.showError(new Error(problem.message));
  else notices.showMessage(state === 'ready' ? `${name} was restarted.` : `${name} is starting.`);
}

async function confirmRemoval(name: string, { notices }: Store): Promise<boolean> {
  return notices.confirm({
    title: `Remove ${name}?`,
    text: 'Its tools disappear for every client. Its entry is deleted from the configuration, together with its approvals, sign-ins and log.',
    action: 'Remove',
    isDangerous: true,
  });
}
