import { useState } from 'preact/hooks';

import { Button } from '../../../components/button.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { formatRelative } from '../../../lib/format.ts';
import type { RememberedCall } from '../../../store/call-history.ts';
import { useStore } from '../../../store/use-store.ts';

type JsonObject = Readonly<Record<string, unknown>>;

interface EarlierCallsProps {
  readonly tool: string;
  readonly onUse: (args: JsonObject) => void;
}

/** The maximum number of characters of the arguments in a line. */
const MAX_CHARS = 160;

/** Earlier arguments of a tool, which fill the form again. */
export function EarlierCalls({ tool, onUse }: EarlierCallsProps) {
  const { history, now } = useStore();
  const [isOpen, setOpen] = useState(false);
  const calls = history.of(tool);
  if (calls.length === 0) return null;
  return (
    <details class="earlier-calls" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary class="small soft">Earlier arguments ({calls.length})</summary>
      <ul>
        {(isOpen ? calls : []).map((call) => {
          const text = summarize(call);
          return (
            <li key={text}>
              <button
                type="button"
                class="mono truncated"
                title="Fill in the form"
                onClick={() => onUse(call.args)}
              >
                {text}
              </button>
              <span class="faint small">{call.isKept ? 'kept' : formatRelative(call.at, now.value)}</span>
              <Button
                isSmall
                kind="quiet"
                label={`${call.isKept ? 'Do not keep' : 'Keep'} ${text}`}
                onPress={() => history.setKept(tool, call, !call.isKept)}
              >
                {call.isKept ? 'Unkeep' : 'Keep'}
              </Button>
              <Button
                isSmall
                kind="quiet"
                label={`Forget ${text}`}
                onPress={() => history.remove(tool, call)}
              >
                Forget
              </Button>
            </li>
          );
        })}
      </ul>
      <p class="faint small">Stored in this browser only, without secrets, until you sign out.</p>
    </details>
  );
}

function summarize({ args }: RememberedCall): string {
  const text = JSON.stringify(args);
  return escapeInvisible(text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text);
}
