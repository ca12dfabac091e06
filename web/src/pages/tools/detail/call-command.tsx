import { joinCommand } from '../../../lib/command-line.ts';
import { CodeBlock } from '../../../parts/data/code-block.tsx';

interface CallCommandProps {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** The same call for a shell. */
export function CallCommand({ name, args }: CallCommandProps) {
  const words = Object.keys(args).length === 0 ? [] : [JSON.stringify(args)];
  return (
    <details class="as-command">
      <summary class="small soft">As a command</summary>
      <CodeBlock text={joinCommand(['trunkline', 'call', name, ...words])} copyLabel="Copy the command" />
    </details>
  );
}
