import { escapeInvisible } from '../../lib/escape-invisible.ts';
import { CopyButton } from '../copy-button.tsx';

interface CodeBlockProps {
  readonly text: string;
  /** The label of the copy button; without it, there is no button. */
  readonly copyLabel?: string;
}

/** Preformatted text. Invisible characters are shown as code points, and copied unchanged. */
export function CodeBlock({ text, copyLabel }: CodeBlockProps) {
  return (
    <div class="code">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable content must be reachable by keyboard */}
      <pre tabIndex={0}>{escapeInvisible(text)}</pre>
      {copyLabel !== undefined && <CopyButton text={text} label={copyLabel} />}
    </div>
  );
}
