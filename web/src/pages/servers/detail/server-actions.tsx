import type { AdminServer } from '../../../../../src/admin/contract/contract.ts';
import { Button } from '../../../parts/button.tsx';
import { useStore } from '../../../store/use-store.ts';
import { actOnServer, type ServerAction } from '../act-on-server.ts';

/** What can be done with a server at any time. */
export function ServerActions({ server }: { server: AdminServer }) {
  const store = useStore();
  const { name, enabled } = server;
  const isReadOnly = store.config.value.value?.readOnly === true;
  const act = (action: ServerAction) => async (): Promise<void> => actOnServer(action, name, store);
  return (
    <div class="actions">
      {enabled && (
        <>
          <Button onPress={act('restart')}>Restart</Button>
          <Button onPress={act('refresh')}>List again</Button>
        </>
      )}
      {!isReadOnly && (
        <>
          {enabled && <Button onPress={act('disable')}>Disable</Button>}
          {!enabled && (
            <Button kind="main" onPress={act('enable')}>
              Enable
            </Button>
          )}
          <Button kind="danger" onPress={act('remove')}>
            Remove
          </Button>
        </>
      )}
    </div>
  );
}
