import { useEffect, useRef, useState } from 'preact/hooks';

import { Dialog } from '../../../components/overlay/dialog.tsx';
import { Tabs } from '../../../components/tabs.tsx';
import { useStore } from '../../../store/use-store.ts';
import { AddForm, type ServerDraft } from './add-form.tsx';
import { AddPaste } from './add-paste.tsx';
import { AddRegistry } from './add-registry.tsx';

export const addMethods = ['form', 'paste', 'registry'] as const;
export type AddMethod = (typeof addMethods)[number];

const tabs = [
  { name: 'form', title: 'Form' },
  { name: 'paste', title: 'Paste' },
  { name: 'registry', title: 'Registry' },
] as const;

const emptyDraft: ServerDraft = { name: '', entry: {}, remarks: [] };

interface AddDialogProps {
  readonly method: AddMethod;
  readonly onClose: () => void;
}

/** Adds servers by form, from a pasted snippet or from the registry. A registry server is shown in the form before it is added. */
export function AddDialog({ method, onClose }: AddDialogProps) {
  const { router } = useStore();
  const [draft, setDraft] = useState(emptyDraft);
  const box = useRef<HTMLDivElement>(null);
  // Focuses the first input, because the browser would focus the close button.
  useEffect(
    () => box.current?.querySelector<HTMLElement>('[role="tabpanel"] :is(input, textarea)')?.focus(),
    [],
  );
  const selectMethod = (next: AddMethod): void => router.set({ add: next });
  return (
    <Dialog title="Add a server" onClose={onClose}>
      <div ref={box}>
        <Tabs label="Ways to add a server" tabs={tabs} selected={method} onSelect={selectMethod}>
          {method === 'form' && <AddForm key={draft.name} draft={draft} />}
          {method === 'paste' && <AddPaste onClose={onClose} />}
          {method === 'registry' && (
            <AddRegistry
              onSelect={(selection) => {
                setDraft(selection);
                selectMethod('form');
              }}
            />
          )}
        </Tabs>
      </div>
    </Dialog>
  );
}
