import { Button } from '../button.tsx';
import { formatCount } from '../../lib/format.ts';

interface ExpandButtonProps {
  /** The number of characters that are not shown. Without any, there is no button. */
  readonly hidden: number;
  readonly onExpand: () => void;
}

/** Shows the rest of a definition or of arguments, beside their title. */
export function ExpandButton({ hidden, onExpand }: ExpandButtonProps) {
  if (hidden === 0) return null;
  return (
    <div class="actions">
      <Button isSmall onPress={onExpand}>
        Show {formatCount(hidden)} more characters
      </Button>
    </div>
  );
}
