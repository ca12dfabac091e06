import { dateTime, relative } from '../../lib/format.ts';
import { visible } from '../../lib/visible.ts';
import { useAsked } from '../../store/use-asked.ts';
import { useStore } from '../../store/use-store.ts';

/** Who wrote a server into the configuration, and when, where that was recorded; a file edited by hand says nobody. */
export function AskedBy({ server }: { server: string }) {
  const { api, now } = useStore();
  const asked = useAsked(
    async () => api.ask('GET /api/audit', { kind: 'config', server, outcome: 'ok', limit: 1 }),
    server,
  );
  const record = asked.value.value?.[0];
  if (record === undefined) return null;
  const { at, caller, client, action } = record;
  return (
    <p class="small soft">
      {action === 'add' ? 'Added' : 'Changed'} by <b>{visible(caller)}</b>
      {client !== undefined && ` (${visible(client)})`},{' '}
      <span title={dateTime(at)}>{relative(at, now.value)}</span>
    </p>
  );
}
