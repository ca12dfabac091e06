import { useState } from 'preact/hooks';

import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { formatBytes } from '../../../lib/format.ts';

/** The number of characters that are shown at first. More text at once makes browsers slow. */
const INITIAL_CHARS = 20_000;

export function LongText({ text }: { readonly text: string }) {
  const [limit, setLimit] = useState(INITIAL_CHARS);
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable content must be reachable by keyboard */}
      <pre class="result-text" tabIndex={0}>
        {escapeInvisible(text.slice(0, limit))}
      </pre>
      {text.length > limit && (
        <button type="button" class="link small" onClick={() => setLimit(limit * 5)}>
          Show more of {formatBytes(text.length)}
        </button>
      )}
    </>
  );
}
