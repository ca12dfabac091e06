import { useLayoutEffect, useRef, useState } from 'preact/hooks';

import { stringifyVisible } from '../../lib/escape-invisible.ts';

interface JsonInputProps {
  readonly label: string;
  readonly value: unknown;
  /** Called with the parsed value of valid JSON, or with undefined if the text is empty. */
  readonly onChange: (value: unknown) => void;
  readonly rows?: number;
}

/** An input for any JSON value, which reports syntax errors while the user types. */
export function JsonInput({ label, value, onChange, rows = 5 }: JsonInputProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : stringifyVisible(value)));
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLTextAreaElement>(null);
  // Keeps a form from being submitted with the last valid value instead of the current text.
  useLayoutEffect(
    () => input.current?.setCustomValidity(problem === undefined ? '' : `Not valid JSON: ${problem}`),
    [problem],
  );
  const change = (next: string): void => {
    setText(next);
    if (next.trim() === '') {
      setProblem(undefined);
      return onChange(undefined);
    }
    try {
      const parsed: unknown = JSON.parse(next);
      setProblem(undefined);
      onChange(parsed);
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <textarea
        ref={input}
        class="mono"
        aria-label={label}
        aria-invalid={problem !== undefined}
        rows={rows}
        spellcheck={false}
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
      />
      {problem !== undefined && (
        <p class="field-problem" role="status">
          Not valid JSON: {problem}
        </p>
      )}
    </>
  );
}
