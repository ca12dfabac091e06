import { useState } from 'preact/hooks';

import { escapeInvisible } from '../../lib/escape-invisible.ts';

interface JsonTreeProps {
  readonly value: unknown;
  /** The number of levels that are open at first. */
  readonly openLevels?: number;
}

/** The number of members of an array or object that are shown at first, and with each click on "more". */
const MEMBERS_STEP = 100;
/** Longer texts are cut until the user expands them. */
const MAX_TEXT_CHARS = 400;

/** A JSON value whose parts can be opened and closed. Closed parts are not rendered. */
export function JsonTree({ value, openLevels = 2 }: JsonTreeProps) {
  return (
    <div class="json mono">
      <Node value={value} openLevels={openLevels} />
    </div>
  );
}

interface NodeProps extends Required<JsonTreeProps> {
  readonly name?: string | undefined;
}

function Node({ name, value, openLevels }: NodeProps) {
  if (typeof value === 'object' && value !== null)
    return <Branch name={name} value={value} openLevels={openLevels} />;
  return (
    <div class="json-leaf">
      <Name name={name} />
      {typeof value === 'string' ? <Text text={value} /> : <span class="json-word">{String(value)}</span>}
    </div>
  );
}

function Branch({ name, value, openLevels }: NodeProps & { readonly value: object }) {
  const [isOpen, setOpen] = useState(openLevels > 0);
  const [limit, setLimit] = useState(MEMBERS_STEP);
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
          {members.slice(0, limit).map(([key, member]) => (
            <Node key={key} name={key} value={member} openLevels={openLevels - 1} />
          ))}
          {members.length > limit && (
            <button type="button" class="link" onClick={() => setLimit(limit + MEMBERS_STEP)}>
              {members.length - limit} more
            </button>
          )}
        </div>
      )}
    </details>
  );
}

function Name({ name }: { name: string | undefined }) {
  return name === undefined ? null : <span class="json-name">{escapeInvisible(name)}: </span>;
}

function Text({ text }: { text: string }) {
  const [isExpanded, setExpanded] = useState(text.length <= MAX_TEXT_CHARS);
  return (
    <span class="json-text">
      {isExpanded ? escapeInvisible(text) : `${escapeInvisible(text.slice(0, MAX_TEXT_CHARS))}…`}
      {!isExpanded && (
        <button type="button" class="link" onClick={() => setExpanded(true)}>
          {text.length - MAX_TEXT_CHARS} more characters
        </button>
      )}
    </span>
  );
}
