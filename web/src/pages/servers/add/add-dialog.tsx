import { useEffect, useRef, useState } from 'preact/hooks';

import { Dialog } from '../../../parts/overlay/dialog.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { useStore } from '../../../store/use-store.ts';
import { AddForm, type Draft } from './add-form.tsx';
import { AddPaste } from './add-paste.tsx';
import { AddRegistry } from './add-registry.tsx';

export const ways = ['form', 'paste', 'registry'] as const;
export type Way = (typeof ways)[number];

const tabs = [
  { name: 'form', title: 'Form' },
  { name: 'paste', title: 'Paste' },
  { name: 'registry', title: 'Registry' },
] as const;

const empty: Draft = { name: '', entry: {}, remarks: [] };

interface AddDialogProps {
  readonly way: Way;
  readonly onClose: () => void;
}

/** Three ways to a new server; what was found in the registry is looked at in the form before it is added. */
export function AddDialog({ way, onClose }: AddDialogProps) {
  const { router } = useStore();
  const [draft, setDraft] = useState(empty);
  const box = useRef<HTMLDivElement>(null);
  // One comes to type; the browser would begin at the cross.
  useEffect(
    () => box.current?.querySelector<HTMLElement>('[role="tabpanel"] :is(input, textarea)')?.focus(),
    [],
  );
  const go = (next: Way): void => router.set({ add: next });
  return (
    <Dialog title="Add a server" onClose={onClose}>
      <div ref={box}>
        <Tabs label="Ways to add a server" tabs={tabs} chosen={way} onChoose={go}>
          {way === 'form' && <AddForm key={draft.name} draft={draft} />}
          {way === 'paste' && <AddPaste onClose={onClose} />}
          {way === 'registry' && (
            <AddRegistry
              onChoose={(chosen) => {
                setDraft(chosen);
                go('form');
              }}
            />
          )}
        </Tabs>
      </div>
    </Dialog>
  );
}
