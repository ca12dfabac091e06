import { useState } from 'preact/hooks';

import { visible } from '../../../lib/visible.ts';

/** As much as is read at a glance. */
const SHOWN = 600;

/** What a server says of its tool; the rest of a long text on demand, so that the form stays in sight. */
export function ToolSays({ text }: { readonly text: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = text.length > SHOWN * 1.5;
  return (
    <>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what can be scrolled must be reachable by keyboard */}
      <p class="tool-says" tabIndex={isWhole ? 0 : undefined}>
        {visible(isCut && !isWhole ? `${text.slice(0, SHOWN)}…` : text)}
      </p>
      {isCut && (
        <button type="button" class="link small" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : 'Show all of it'}
        </button>
      )}
    </>
  );
}
