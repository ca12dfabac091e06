#!/usr/bin/env node
// Sends each caller its own progress, log messages and questions, all at the same time, each with
// the name of the caller. Any caller can change its resources; subscribers are notified.
import { serve } from './engine/engine.mjs';
import { note } from './engine/note.mjs';
import { integer, object, string, text } from './engine/schema.mjs';

const questions = (who) => ({
  form: {
    method: 'elicitation/create',
    params: { mode: 'form', message: `for ${who}`, requestedSchema: object({ name: string }) },
  },
  model: {
    method: 'sampling/createMessage',
    params: { messages: [{ role: 'user', content: { type: 'text', text: `for ${who}` } }], maxTokens: 5 },
  },
  roots: { method: 'roots/list' },
});

const news = (at) => ({
  uri: `news:///${at}`,
  name: `news ${at}`,
  read: () => ({ contents: [{ uri: `news:///${at}`, text: `news ${at}` }] }),
});

await serve({
  name: 'talks-to-all',
  tools: [
    {
      name: 'talk',
      description: 'Reports and logs in steps with pauses, and says for whom.',
      inputSchema: object({ who: string, steps: integer }),
      async call({ who, steps }, call) {
        for (let step = 1; step <= steps; step += 1) {
          call.progress(step, steps, `for ${who}`);
          call.log('info', { for: who, step }, 'talks-to-all');
          // Interleaves the messages of different calls.
          await call.pause(1 + ((who.length + step) % 3));
        }
        return text(`for ${who}`);
      },
    },
    {
      name: 'ask',
      description: 'Asks everything at once, and says for whom.',
      inputSchema: object({ who: string }),
      async call({ who }, call) {
        return text(JSON.stringify({ who, answers: await call.ask(questions(who)) }));
      },
    },
    {
      name: 'wait',
      description: 'Never answers; only a cancellation ends it.',
      inputSchema: object({ who: string }),
      async call({ who }, call) {
        await call.pause(600_000).catch(() => note('gave-up', { who }));
        return text('never');
      },
    },
    {
      name: 'touch',
      description: 'Tells of an update.',
      inputSchema: object({ uri: string }),
      call({ uri }, { server }) {
        server.updated(uri);
        return text('touched');
      },
    },
  ],
  resources: Array.from({ length: 10 }, (_, at) => news(at)),
});
