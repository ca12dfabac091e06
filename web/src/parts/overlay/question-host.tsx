import { useStore } from '../../store/use-store.ts';
import { Button } from '../button.tsx';
import { Dialog } from './dialog.tsx';

/** Shows what `notices.confirm` asks. */
export function QuestionHost() {
  const asked = useStore().notices.question.value;
  if (asked === undefined) return null;
  const { title, text, action, isDangerous = false, answer } = asked;
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
