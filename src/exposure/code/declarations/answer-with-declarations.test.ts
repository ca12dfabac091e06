import { transform } from 'sucrase';
import { describe, expect, test } from 'vitest';

import { learningShapes } from '../../../../test/support/learning-shapes.ts';
import { memoryView } from '../../../../test/support/memory-view.ts';
import type { CatalogView } from '../../../gateway/catalog-view.ts';
import type { ToolEntry } from '../../../core/entry.ts';
import type { ExposedName, Fingerprint, UpstreamName } from '../../../core/ids.ts';
import { Payload } from '../../../core/lib/payload.ts';
import type { LearnedShapes } from '../../results/learned-shapes.ts';
import { answerWithDeclarations } from './answer-with-declarations.ts';

function entry(server: string, name: string, definition: object): ToolEntry {
  const fingerprint = 'x' as Fingerprint;
  const exposed = `${server}__${name}`.replaceAll(/[^\w-]/g, '_') as ExposedName;
  return {
    kind: 'tool',
    upstream: server as UpstreamName,
    name: exposed,
    fingerprint,
    definition: { name, ...definition },
  };
}

const tools = [
  entry('github', 'create_issue', {
    description: 'Opens an issue.\nIn one repository.',
    inputSchema: { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] },
    outputSchema: { type: 'object', properties: { number: { type: 'integer' } }, required: ['number'] },
  }),
  entry('github', 'get_me', {
    description: 'Who am I.',
    inputSchema: { type: 'object' },
    annotations: { readOnlyHint: true },
  }),
  entry('my-server', 'odd name', { description: '*/ }; evil(); /*' }),
];
const view: CatalogView = memoryView([], {
  tools,
  servers: [{ name: 'github' as UpstreamName }, { name: 'my-server' as UpstreamName }],
  tool: (name) => tools.find((tool) => tool.name === name),
});

async function says(names: unknown, learned?: LearnedShapes): Promise<string> {
  const { content } = (await answerWithDeclarations({ names }, view, learned)).value as {
    content: readonly { text: string }[];
  };
  return content[0]?.text ?? '';
}

describe('describe_tools in the code exposure', () => {
  test('describe_tools (code): declares tools by server with descriptions and tiers', async () => {
    expect(await says(['github__create_issue', 'github__get_me'])).toBe(`declare const tools: {
  github: {
    /**
     * Opens an issue.
     * In one repository.
     * [write]
     */
    create_issue(args: {
      title: string;
    }): Promise<{
      number: number;
    }>;
    /** Who am I. [read] */
    get_me(args?: Record<string, any>): Promise<any>;
  };
};`);
  });

  test('describe_tools (code): returns the type that results had, as valid TypeScript, for tools without an output schema', async () => {
    const { shapes } = learningShapes();
    for (const result of [{ user: { 'first-name': 'Ada', ada: 1 }, items: [] }, { items: [{ id: 1 }, 'x'] }])
      for (const entry of tools)
        shapes.observe(entry, Payload.of({ content: [], structuredContent: result }));
    await shapes.flush();
    const text = await says(['github__create_issue', 'github__get_me'], shapes);
    expect(text).toContain(
      `/** Who am I. [read] Return type as seen in results, not promised. */
    get_me(args?: Record<string, any>): Promise<{user?: {"first-name": string, [key: string]: any}, items: (string | {id: number})[]}>;`,
    );
    expect(text).toContain('}): Promise<{\n      number: number;\n    }>;');
    expect(transform(text, { transforms: ['typescript'] }).code.trim()).toBe('');
  });

  test('describe_tools (code): accepts every notation of a tool name', async () => {
    const names = [['github__get_me'], ['github.get_me'], ['tools.github.get_me'], 'github__get_me'];
    const all = await Promise.all(names.map((name) => says(name)));
    expect(new Set(all).size).toBe(1);
    expect(await says(['my_server.odd_name'])).toContain('"odd name"(args');
  });

  test('describe_tools (code): reports unknown names and fails when none is known', async () => {
    expect(await says(['github__get_me', 'github__create_isue'])).toContain(
      '// github__create_isue: Unknown tool. Did you mean "github__create_issue"?\ndeclare const tools',
    );
    expect((await answerWithDeclarations({ names: ['x\n\u2028y'] }, view)).value).toMatchObject({
      isError: true,
      content: [{ text: '// x y: Unknown tool.' }],
    });
    await expect(answerWithDeclarations({ names: [] }, view)).rejects.toThrow('1 to 10');
  });

  test('describe_tools (code): yields valid TypeScript for a hostile description', async () => {
    const text = await says(['my-server__odd_name']);
    expect(transform(text, { transforms: ['typescript'] }).code.trim()).toBe('');
  });
});
