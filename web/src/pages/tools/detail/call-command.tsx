import { CodeBlock } from '../../../components/data/code-block.tsx';
import { joinCommand } from '../../../lib/command-line.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Shows the command line for the same call. */
export function CallCommand({ name, args }: { readonly name: string; readonly args: JsonObject }) {
  const argsWords = Object.keys(args).length === 0 ? [] : [JSON.stringify(args)];
  return (
    <details class="call-command">
      <summary class="small soft">As a command</summary>
      <CodeBlock text={joinCommand(['trunkline', 'call', name, ...argsWords])} copyLabel="Copy the command" />
    </details>
  );
}
