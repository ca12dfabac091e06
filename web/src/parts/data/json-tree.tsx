import { useState } from 'preact/hooks';

import { visible } from '../../lib/visible.ts';

interface JsonTreeProps {
  readonly value: unknown;
  /** How many levels are open at first. */
  readonly open?: number;
}

/** How many members of one array or object are shown before one asks for more. */
const STEP = 100;
const LONG_TEXT = 400;

/** A value of JSON, to be opened and closed piece by piece; only what is open exists on the page. */
export function JsonTree({ value, open = 2 }: JsonTreeProps) {
  return (
    <div class="json mono">
      <Node value={value} open={open} />
    </div>
  );
}

function Node({ name, value, open }: { name?: string; value: unknown; open: number }) {
  if (typeof value === 'object' && value !== null) return <Branch name={name} value={value} open={open} />;
  return (
    <div class="json-leaf">
      <Name name={name} />
      {typeof value === 'string' ? <Text text={value} /> : <span class="json-word">{String(value)}</span>}
    </div>
  );
}

function Branch({ name, value, open }: { name: string | undefined; value: object; open: number }) {
  const [isOpen, setOpen] = useState(open > 0);
  const [shown, setShown] = useState(STEP);
  const isList = Array.isArray(value);
  const members = Object.entries(value);
  const size = isList ? `[${members.length}]` : `{${members.length}}`;
  if (members.length === 0) {
    return (
      <div class="json-leaf">
        <Name name={name} />
        <span class="faint">{isList ? '[]' : '{}'}</span>
      </div>
    );
  }
  return (
    <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Name name={name} />
        <span class="faint">{size}</span>
      </summary>
      {isOpen && (
        <div class="json-inner">
          {members.slice(0, shown).map(([key, member]) => (
            <Node key={key} name={key} value={member} open={open - 1} />
          ))}
          {members.length > shown && (
            <button type="button" class="link" onClick={() => setShown(shown + STEP)}>
              {members.length - shown} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : <span class="json-name">{visible(name)}: </span>;
}

function Text({ text }: { text: string }) {
  const [isWhole, setWhole] = useState(text.length <= LONG_TEXT);
  return (
    <span class="json-text">
      {isWhole ? visible(text) : `${visible(text.slice(0, LONG_TEXT))}…`}
      {!isWhole && (
        <button type="button" class="link" onClick={() => setWhole(true)}>
          {text.length - LONG_TEXT} more characters
        </button>
      )}
    </span>
  );
}
