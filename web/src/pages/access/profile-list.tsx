import type { AdminProfile } from '../../../../src/admin/contract/contract.ts';
import { plural } from '../../lib/format.ts';
import { EmptyState } from '../../parts/page/empty-state.tsx';

export function ProfileList({ profiles }: { readonly profiles: readonly AdminProfile[] }) {
  if (profiles.length === 0) {
    return (
      <EmptyState title="No profiles yet">
        <p>
          A profile shows some callers less than others. Name one under <code>profiles</code> in the
          configuration: <code>trunkline edit</code>
        </p>
      </EmptyState>
    );
  }
  return (
    <ul class="profiles frame">
      {profiles.map((profile) => (
        <li key={profile.name}>
          <h3>{profile.name}</h3>
          <p class="small soft">
            {profile.description !== undefined && <>{profile.description} · </>}
            {plural(profile.tools, 'tool')} of {plural(profile.servers.length, 'server')}
            {profile.expose !== undefined && <> · shown as {profile.expose}</>}
            {profile.keys.length > 0 && <> · keys: {profile.keys.join(', ')}</>}
          </p>
          {profile.url !== undefined && <code class="small faint">{profile.url}</code>}
        </li>
      ))}
    </ul>
  );
}
