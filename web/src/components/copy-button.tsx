import { useStore } from '../store/use-store.ts';
import { IconButton } from './icon-button.tsx';

interface CopyButtonProps {
  readonly text: string;
  readonly label: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const { notices } = useStore();
  const copy = (): void => {
    navigator.clipboard.writeText(text).then(
      () => notices.showMessage('Copied.'),
      (error: unknown) => notices.showError(error),
    );
  };
  return <IconButton icon="copy" label={label} onPress={copy} />;
}
