import { useEffect, useRef, useState } from 'preact/hooks';

import type { AdminQuestion, AdminToolDetail } from '../../../../../src/admin/contract/contract.ts';
import { callTool, type ToolCallResult } from '../../../api/call-tool.ts';
import { toProblem, type Problem } from '../../../api/problem.ts';
import { Button } from '../../../components/button.tsx';
import { CodeBlock } from '../../../components/data/code-block.tsx';
import { SchemaForm } from '../../../components/form/schema-form.tsx';
import { ProblemNote } from '../../../components/page/problem-note.tsx';
import { joinCommand } from '../../../lib/command-line.ts';
import { escapeInvisible } from '../../../lib/escape-invisible.ts';
import { initialValue, missingFields } from '../../../lib/form-value.ts';
import { useStore } from '../../../store/use-store.ts';
import { ResultView } from '../result/result-view.tsx';
import { QuestionForm } from './question-form.tsx';

type JsonObject = Readonly<Record<string, unknown>>;

interface TryToolProps {
  readonly tool: AdminToolDetail;
  readonly schema: JsonObject;
}

/** A form for the arguments of a tool, with the result of the call. */
export function TryTool({ tool, schema }: TryToolProps) {
  const [args, setArgs] = useState<JsonObject>(() => initialValue(schema));
  const { running, outcome, call, removeQuestion } = useToolCall(tool);
  const resultBox = useRef<HTMLDivElement>(null);
  const missing = missingFields(schema, args);
  const question = running?.questions[0];
  const result = outcome?.result;
  useEffect(() => {
    if (result !== undefined) resultBox.current?.scrollIntoView({ block: 'nearest' });
  }, [result]);
  return (
    <div class="try">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (running === undefined && missing.length === 0) void call(args);
        }}
      >
        <SchemaForm schema={schema} value={args} onChange={setArgs} />
        <div class="actions">
          <Button kind="main" type="submit" isDisabled={running !== undefined || missing.length > 0}>
            Call
          </Button>
          {running !== undefined && <Button onPress={() => running.controller.abort()}>Cancel</Button>}
          <p class="small soft" role="status">
            {escapeInvisible(running?.message ?? idleMessage(missing, outcome?.isCancelled === true))}
          </p>
          {running?.share !== undefined && <progress aria-label="Progress" value={running.share} />}
        </div>
        <CallCommand name={tool.name} args={args} />
      </form>
      <div ref={resultBox} class="try-result">
        {outcome?.problem !== undefined && <ProblemNote problem={outcome.problem} />}
        {result !== undefined && <ResultView call={result} />}
      </div>
      {question !== undefined && (
        <QuestionForm
          key={question.id}
          server={tool.server}
          question={question}
          onAnswered={() => removeQuestion(question.id)}
        />
      )}
    </div>
  );
}

function idleMessage(missing: readonly string[], isCancelled: boolean): string {
  if (missing.length > 0) return `Missing: ${missing.join(', ')}`;
  return isCancelled ? 'Cancelled. Changes that the tool already made are not undone.' : '';
}

interface RunningCall {
  readonly controller: AbortController;
  readonly message: string;
  /** The completed share from 0 to 1, if the tool reports it. */
  readonly share: number | undefined;
  /** The questions of the server that are not answered yet. The first one is shown. */
  readonly questions: readonly AdminQuestion[];
}

interface CallOutcome {
  readonly result?: ToolCallResult;
  readonly problem?: Problem;
  readonly isCancelled?: boolean;
}

function useToolCall(tool: AdminToolDetail) {
  const { api, notices } = useStore();
  const [running, setRunning] = useState<RunningCall>();
  const [outcome, setOutcome] = useState<CallOutcome>();
  const latest = useRef<AbortController>(undefined);
  // Cancels the call when the page is left, because no one could answer its questions.
  useEffect(() => () => latest.current?.abort(), []);
  const update = (change: (call: RunningCall) => Partial<RunningCall>): void =>
    setRunning((call) => call && { ...call, ...change(call) });
  const confirm = async (): Promise<boolean> =>
    tool.tier !== 'destructive' ||
    notices.confirm({
      title: `Call ${tool.name}?`,
      text: 'The tool is destructive: it may delete or change data irreversibly.',
      action: 'Call',
      isDangerous: true,
    });
  const call = async (args: JsonObject): Promise<void> => {
    if (!(await confirm())) return;
    const controller = new AbortController();
    const { signal } = controller;
    latest.current = controller;
    setRunning({ controller, message: 'Calling', share: undefined, questions: [] });
    setOutcome(undefined);
    try {
      const result = await callTool(
        api,
        { name: tool.name, args, asks: true },
        {
          signal,
          onEvent({ event, data }) {
            if (event === 'question') update(({ questions }) => ({ questions: [...questions, data] }));
            else if (event === 'progress') update(() => parseProgress(data));
            else if (typeof data['data'] === 'string') update(() => ({ message: String(data['data']) }));
          },
        },
      );
      setOutcome({ result });
    } catch (error) {
      setOutcome(signal.aborted ? { isCancelled: true } : { problem: toProblem(error) });
    } finally {
      setRunning(undefined);
    }
  };
  const removeQuestion = (id: string): void =>
    update(({ questions }) => ({
      questions: questions.filter((question) => question.id !== id),
      message: 'Answered',
    }));
  return { running, outcome, call, removeQuestion };
}

function parseProgress({ progress, total, message }: JsonObject): Pick<RunningCall, 'message' | 'share'> {
  const hasTotal = typeof progress === 'number' && typeof total === 'number' && total > 0;
  const share = hasTotal ? Math.min(1, Math.max(0, progress / total)) : undefined;
  const text = share === undefined ? String(progress) : `${Math.round(100 * share)} %`;
  return { share, message: typeof message === 'string' ? `${text} · ${message}` : text };
}

/** Shows the command line for the same call. */
function CallCommand({ name, args }: { readonly name: string; readonly args: JsonObject }) {
  const argsWords = Object.keys(args).length === 0 ? [] : [JSON.stringify(args)];
  return (
    <details class="call-command">
      <summary class="small soft">As a command</summary>
      <CodeBlock text={joinCommand(['trunkline', 'call', name, ...argsWords])} copyLabel="Copy the command" />
    </details>
  );
}
