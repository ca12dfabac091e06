import { useState } from 'preact/hooks';

import type { AdminProfile } from '../../../../src/admin/contract/contract.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/page/empty-state.tsx';
import { PageHead } from '../../components/page/page-head.tsx';
import { ResourceContent } from '../../components/page/resource-content.tsx';
import { Section } from '../../components/page/section.tsx';
import { pluralize } from '../../lib/format.ts';
import { useLoad, useStore } from '../../store/use-store.ts';
import { CallerView } from './caller-view.tsx';
import { KeyTable } from './key-table.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';

/** One constant for all renders. A new array per render would make components that depend on the list load again. */
const emptyList: readonly never[] = [];

/** Shows who may use the gateway, and what each caller sees. */
export function Access() {
  const { keys, profiles } = useStore();
  useLoad(keys, profiles);
  const [isCreating, setCreating] = useState(false);
  const knownKeys = keys.value.value;
  const knownProfiles = profiles.value.value ?? emptyList;
  return (
    <>
      <PageHead title="Access" aside={knownKeys && pluralize(knownKeys.length, 'key')}>
        <Button kind="main" onPress={() => setCreating(true)}>
          Create a key
        </Button>
      </PageHead>
      <Section title="Keys" aside="for clients over HTTP">
        <ResourceContent resource={keys}>{(all) => <KeyTable keys={all} />}</ResourceContent>
      </Section>
      <Section title="Profiles" aside="named selections of servers and tools">
        <ResourceContent resource={profiles}>{(all) => <ProfileList profiles={all} />}</ResourceContent>
      </Section>
      <Section title="Preview" aside="the tools that a caller sees">
        <CallerView keys={knownKeys ?? emptyList} profiles={knownProfiles} />
      </Section>
      {isCreating && <NewKeyDialog profiles={knownProfiles} onClose={() => setCreating(false)} />}
    </>
  );
}

function ProfileList({ profiles }: { readonly profiles: readonly AdminProfile[] }) {
  if (profiles.length === 0) {
    return (
      <EmptyState title="No profiles yet">
        <p>
          A profile limits what its callers see. Define profiles under <code>profiles</code> in the
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
            {pluralize(profile.tools, 'tool')} of {pluralize(profile.servers.length, 'server')}
            {profile.expose !== undefined && <> · exposure: {profile.expose}</>}
            {profile.keys.length > 0 && <> · keys: {profile.keys.join(', ')}</>}
          </p>
          {profile.url !== undefined && <code class="small faint">{profile.url}</code>}
        </li>
      ))}
    </ul>
  );
}
