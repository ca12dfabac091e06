import type { AdminServer } from '../../../../../src/admin/contract/contract.ts';
import { useClock } from '../../../lib/use-clock.ts';
import { Button } from '../../../parts/button.tsx';
import { looks } from '../../../parts/state-look.ts';
import { useStore } from '../../../store/use-store.ts';
import { serverPath } from '../act-on-server.ts';
import { MendButton } from '../mend-button.tsx';
import { mendingOf } from '../mending.ts';
import { retryWords } from '../server-words.ts';

/** What is wrong with a server, when it is tried again, and the button that mends it. */
export function ProblemPanel({ server }: { server: AdminServer }) {
  const { router } = useStore();
  const { state } = server;
  if (server.problem === undefined && state !== 'needs-auth') return null;
  const isHeld = state === 'held';
  const message = isHeld
    ? 'Nothing of it runs before a person has agreed to it.'
    : (server.problem?.message ?? 'It does not answer before somebody has signed in.');
  return (
    <div class={`note trouble ${looks[state]?.kind ?? 'warn'}`}>
      <div>
        <p>{message}</p>
        <Retry server={server} />
      </div>
      <div class="actions">
        {mendingOf(server) === 'try' && (
          <Button isSmall kind="quiet" onPress={() => router.go(serverPath(server.name, 'log'))}>
            Show its log
          </Button>
        )}
        <MendButton server={server} isMain />
      </div>
    </div>
  );
}

function Retry({ server }: { server: AdminServer }) {
  const words = retryWords(server, useClock());
  return words === '' ? null : <p class="small number">{words}</p>;
}
