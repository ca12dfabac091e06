import { useState } from 'preact/hooks';

import { plural } from '../../lib/format.ts';
import { Button } from '../../parts/button.tsx';
import { Loaded } from '../../parts/page/loaded.tsx';
import { PageHead } from '../../parts/page/page-head.tsx';
import { Section } from '../../parts/page/section.tsx';
import { useLoaded, useStore } from '../../store/use-store.ts';
import { CallerView } from './caller-view.tsx';
import { KeyTable } from './key-table.tsx';
import { NewKey } from './new-key.tsx';
import { ProfileList } from './profile-list.tsx';

/** One and the same, so that nothing is asked again because of it. */
const none: readonly never[] = [];

/** Who may reach the gateway, and what each of them would see. */
export function Access() {
  const { keys, profiles } = useStore();
  useLoaded(keys, profiles);
  const [isMaking, setMaking] = useState(false);
  const known = keys.value.value;
  return (
    <>
      <PageHead title="Access" aside={known && plural(known.length, 'key')}>
        <Button kind="main" onPress={() => setMaking(true)}>
          Make a key
        </Button>
      </PageHead>
      <Section title="Keys" aside="for clients over HTTP">
        <Loaded from={keys}>{(all) => <KeyTable keys={all} />}</Loaded>
      </Section>
      <Section title="Profiles" aside="named selections of servers and tools">
        <Loaded from={profiles}>{(all) => <ProfileList profiles={all} />}</Loaded>
      </Section>
      <Section title="What somebody would see">
        <CallerView keys={known ?? none} profiles={profiles.value.value ?? none} />
      </Section>
      {isMaking && <NewKey profiles={profiles.value.value ?? []} onClose={() => setMaking(false)} />}
    </>
  );
}
