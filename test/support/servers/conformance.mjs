#!/usr/bin/env node
// The tools, prompts and resources that the scenarios of the official conformance suite expect.
import { serve } from './engine/engine.mjs';
import { object, string, text } from './engine/schema.mjs';
import { askingPrompt, askingTools } from './conformance/question-tools.mjs';
import { png, wav } from './conformance/media.mjs';

const picture = { type: 'image', data: png, mimeType: 'image/png' };

const answering = [
  tool('test_simple_text', () => text('This is a simple text response for testing.')),
  tool('test_image_content', () => ({ content: [picture] })),
  tool('test_audio_content', () => ({ content: [{ type: 'audio', data: wav, mimeType: 'audio/wav' }] })),
  tool('test_embedded_resource', () => ({
    content: [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  })),
  tool('test_multiple_content_types', () => ({
    content: [
      { type: 'text', text: 'Multiple content types test:' },
      picture,
      embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
    ],
  })),
  tool('test_error_handling', () => {
    throw new Error('This tool intentionally returns an error for testing');
  }),
  {
    name: 'test_headers',
    description: 'Has a parameter that modern clients mirror into a header.',
    inputSchema: object({ region: { ...string, 'x-mcp-header': 'Region' } }),
    call: ({ region }) => text(region),
  },
  {
    name: 'json_schema_2020_12_tool',
    description: 'Has a schema with keywords that only an exact copy keeps.',
    inputSchema: schema2020(),
    call: (args) => text(JSON.stringify(args)),
  },
];

const talking = [
  tool('test_tool_with_logging', async (_args, call) => {
    for (const line of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
      call.log('info', line);
      await call.pause(50);
    }
    return text('Logged three lines.');
  }),
  tool('test_logging_tool', (_args, call) => {
    call.log('info', 'A line that only who asked for it may see.');
    return text('Logged one line.');
  }),
  tool('test_tool_with_progress', async (_args, call) => {
    for (const progress of [0, 50, 100]) {
      call.progress(progress, 100);
      await call.pause(50);
    }
    return text('Went all the way.');
  }),
  tool('test_trigger_tool_change', (_args, { server }) => {
    server.tools.push(tool(`test_added_${server.tools.length}`, () => text('Came later.')));
    server.changed('tools');
    return text('There is one more tool.');
  }),
  tool('test_trigger_prompt_change', (_args, { server }) => {
    server.prompts.push(prompt(`test_added_${server.prompts.length}`, [], () => [said('Came later.')]));
    server.changed('prompts');
    return text('There is one more prompt.');
  }),
];

await serve({
  name: 'conformance',
  checksHost: true,
  title: 'Conformance',
  instructions: 'A server that the scenarios of the conformance suite know.',
  tools: [...answering, ...talking, ...askingTools],
  prompts: [
    prompt('test_simple_prompt', [], () => [said('This is a simple prompt for testing.')]),
    {
      ...prompt('test_prompt_with_arguments', ['arg1', 'arg2'], ({ arg1, arg2 }) => [
        said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
      ]),
      complete: ({ value }) => ['paris', 'park', 'party'].filter((word) => word.startsWith(value)),
    },
    prompt('test_prompt_with_embedded_resource', ['resourceUri'], ({ resourceUri }) => [
      {
        role: 'user',
        content: embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      },
      said('Please process the embedded resource above.'),
    ]),
    prompt('test_prompt_with_image', [], () => [
      { role: 'user', content: picture },
      said('Please analyze the image above.'),
    ]),
    askingPrompt,
  ],
  resources: [
    resource('static-text', 'text/plain', { text: 'This is the content of the static text resource.' }),
    resource('static-binary', 'image/png', { blob: png }),
    resource('watched-resource', 'text/plain', { text: 'Somebody may watch this.' }),
  ],
  templates: [
    {
      uriTemplate: 'test://template/{id}/data',
      name: 'template',
      description: 'Data by its id.',
      mimeType: 'application/json',
      read(uri) {
        const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
        if (id === undefined) return undefined;
        const data = { id, templateTest: true, data: `Data for ID: ${id}` };
        return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(data) }] };
      },
    },
  ],
});

function tool(name, call) {
  return { name, description: `Serves the scenario of ${name}.`, inputSchema: object(), call };
}

function prompt(name, parameters, messages) {
  return {
    name,
    description: `Serves the scenario of ${name}.`,
    arguments: parameters.map((parameter) => ({ name: parameter, required: true })),
    get: (args) => ({ messages: messages(args) }),
  };
}

function resource(name, mimeType, content) {
  const uri = `test://${name}`;
  return {
    uri,
    name,
    description: `Serves the scenario of ${name}.`,
    mimeType,
    read: () => ({ contents: [{ uri, mimeType, ...content }] }),
  };
}

function said(words) {
  return { role: 'user', content: { type: 'text', text: words } };
}

function embedded(uri, mimeType, content) {
  return { type: 'resource', resource: { uri, mimeType, text: content } };
}

function schema2020() {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    $defs: {
      address: {
        $anchor: 'addressDef',
        type: 'object',
        properties: { street: string, city: string },
      },
    },
    properties: {
      name: string,
      address: { $ref: '#/$defs/address' },
      contactMethod: { type: 'string', enum: ['phone', 'email'] },
      phone: string,
      email: string,
    },
    allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
    // As text, because an object literal with `then` looks like a promise.
    ...JSON.parse(`{
      "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
      "then": { "required": ["phone"] },
      "else": { "required": ["email"] }
    }`),
    additionalProperties: false,
  };
}
