import { useState } from 'preact/hooks';

import type { AdminProfile } from '../../../../src/admin/contract/contract.ts';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/data/code-block.tsx';
import { Field } from '../../components/form/field.tsx';
import { Dialog } from '../../components/overlay/dialog.tsx';
import { useStore } from '../../store/use-store.ts';

interface NewKeyDialogProps {
  readonly profiles: readonly AdminProfile[];
  readonly onClose: () => void;
}

const DAY_MS = 86_400_000;
const lifetimes = [
  { value: '7', label: 'in a week' },
  { value: '30', label: 'in 30 days' },
  { value: '365', label: 'in a year' },
  { value: '', label: 'never' },
];
const tiers = [
  { value: 'read', label: 'read-only tools' },
  { value: 'write', label: 'tools that read or write' },
  { value: 'destructive', label: 'all tools' },
] as const;

interface KeyForm {
  readonly name: string;
  readonly profile: string;
  readonly tier: (typeof tiers)[number]['value'];
  /** Empty for a key that does not expire. */
  readonly days: string;
}

/** Creates a key and shows it once. */
export function NewKeyDialog({ profiles, onClose }: NewKeyDialogProps) {
  const { api, keys, notices, status } = useStore();
  const [form, setForm] = useState<KeyForm>({ name: '', profile: '', tier: 'destructive', days: '30' });
  const [createdKey, setCreatedKey] = useState<string>();
  const { profile, tier, days } = form;
  const name = form.name.trim();
  const create = async (): Promise<void> => {
    const { key } = await api.request('POST /api/keys', {
      name,
      tier,
      profile: profile === '' ? undefined : profile,
      expiresAt: days === '' ? undefined : Date.now() + Number(days) * DAY_MS,
    });
    setCreatedKey(key);
    await keys.load();
  };
  if (createdKey !== undefined) {
    const url = profiles.find((known) => known.name === profile)?.url ?? status.value.value?.url ?? '';
    return <CreatedKeyDialog name={name} keyText={createdKey} url={url} onClose={onClose} />;
  }
  return (
    <Dialog
      title="Create a key"
      onClose={onClose}
      actions={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button kind="main" isDisabled={name === ''} onPress={create}>
            Create
          </Button>
        </>
      }
    >
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          if (name !== '') void create().catch((error: unknown) => notices.showError(error));
        }}
      >
        <KeyFields form={form} profiles={profiles} onChange={setForm} />
      </form>
    </Dialog>
  );
}

interface KeyFieldsProps {
  readonly form: KeyForm;
  readonly profiles: readonly AdminProfile[];
  readonly onChange: (form: KeyForm) => void;
}

function KeyFields({ form, profiles, onChange }: KeyFieldsProps) {
  return (
    <>
      <Field label="Name" id="key-name" hint="Who or what uses the key, such as ci or ada-laptop." isRequired>
        <input
          id="key-name"
          value={form.name}
          maxLength={100}
          autocomplete="off"
          onInput={(event) => onChange({ ...form, name: event.currentTarget.value })}
        />
      </Field>
      <Field label="Profile" id="key-profile" hint="The key sees and calls only the tools of its profile.">
        <select
          id="key-profile"
          value={form.profile}
          onChange={(event) => onChange({ ...form, profile: event.currentTarget.value })}
        >
          <option value="">any</option>
          {profiles.map(({ name }) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
      </Field>
      <Field label="May call" id="key-tier">
        <select
          id="key-tier"
          value={form.tier}
          onChange={({ currentTarget: { value } }) =>
            onChange({ ...form, tier: tiers.find((tier) => tier.value === value)?.value ?? 'read' })
          }
        >
          {tiers.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
      <Field label="Expires" id="key-days">
        <select
          id="key-days"
          value={form.days}
          onChange={(event) => onChange({ ...form, days: event.currentTarget.value })}
        >
          {lifetimes.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </Field>
    </>
  );
}

interface CreatedKeyDialogProps {
  readonly name: string;
  readonly keyText: string;
  readonly url: string;
  readonly onClose: () => void;
}

function CreatedKeyDialog({ name, keyText, url, onClose }: CreatedKeyDialogProps) {
  const entry = { type: 'http', url, headers: { Authorization: `Bearer ${keyText}` } };
  return (
    <Dialog
      title={`The key "${name}"`}
      isSticky
      onClose={onClose}
      actions={
        <Button kind="main" onPress={onClose}>
          I have copied it
        </Button>
      }
    >
      <p>Copy the key now. It is shown only once; the gateway stores only its hash.</p>
      <CodeBlock text={keyText} copyLabel="Copy the key" />
      <p class="small soft">Entry for the settings of a client:</p>
      <CodeBlock
        text={JSON.stringify({ mcpServers: { trunkline: entry } }, null, 2)}
        copyLabel="Copy the entry"
      />
    </Dialog>
  );
}
