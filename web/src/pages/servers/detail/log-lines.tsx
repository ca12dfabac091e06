import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import type { AdminLogLine } from '../../../../../src/admin/contract/contract.ts';
import { SearchField } from '../../../components/search-field.tsx';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { formatTime, pluralize } from '../../../lib/format.ts';
import { logLevelOf, logLevels, matchesLogFilter, type LogLevel } from './log-level.ts';

export type NumberedLine = AdminLogLine & { readonly id: number };

/** The log scrolls with new lines if the user is within this distance of its end. */
const FOLLOW_DISTANCE_PX = 40;
const levelLabels: Readonly<Record<LogLevel, string>> = {
  error: 'Errors only',
  warn: 'Warnings and errors',
  info: 'Without debug lines',
  debug: 'All levels',
};

/** A log with a search and a choice of levels. It scrolls with new lines while the user is at its end. */
export function LogLines({ name, lines }: { name: string; lines: readonly NumberedLine[] }) {
  const [query, setQuery] = useState('');
  const [level, setLevel] = useState<LogLevel>('debug');
  const shown = lines.filter((line) => matchesLogFilter(line, { level, query }));
  return (
    <>
      <div class="toolbar">
        <SearchField label="Search the log" value={query} onChange={setQuery} />
        <select
          aria-label="Level"
          value={level}
          onChange={(event) => {
            const { value } = event.currentTarget;
            setLevel(logLevels.find((candidate) => candidate === value) ?? 'debug');
          }}
        >
          {logLevels.toReversed().map((candidate) => (
            <option key={candidate} value={candidate}>
              {levelLabels[candidate]}
            </option>
          ))}
        </select>
        {shown.length < lines.length && (
          <p class="small soft" role="status">
            {pluralize(shown.length, 'line')} of {lines.length}
          </p>
        )}
      </div>
      <LineBox name={name} lines={shown} />
    </>
  );
}

function LineBox({ name, lines }: { name: string; lines: readonly NumberedLine[] }) {
  const box = useRef<HTMLDivElement>(null);
  const isFollowing = useRef(true);
  useLayoutEffect(() => {
    if (isFollowing.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [lines]);
  return (
    <div
      class="log"
      role="log"
      aria-label={`Log of ${name}`}
      // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrollable content must be reachable by keyboard
      tabIndex={0}
      ref={box}
      onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
        isFollowing.current = scrollHeight - scrollTop - clientHeight < FOLLOW_DISTANCE_PX;
      }}
    >
      {lines.length === 0 && <p class="faint">No line matches.</p>}
      {lines.map(({ id, ...line }) => (
        <p key={id} class={logLevelOf(line)}>
          <span class="faint">{formatTime(line.at)}</span> {line.from === 'gateway' && <b>gateway </b>}
          {escapeInvisible(line.text)}
        </p>
      ))}
    </div>
  );
}
