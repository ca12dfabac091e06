import { useEffect, useRef, useState } from 'preact/hooks';

import type { AdminQuestion, AdminToolDetail } from '../../../../../src/admin/contract/contract.ts';
import { callTool, type ToolCallResult } from '../../../api/call-tool.ts';
import { toProblem, type Problem } from '../../../api/problem.ts';
import { useStore } from '../../../store/use-store.ts';

type JsonObject = Readonly<Record<string, unknown>>;

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

/** Calls a tool after a confirmation if it is destructive, and follows the call until it ends. */
export function useToolCall(tool: AdminToolDetail) {
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
