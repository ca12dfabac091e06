import type { AdminServer } from '../../../../src/admin/contract/contract.ts';
import { Button } from '../../components/button.tsx';
import { useStore } from '../../store/use-store.ts';
import { runServerAction } from './run-server-action.ts';
import { countHeld, findRemedy, remedyLabels } from './server-remedy.ts';

interface RemedyButtonProps {
  readonly server: AdminServer;
  readonly isMain?: boolean;
}

/** The button for the remedy of a server. Renders nothing if the server needs none. */
export function RemedyButton({ server, isMain = false }: RemedyButtonProps) {
  const store = useStore();
  const remedy = findRemedy(server, countHeld(server.name, store.approvals.value.value));
  if (remedy === undefined) return null;
  const label = remedyLabels[remedy];
  return (
    <Button
      isSmall
      kind={isMain ? 'main' : 'plain'}
      label={`${label}: ${server.name}`}
      onPress={async () => runServerAction(remedy, server.name, store)}
    >
      {label}
    </Button>
  );
}
