import { Button } from '../../parts/button.tsx';
import { CodeBlock } from '../../parts/data/code-block.tsx';
import { Dialog } from '../../parts/overlay/dialog.tsx';

interface MadeKeyProps {
  readonly name: string;
  readonly text: string;
  readonly url: string;
  readonly onClose: () => void;
}

/** The one time that a key is seen, with what a client's configuration needs. */
export function MadeKey({ name, text, url, onClose }: MadeKeyProps) {
  const entry = { type: 'http', url, headers: { Authorization: `Bearer ${text}` } };
  return (
    <Dialog
      title={`The key "${name.trim()}"`}
      isSticky
      onClose={onClose}
      actions={
        <Button kind="main" onPress={onClose}>
          I have it
        </Button>
      }
    >
      <p>It is shown this once; only its hash is kept.</p>
      <CodeBlock text={text} copyLabel="Copy the key" />
      <p class="small soft">For the configuration of a client:</p>
      <CodeBlock
        text={JSON.stringify({ mcpServers: { trunkline: entry } }, null, 2)}
        copyLabel="Copy the entry"
      />
    </Dialog>
  );
}
