import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface JsonInputProps {
  readonly label: string;
  readonly value: unknown;
  /** Only with what is JSON; undefined when it is empty. */
  readonly onChange: (value: unknown) => void;
  readonly rows?: number;
}

/** Any value, written as JSON; says where a mistake is while one types. */
export function JsonInput({ label, value, onChange, rows = 5 }: JsonInputProps) {
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, null, 2)));
  const [problem, setProblem] = useState<string>();
  const input = useRef<HTMLTextAreaElement>(null);
  // A form around it is not sent with what was there before the mistake.
  useLayoutEffect(
    () => input.current?.setCustomValidity(problem === undefined ? '' : `Not JSON yet: ${problem}`),
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
          Not JSON yet: {problem}
        </p>
      )}
    </>
  );
}
