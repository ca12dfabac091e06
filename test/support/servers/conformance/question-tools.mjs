import { number, object, string, text } from '../engine/schema.mjs';

const boolean = { type: 'boolean' };

/** Questions to the client: requests to legacy clients, `input_required` to modern ones. */
const elicit = (message, requestedSchema) => ({
  method: 'elicitation/create',
  params: { message, requestedSchema },
});
const sample = (prompt, maxTokens = 100) => ({
  method: 'sampling/createMessage',
  params: { messages: [{ role: 'user', content: { type: 'text', text: prompt } }], maxTokens },
});
const roots = { method: 'roots/list', params: {} };
const yourName = elicit('What is your name?', object({ name: string }));

export const askingTools = [
  tool('test_sampling', { prompt: string }, async ({ prompt }, call) => {
    const { answer } = await call.ask({ answer: sample(prompt) });
    return text(`LLM response: ${answer.content?.text}`);
  }),
  tool('test_elicitation', { message: string }, async ({ message }, call) => {
    const { answer } = await call.ask({
      answer: elicit(message, object({ username: string, email: string })),
    });
    return text(`User response: <action: ${answer.action}, content: ${JSON.stringify(answer.content)}>`);
  }),
  tool('test_elicitation_sep1034_defaults', {}, (_args, call) => filledIn(call, withDefaults())),
  tool('test_elicitation_sep1330_enums', {}, (_args, call) => filledIn(call, withEnums())),
  tool('test_streaming_elicitation', {}, asking({ user_name: yourName })),
  tool('test_missing_capability', {}, asking({ answer: sample('Is there anybody?') })),
  tool('test_input_required_result_elicitation', {}, async (_args, call) => {
    const { user_name: answer } = await call.ask({ user_name: yourName });
    return text(`Hello, ${answer.content?.name}!`);
  }),
  tool(
    'test_input_required_result_sampling',
    {},
    asking({ capital_question: sample('What is the capital of France?') }),
  ),
  tool('test_input_required_result_list_roots', {}, asking({ client_roots: roots })),
  tool('test_input_required_result_request_state', {}, confirming('state-ok')),
  tool('test_input_required_result_tampered_state', {}, confirming('The state came back as it was given.')),
  tool(
    'test_input_required_result_multiple_inputs',
    {},
    asking({ user_name: yourName, greeting: sample('Generate a greeting', 50), client_roots: roots }),
  ),
  tool('test_input_required_result_multi_round', {}, async (_args, call) => {
    const first = await call.ask({
      step1: elicit('Step 1: What is your name?', object({ name: string })),
    });
    const second = await call.ask({
      step2: elicit('Step 2: What is your favorite color?', object({ color: string })),
    });
    return text(JSON.stringify([first, second]));
  }),
  tool('test_input_required_result_capabilities', {}, whatTheClientCan),
];

export const askingPrompt = {
  name: 'test_input_required_result_prompt',
  description: 'Asks for the context that it is to use.',
  async get(_args, call) {
    const { user_context: answer } = await call.ask({
      user_context: elicit('What context should the prompt use?', object({ context: string })),
    });
    return {
      messages: [{ role: 'user', content: { type: 'text', text: `Use this: ${answer.content?.context}` } }],
    };
  },
};

function tool(name, parameters, call) {
  return { name, description: `Serves the scenario of ${name}.`, inputSchema: object(parameters), call };
}

function asking(questions) {
  return async (_args, call) => text(JSON.stringify(await call.ask(questions)));
}

function confirming(word) {
  return async (_args, call) => {
    await call.ask({ confirm: elicit('Please confirm', object({ ok: boolean })) });
    return text(word);
  };
}

async function filledIn(call, schema) {
  const { form } = await call.ask({ form: elicit('Please look through this form.', schema) });
  return text(`Elicitation completed: action=${form.action}, content=${JSON.stringify(form.content)}`);
}

/** Asks only questions that this client supports. If that is unknown before asking, a refusal counts as an answer. */
async function whatTheClientCan(_args, call) {
  const able = call.clientCapabilities() ?? {};
  const questions = {
    ...(able.elicitation !== undefined && { user_name: yourName }),
    ...(able.sampling !== undefined && { greeting: sample('Generate a greeting', 50) }),
  };
  if (call.era === 'modern') return text(JSON.stringify(await call.ask(questions)));
  const asked = Object.entries(questions).map(([key, question]) => call.ask({ [key]: question }));
  return text(JSON.stringify(await Promise.allSettled(asked)));
}

function withDefaults() {
  return object(
    {
      name: { ...string, default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { ...number, default: 95.5 },
      status: { ...string, enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { ...boolean, default: true },
    },
    ['name', 'age', 'score', 'status', 'verified'],
  );
}

function withEnums() {
  const plain = ['option1', 'option2', 'option3'];
  const titled = (kind) => [
    { const: 'value1', title: `First ${kind}` },
    { const: 'value2', title: `Second ${kind}` },
    { const: 'value3', title: `Third ${kind}` },
  ];
  return object(
    {
      untitledSingle: { ...string, enum: plain },
      titledSingle: { ...string, oneOf: titled('Option') },
      legacyEnum: {
        ...string,
        enum: ['opt1', 'opt2', 'opt3'],
        enumNames: ['Option One', 'Option Two', 'Option Three'],
      },
      untitledMulti: { type: 'array', items: { ...string, enum: plain } },
      titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
    },
    ['untitledSingle', 'titledSingle', 'legacyEnum', 'untitledMulti', 'titledMulti'],
  );
}
