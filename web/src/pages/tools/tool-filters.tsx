import { ServerSelect } from '../../parts/server-select.tsx';
import { useStore } from '../../store/use-store.ts';

const tiers = ['read', 'write', 'destructive'] as const;

type Tier = (typeof tiers)[number];

export function tierIn(query: URLSearchParams): Tier | undefined {
  return tiers.find((tier) => tier === query.get('tier'));
}

interface ToolFiltersProps {
  readonly servers: readonly string[];
  readonly server: string | undefined;
  readonly tier: Tier | undefined;
}

/** They are in the address, so that they survive a reload and can be sent to somebody. */
export function ToolFilters({ servers, server, tier }: ToolFiltersProps) {
  const { router } = useStore();
  return (
    <>
      <ServerSelect
        servers={servers}
        value={server ?? ''}
        onChange={(chosen) => router.set({ server: chosen })}
      />
      <select
        aria-label="What it may do"
        value={tier ?? ''}
        onChange={(event) => router.set({ tier: event.currentTarget.value })}
      >
        <option value="">Any effect</option>
        <option value="read">Reads only</option>
        <option value="write">Writes</option>
        <option value="destructive">Destroys</option>
      </select>
    </>
  );
}
