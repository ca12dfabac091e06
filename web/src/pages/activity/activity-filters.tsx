import { SearchField } from '../../components/search-field.tsx';
import { ServerSelect } from '../../components/server-select.tsx';
import { useStore } from '../../store/use-store.ts';
import { parseRange, timeRanges } from './activity-filter.ts';

/** The filters. They are part of the URL, so that they survive a reload and can be shared. */
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
        value={parseRange(query).name}
        onChange={(event) => router.set({ range: event.currentTarget.value })}
      >
        {timeRanges.map(({ name, label }) => (
          <option key={name} value={name}>
            {label}
          </option>
        ))}
      </select>
    </div>
  );
}
