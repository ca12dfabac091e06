import type { AdminServer } from '../../../../../src/admin/contract/contract.ts';
import { Button } from '../../../components/button.tsx';
import { stateStyles } from '../../../components/state-styles.ts';
import { useClock } from '../../../lib/use-clock.ts';
import { useStore } from '../../../store/use-store.ts';
import { RemedyButton } from '../remedy-button.tsx';
import { serverUrl } from '../run-server-action.ts';
import { findRemedy } from '../server-remedy.ts';
import { describeRetry } from '../server-text.ts';

/** Shows the problem of a server, the next attempt, and the button for the remedy. */
export function ProblemPanel({ server }: { server: AdminServer }) {
  const { router } = useStore();
  const { state } = server;
  if (server.problem === undefined && state !== 'needs-auth') return null;
  const message =
    state === 'held'
      ? 'The server is held for approval. It does not start until a person approves it.'
      : (server.problem?.message ?? 'The server cannot be used until someone signs in.');
  return (
    <div class={`note problem-panel ${stateStyles[state]?.kind ?? 'warn'}`}>
      <div>
        <p>{message}</p>
        <RetryNote server={server} />
      </div>
      <div class="actions">
        {findRemedy(server) === 'try' && (
          <Button isSmall kind="quiet" onPress={() => router.go(serverUrl(server.name, 'log'))}>
            Show log
          </Button>
        )}
        <RemedyButton server={server} isMain />
      </div>
    </div>
  );
}

function RetryNote({ server }: { server: AdminServer }) {
  const text = describeRetry(server, useClock());
  return text === '' ? null : <p class="small number">{text}</p>;
}
