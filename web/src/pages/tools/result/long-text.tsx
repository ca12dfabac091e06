import { useState } from 'preact/hooks';

import { bytes } from '../../../lib/format.ts';
import { visible } from '../../../lib/visible.ts';

/** More at once makes browsers slow. */
const SHOWN = 20_000;

export function LongText({ text }: { readonly text: string }) {
  const [end, setEnd] = useState(SHOWN);
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled must be reachable by keyboard */}
      <pre class="result-text" tabIndex={0}>
        {visible(text.slice(0, end))}
      </pre>
      {text.length > end && (
        <button type="button" class="link small" onClick={() => setEnd(end * 5)}>
          Show more of the {bytes(text.length)}
        </button>
      )}
    </>
  );
}
