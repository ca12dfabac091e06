import { useState } from 'preact/hooks';

import type { AdminProfile } from '../../../../src/admin/contract/contract.ts';
import { Button } from '../../parts/button.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';
import { useStore } from '../../store/use-store.ts';
import { MadeKey } from './made-key.tsx';

interface NewKeyProps {
  readonly profiles: readonly AdminProfile[];
  readonly onClose: () => void;
}

const DAY_MS = 86_400_000;
const lives = [
  { days: '7', words: 'in a week' },
  { days: '30', words: 'in 30 days' },
  { days: '365', words: 'in a year' },
  { days: '', words: 'never' },
];
const tiers = [
  { tier: 'read', words: 'tools that only read' },
  { tier: 'write', words: 'tools that read or write' },
  { tier: 'destructive', words: 'every tool' },
] as const;

/** Makes a key, and shows it this once. */
export function NewKey({ profiles, onClose }: NewKeyProps) {
  const { api, keys, notices, status } = useStore();
  const [name, setName] = useState('');
  const [profile, setProfile] = useState('');
  const [tier, setTier] = useState<(typeof tiers)[number]['tier']>('destructive');
  const [days, setDays] = useState('30');
  const [made, setMade] = useState<string>();
  const make = async (): Promise<void> => {
    const { key } = await api.ask('POST /api/keys', {
      name: name.trim(),
      tier,
      ...(profile !== '' && { profile }),
      ...(days !== '' && { expiresAt: Date.now() + Number(days) * DAY_MS }),
    });
    setMade(key);
    await keys.load();
  };
  if (made !== undefined) {
    const url = profiles.find((each) => each.name === profile)?.url ?? status.value.value?.url ?? '';
    return <MadeKey name={name} text={made} url={url} onClose={onClose} />;
  }
  return (
    <Dialog
      title="Make a key"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" isDisabled={name.trim() === ''} onPress={make}>
            Make it
          </Button>
        </>
      }
    >
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name.trim() !== '') void make().catch((error: unknown) => notices.fail(error));
        }}
      >
        <Field label="Name" id="key-name" hint="Who or what uses it, such as ci or ada-laptop." isRequired>
          <input
            id="key-name"
            value={name}
            maxLength={100}
            autocomplete="off"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Field>
        <Field label="Profile" id="key-profile" hint="It sees and calls only what the profile has.">
          <select
            id="key-profile"
            value={profile}
            onChange={(event) => setProfile(event.currentTarget.value)}
          >
            <option value="">any</option>
            {profiles.map((each) => (
              <option key={each.name} value={each.name}>
                {each.name}
              </option>
            ))}
          </select>
        </Field>
        <Field label="May call" id="key-tier">
          <select
            id="key-tier"
            value={tier}
            onChange={(event) =>
              setTier(tiers.find((each) => each.tier === event.currentTarget.value)?.tier ?? 'read')
            }
          >
            {tiers.map((each) => (
              <option key={each.tier} value={each.tier}>
                {each.words}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Expires" id="key-days">
          <select id="key-days" value={days} onChange={(event) => setDays(event.currentTarget.value)}>
            {lives.map((each) => (
              <option key={each.days} value={each.days}>
                {each.words}
              </option>
            ))}
          </select>
        </Field>
      </form>
    </Dialog>
  );
}
