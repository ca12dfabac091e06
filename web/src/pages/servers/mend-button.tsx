import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { Button } from '../../parts/button.tsx';
import { useStore } from '../../store/use-store.ts';
import { actOnServer } from './act-on-server.ts';
import { heldOf, mendingOf, mendingWords } from './mending.ts';

interface MendButtonProps {
  readonly server: AdminServer;
  readonly isMain?: boolean;
}

/** The button that does what the server needs; nothing where it needs nothing. */
export function MendButton({ server, isMain = false }: MendButtonProps) {
  const store = useStore();
  const mending = mendingOf(server, heldOf(server.name, store.approvals.value.value));
  if (mending === undefined) return null;
  const word = mendingWords[mending];
  return (
    <Button
      isSmall
      kind={isMain ? 'main' : 'plain'}
      label={`${word}: ${server.name}`}
      onPress={async () => actOnServer(mending, server.name, store)}
    >
      {word}
    </Button>
  );
}
