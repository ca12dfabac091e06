import { expect, test } from 'vitest';

import { learningShapes } from '../../test/support/learning-shapes.ts';
import { memoryView } from '../../test/support/memory-view.ts';
import { Payload } from '../core/lib/payload.ts';
import { answerDescribeTools } from './answer-describe-tools.ts';

const view = memoryView(['read', 'other']);
const [read] = view.tools;

const textResult = (value: unknown): Payload =>
  Payload.of({ content: [{ type: 'text', text: JSON.stringify(value) }] });

test('describe_tools: says what results looked like, on a line of its own', async () => {
  const { shapes } = learningShapes();
  shapes.observe(
    read,
    textResult({
      items: [
        { id: 1, title: 'x' },
        { id: 2, title: 'y', state: 'z' },
      ],
      total: 2,
    }),
  );
  await shapes.flush();
  const { payload } = await answerDescribeTools({ names: ['files__read', 'files__other'] }, view, shapes);
  const { content } = payload.value as { content: { text: string }[] };
  const lines = content[0]?.text.split('\n') ?? [];
  expect(lines).toEqual([
    expect.stringContaining('"name":"files__read"'),
    'Returns (seen): {items: {id: number, title: string, state?: string}[], total: number}',
    expect.stringContaining('"name":"files__other"'),
  ]);
});

test('describe_tools: says at most 400 characters about results', async () => {
  const { shapes } = learningShapes();
  const record = (depth: number): object =>
    Object.fromEntries(
      ['id', 'title', 'items', 'user', 'total', 'url'].map((key) => [key, depth > 0 ? record(depth - 1) : 1]),
    );
  shapes.observe(read, textResult(record(1)));
  await shapes.flush();
  const { payload } = await answerDescribeTools({ names: ['files__read'] }, view, shapes);
  const line = /Returns \(seen\): (.*)"/.exec(payload.text)?.[1] ?? '';
  expect(line).toContain('…');
  expect(line.length).toBeLessThanOrEqual(400);
});
