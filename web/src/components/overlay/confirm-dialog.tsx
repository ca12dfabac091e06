import { useStore } from '../../store/use-store.ts';
import { Button } from '../button.tsx';
import { Dialog } from './dialog.tsx';

/** Shows the question of `notices.confirm`. */
export function ConfirmDialog() {
  const confirmation = useStore().notices.confirmation.value;
  if (confirmation === undefined) return null;
  const { title, text, action, isDangerous = false, answer } = confirmation;
  return (
    <Dialog
      title={title}
      size="small"
      onClose={() => answer(false)}
      actions={
        <>
          <Button onPress={() => answer(false)}>Cancel</Button>
          <Button kind={isDangerous ? 'danger' : 'main'} onPress={() => answer(true)}>
            {action}
          </Button>
        </>
      }
    >
      <p>{text}</p>
    </Dialog>
  );
}
