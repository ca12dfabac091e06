import { useMemo } from 'preact/hooks';

import type { AdminKey } from '../../../../src/admin/contract/contract.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import type { Column } from '../../components/data/column.ts';
import { Table } from '../../components/data/table.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { formatDateTime, formatRelative } from '../../lib/format.ts';
import { useStore } from '../../store/use-store.ts';

/** Lists the API keys. */
export function KeyTable({ keys }: { readonly keys: readonly AdminKey[] }) {
  const { api, keys: resource, notices, now } = useStore();
  const time = now.value;
  const columns = useMemo(() => {
    const revoke = async (key: AdminKey): Promise<void> => {
      const isConfirmed = await notices.confirm({
        title: `Revoke "${key.name}"?`,
        text: 'Clients that use the key are refused from the next request on. A revoked key cannot be restored.',
        action: 'Revoke',
        isDangerous: true,
      });
      if (!isConfirmed) return;
      await api.request('POST /api/keys/:name/revoke', { name: key.name });
      notices.showMessage(`"${key.name}" was revoked.`);
      await resource.load();
    };
    return createColumns(time, revoke);
  }, [api, notices, resource, time]);
  return (
    <>
      {keys.some(({ isAccepted }) => !isAccepted) && (
        <p class="note warn">
          <span>
            The gateway does not accept keys yet. Add{' '}
            <code>
              "auth": {'{'} "keys": true {'}'}
            </code>{' '}
            to the configuration.
          </span>
        </p>
      )}
      <Table
        label="Keys"
        rows={keys}
        columns={columns}
        keyOf={({ name }) => name}
        rowHeight={44}
        empty={
          <EmptyState title="No keys yet">
            <p>
              A key lets a client use the gateway over HTTP, with the rights that you give it. Clients on this
              machine that run <code>trunkline serve</code> need no key.
            </p>
          </EmptyState>
        }
      />
    </>
  );
}

const rightsLabels = { read: 'read-only', write: 'read and write', destructive: 'all tools' } as const;

function createColumns(now: number, revoke: (key: AdminKey) => Promise<void>): readonly Column<AdminKey>[] {
  return [
    {
      name: 'name',
      title: 'Name',
      width: 'minmax(0, 1.4fr)',
      cell: ({ name, start }) => (
        <>
          <b>{name}</b> <code class="faint">{start}…</code>
        </>
      ),
      sort: ({ name }) => name,
    },
    {
      name: 'rights',
      title: 'Rights',
      width: 'minmax(0, 1fr)',
      isWideOnly: true,
      cell: ({ profile, tier }) => `${rightsLabels[tier ?? 'destructive']}, ${profile ?? 'any profile'}`,
      sort: ({ profile }) => profile ?? '',
    },
    {
      name: 'used',
      title: 'Last used',
      width: '110px',
      cell: ({ usedAt }) => <RelativeTime at={usedAt} now={now} />,
      sort: ({ usedAt }) => usedAt ?? 0,
    },
    {
      name: 'expires',
      title: 'Expires',
      width: '110px',
      isWideOnly: true,
      cell: ({ expiresAt }) =>
        expiresAt !== undefined && expiresAt <= now ? (
          <Badge kind="bad">expired</Badge>
        ) : (
          <RelativeTime at={expiresAt} now={now} />
        ),
      sort: ({ expiresAt }) => expiresAt ?? Infinity,
    },
    {
      name: 'action',
      title: 'Action',
      width: '84px',
      align: 'right',
      cell: (key) => (
        <Button isSmall kind="danger" label={`Revoke ${key.name}`} onPress={async () => revoke(key)}>
          Revoke
        </Button>
      ),
    },
  ];
}

function RelativeTime({ at, now }: { at: number | undefined; now: number }) {
  return at === undefined ? (
    <span class="faint">never</span>
  ) : (
    <span title={formatDateTime(at)}>{formatRelative(at, now)}</span>
  );
}
