import { Icon, type IconName } from './icon.tsx';

interface IconButtonProps {
  readonly icon: IconName;
  /** The accessible name and the tooltip. */
  readonly label: string;
  readonly onPress: () => void;
}

export function IconButton({ icon, label, onPress }: IconButtonProps) {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={onPress}>
      <Icon name={icon} />
    </button>
  );
}
