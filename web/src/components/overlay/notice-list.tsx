import { useStore } from '../../store/use-store.ts';
import { Icon } from '../icon.tsx';
import { IconButton } from '../icon-button.tsx';

/** Shows the messages and errors of `notices`. */
export function NoticeList() {
  const { notices } = useStore();
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.list.value.map(({ id, kind, text, advice }) => (
        <div key={id} class={`notice ${kind}`}>
          <Icon name={kind === 'good' ? 'check' : 'warn'} />
          <div>
            <p>{text}</p>
            {advice !== undefined && <p class="soft small">{advice}</p>}
          </div>
          <IconButton icon="close" label="Close" onPress={() => notices.dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
