import { useEffect } from 'preact/hooks';

import type { AdminClients } from '../../../../src/admin/contract/contract.ts';
import { PageHead } from '../../components/page/page-head.tsx';
import { ResourceContent } from '../../components/page/resource-content.tsx';
import { pluralize } from '../../lib/format.ts';
import { useLoad, useStore } from '../../store/use-store.ts';
import { ClientTable } from './client-table.tsx';

/** Shows who is connected to the gateway, or to any replica of its fleet. */
export function Clients() {
  const { clients, subscribe } = useStore();
  useLoad(clients);
  // Ticks arrive every five seconds. They keep the calls and times up to date while the page is open.
  useEffect(() => subscribe(({ event }) => event === 'tick' && clients.refresh()), [subscribe, clients]);
  const known = clients.value.value;
  return (
    <>
      <PageHead title="Clients" aside={known && `${pluralize(known.total, 'client')} connected`} />
      <ResourceContent resource={clients}>{(value) => <ClientList value={value} />}</ResourceContent>
    </>
  );
}

function ClientList({ value: { clients, total, missing } }: { readonly value: AdminClients }) {
  return (
    <>
      {missing.length > 0 && (
        <p class="note warn">
          <span>
            {pluralize(missing.length, 'replica')} did not respond, so{' '}
            {missing.length === 1 ? 'its' : 'their'} clients are missing: {missing.join(', ')}
          </span>
        </p>
      )}
      <ClientTable clients={clients} />
      <p class="small faint">
        {total > clients.length && `The ${clients.length} clients that were used last are shown. `}
        Names and versions are what the clients state. A client without a session is listed for ten minutes
        after its last request.
      </p>
    </>
  );
}
