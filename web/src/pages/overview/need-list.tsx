import { Button } from '../../parts/button.tsx';
import { Icon } from '../../parts/icon.tsx';
import type { Need } from './needs.ts';

interface NeedListProps {
  readonly needs: readonly Need[];
  readonly onAct: (need: Need) => Promise<void>;
}

const words: Readonly<Record<Need['act']['do'], string>> = {
  'sign-in': 'Sign in',
  restart: 'Restart',
  try: 'Try now',
  review: 'Review',
  resume: 'Resume',
  copy: 'Copy',
};

/** What waits for a person, each with the button that does it. */
export function NeedList({ needs, onAct }: NeedListProps) {
  return (
    <ul class="needs frame">
      {needs.map((need) => (
        <li key={need.id} class={need.kind}>
          <Icon
            name={need.act.do === 'sign-in' ? 'access' : need.act.do === 'review' ? 'approvals' : 'warn'}
          />
          <div>
            <h3>{need.title}</h3>
            <p class="soft small">{need.text}</p>
          </div>
          <Button isSmall label={`${words[need.act.do]}: ${need.title}`} onPress={async () => onAct(need)}>
            {words[need.act.do]}
          </Button>
        </li>
      ))}
    </ul>
  );
}
