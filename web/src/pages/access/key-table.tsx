import { useMemo } from 'preact/hooks';

import type { AdminKey } from '../../../../src/admin/contract/contract.ts';
import { dateTime, relative } from '../../lib/format.ts';
import { Badge } from '../../parts/badge.tsx';
import { Button } from '../../parts/button.tsx';
import type { Column } from '../../parts/data/column.ts';
import { Table } from '../../parts/data/table.tsx';
import { EmptyState } from '../../parts/page/empty-state.tsx';
import { useStore } from '../../store/use-store.ts';

export function KeyTable({ keys }: { readonly keys: readonly AdminKey[] }) {
  const { api, keys: resource, notices, now } = useStore();
  const time = now.value;
  const columns = useMemo(() => {
    const revoke = async (key: AdminKey): Promise<void> => {
      const agrees = await notices.confirm({
        title: `Revoke "${key.name}"?`,
        text: 'Whoever uses it is refused from the next request on. It cannot be brought back.',
        action: 'Revoke',
        isDangerous: true,
      });
      if (!agrees) return;
      await api.ask('POST /api/keys/:name/revoke', { name: key.name });
      notices.say(`"${key.name}" is revoked.`);
      await resource.load();
    };
    return columnsAt(time, revoke);
  }, [api, notices, resource, time]);
  return (
    <>
      {keys.some(({ isAccepted }) => !isAccepted) && (
        <p class="note warn">
          <span>
            The configuration accepts no keys yet: it needs{' '}
            <code>
              "auth": {'{'} "keys": true {'}'}
            </code>
            .
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
              machine that run <code>trunkline serve</code> need none.
            </p>
          </EmptyState>
        }
      />
    </>
  );
}

const mays = { read: 'read', write: 'read and write', destructive: 'everything' } as const;

function columnsAt(now: number, revoke: (key: AdminKey) => Promise<void>): readonly Column<AdminKey>[] {
  const ago = (at: number | undefined, never: string) =>
    at === undefined ? (
      <span class="faint">{never}</span>
    ) : (
      <span title={dateTime(at)}>{relative(at, now)}</span>
    );
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
      title: 'May',
      width: 'minmax(0, 1fr)',
      isWideOnly: true,
      cell: ({ profile, tier }) => `${mays[tier ?? 'destructive']} in ${profile ?? 'any profile'}`,
      sort: ({ profile }) => profile ?? '',
    },
    {
      name: 'used',
      title: 'Last used',
      width: '110px',
      cell: ({ usedAt }) => ago(usedAt, 'never'),
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
          ago(expiresAt, 'never')
        ),
      sort: ({ expiresAt }) => expiresAt ?? Infinity,
    },
    {
      name: 'act',
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
