import { visible } from '../../lib/visible.ts';
import { CopyButton } from '../copy-button.tsx';

interface CodeBlockProps {
  readonly text: string;
  /** Said by the button that copies; without it there is none. */
  readonly copyLabel?: string;
}

/** Text with its lines; what does not show is spelled out, and copied as it is. */
export function CodeBlock({ text, copyLabel }: CodeBlockProps) {
  return (
    <div class="code">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled must be reachable by keyboard */}
      <pre tabIndex={0}>{visible(text)}</pre>
      {copyLabel !== undefined && <CopyButton text={text} label={copyLabel} />}
    </div>
  );
}
