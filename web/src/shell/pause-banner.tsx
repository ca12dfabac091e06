import { time } from '../lib/format.ts';
import { Button } from '../parts/button.tsx';
import { resume } from '../store/resume.ts';
import { useStore } from '../store/use-store.ts';

/** On every page, since nothing that clients try works meanwhile. */
export function PauseBanner() {
  const store = useStore();
  const since = store.status.value.value?.pausedSince;
  if (since === undefined) return null;
  return (
    <div class="banner" role="status">
      <p>Paused since {time(since)}: every call is refused. Clients still see the tools.</p>
      <Button isSmall label="Resume: let calls through again" onPress={async () => resume(store)}>
        Resume
      </Button>
    </div>
  );
}
