import { IconButton } from '../components/icon-button.tsx';
import { resumeCalls } from '../store/resume-calls.ts';
import { useStore } from '../store/use-store.ts';

/** Pauses all calls after a confirmation, or resumes them. */
export function PauseButton() {
  const store = useStore();
  const { api, notices, status } = store;
  const pause = async (): Promise<void> => {
    const isConfirmed = await notices.confirm({
      title: 'Pause all calls?',
      text: 'The gateway refuses new calls of every client until you resume, even after a restart. Running calls continue, and clients still see the tools.',
      action: 'Pause',
    });
    if (!isConfirmed) return;
    await api.request('POST /api/pause', {});
    await status.load();
  };
  const isPaused = status.value.value?.pausedSince !== undefined;
  const press = async (): Promise<void> => (isPaused ? resumeCalls(store) : pause());
  return (
    <IconButton
      icon={isPaused ? 'play' : 'pause'}
      label={isPaused ? 'Resume all calls' : 'Pause all calls'}
      onPress={() => void press().catch((error: unknown) => notices.showError(error))}
    />
  );
}
