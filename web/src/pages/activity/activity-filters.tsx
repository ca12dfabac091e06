import { SearchField } from '../../parts/search-field.tsx';
import { ServerSelect } from '../../parts/server-select.tsx';
import { useStore } from '../../store/use-store.ts';
import { rangeIn, ranges } from './activity-filter.ts';

/** They are in the address, so that they survive a reload and can be sent to somebody. */
export function ActivityFilters({ servers }: { readonly servers: readonly string[] }) {
  const { router } = useStore();
  const query = router.query.value;
  return (
    <div class="toolbar">
      <SearchField
        label="Tool"
        value={query.get('tool') ?? ''}
        onChange={(tool) => router.set({ tool })}
        hasShortcut
      />
      <SearchField
        label="Caller"
        value={query.get('caller') ?? ''}
        onChange={(caller) => router.set({ caller })}
      />
      <ServerSelect
        servers={servers}
        value={query.get('server') ?? ''}
        onChange={(server) => router.set({ server })}
      />
      <select
        aria-label="Outcome"
        value={query.get('errors') ?? ''}
        onChange={(event) => router.set({ errors: event.currentTarget.value })}
      >
        <option value="">Any outcome</option>
        <option value="true">Errors only</option>
      </select>
      <select
        aria-label="Time"
        value={rangeIn(query).name}
        onChange={(event) => router.set({ range: event.currentTarget.value })}
      >
        {ranges.map(({ name, words }) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}
