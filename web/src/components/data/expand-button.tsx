import { Button } from '../button.tsx';
import { formatCount } from '../../lib/format.ts';

interface ExpandButtonProps {
  /** The number of characters that are not shown. Without any, there is no button. */
  readonly hidden: number;
  readonly onExpand: () => void;
}

/** A button beside the title of a definition or of arguments; it shows the rest of the text. */
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
