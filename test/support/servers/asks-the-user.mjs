#!/usr/bin/env node
// Tools that need an answer of the client during the call: requests to legacy clients, `input_required` to modern ones.
import { randomUUID } from 'node:crypto';

import { serve } from './engine/engine.mjs';
import { object, string, text } from './engine/schema.mjs';

const elicit = (message, key = 'name') => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema: object({ [key]: string }) },
});
const visit = (era) => ({
  method: 'elicitation/create',
  params: {
    mode: 'url',
    message: 'Please look at this page.',
    url: 'https://example.com/consent',
    ...(era === 'legacy' && { elicitationId: randomUUID() }),
  },
});
const sample = {
  method: 'sampling/createMessage',
  params: {
    messages: [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }],
    maxTokens: 20,
  },
};
const roots = { method: 'roots/list' };

const asking = (name, description, questions) => ({
  name,
  description,
  inputSchema: object({ mark: string }, ['mark']),
  async call({ mark = '' }, call) {
    const answers = [];
    for (const round of questions)
      answers.push(await call.ask(typeof round === 'function' ? round(call.era) : round));
    return text(JSON.stringify({ mark, answers }));
  },
});

await serve({
  name: 'asks-the-user',
  tools: [
    asking('ask-form', 'Asks for a name.', [{ name: elicit('What is your name?') }]),
    asking('ask-url', 'Asks to visit a page.', [(era) => ({ page: visit(era) })]),
    asking('ask-model', 'Asks the model of the client.', [{ capital: sample }]),
    asking('ask-roots', 'Asks for the roots.', [{ roots }]),
    asking('ask-all', 'Asks everything at once.', [{ name: elicit('Your name?'), capital: sample, roots }]),
    asking('ask-twice', 'Asks, and asks again.', [
      { name: elicit('Your name?') },
      { town: elicit('Your town?', 'town') },
    ]),
    {
      name: 'ask-later',
      description: 'Answers at once and asks afterwards, when the question belongs to no call.',
      inputSchema: object(),
      call(_args, { link }) {
        setTimeout(
          () => void link.ask('elicitation/create', elicit('Are you still there?').params).catch(() => {}),
          50,
        );
        return text('wait for it');
      },
    },
  ],
});
