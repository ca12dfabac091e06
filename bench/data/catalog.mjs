// The catalog of our own: 2,000 tools of 90 invented servers, the same on every machine.
//
//   const servers = generateCatalog();   // [{ name, server, version, tools, concepts }]
//
// Servers differ as real ones do: in how they name tools, how much they write, how deep their schemas are and what they leave out. The
// sizes follow the 2,037 tools of 94 public servers that we have measured (o200k tokens of a definition; catalog.test.mjs holds ours to it):
//
//                      p10   p25   median   p75   p90    p99      max    all
//   public catalog      70   117      200   352   673  2,123   17,295   691k
//   this catalog        82   131      192   293   616  2,028   10,526   603k

import { createRandom } from './random.mjs';
import { writeDescription } from './descriptions.mjs';
import { fieldStyle, inputSchema, outputSchema } from './schemas.mjs';
import { titleCase, toolName } from './names.mjs';
import { readVocabulary } from './vocabulary.mjs';

/** `concepts` says what each tool is for, whatever it is called: `tracker/ticket.create`. Requests name the tools that they expect by it. */
export function generateCatalog() {
  const vocabulary = readVocabulary();
  const servers = [
    ...vocabulary.servers.map((server) => generateServer(server, vocabulary)),
    ...vocabulary.foreignServers.map(foreignServer),
  ];
  return servers.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

function generateServer(server, vocabulary) {
  const random = createRandom(server.name);
  const planned = nameTools(server, chooseTools(server, vocabulary, random), random);
  const style = { ...fieldStyle(server, random, vocabulary), isThirdPerson: random.chance(0.5) };
  const tools = planned.map((tool) =>
    // Each tool has random numbers of its own: a change of one does not change the others.
    defineTool(tool, {
      server,
      style,
      siblings: planned,
      vocabulary,
      random: createRandom(`${server.name}/${tool.name}`),
    }),
  );
  return {
    name: server.name,
    server: server.name,
    version: `${1 + Math.floor(random.next() * 4)}.${Math.floor(random.next() * 20)}.0`,
    tools,
    concepts: Object.fromEntries(planned.map(({ name, concept }) => [name, concept])),
  };
}

/** As many tools as the server has, in the order of its domains; things and actions that stand first are more likely to be among them. */
function chooseTools({ name, parts, count }, { domains, actions }, random) {
  const candidates = parts.flatMap(([key, only]) => {
    const domain = domains.get(key);
    return domain.things
      .filter((thing) => only === undefined || thing.key === only)
      .flatMap((thing, place) =>
        thing.actions.map((action, rank) => ({
          domain,
          thing,
          action: actions.get(action),
          concept: `${key}/${thing.key}.${action}`,
          weight: random.next() + place * 0.06 + rank * 0.05,
        })),
      );
  });
  if (candidates.length < count) throw new Error(`${name} has ${candidates.length} of ${count} tools.`);
  const limit = candidates.map(({ weight }) => weight).toSorted((one, other) => one - other)[count - 1];
  return candidates.filter(({ weight }) => weight <= limit);
}

/** A server sticks to one verb for an action, unless that name is taken. */
function nameTools(server, tools, random) {
  const verbs = new Map();
  const taken = new Set();
  return tools.map((tool) => {
    const { key, verbs: all } = tool.action;
    if (!verbs.has(key)) verbs.set(key, random.chance(0.6) ? all[0] : random.pick(all));
    const options = [verbs.get(key), ...all, key].map((verb) => toolName(server, verb, tool));
    const name = options.find((option) => !taken.has(option)) ?? `${options[0]}_${tool.domain.key}`;
    taken.add(name);
    return { ...tool, name };
  });
}

function defineTool(tool, context) {
  const { server, style, random } = context;
  const { name, thing, action } = tool;
  const title = titleCase(`${action.verbs[0].replaceAll('_', ' ')} ${thing.one}`);
  const input = inputSchema(tool, context);
  const definition = { name };
  if (server.extras.has('title')) definition.title = title;
  const description = writeDescription(tool, { ...context, input });
  if (description !== undefined) definition.description = description;
  definition.inputSchema = input;
  if (server.extras.has('output')) definition.outputSchema = outputSchema(tool, context);
  if (server.extras.has('hints')) definition.annotations = hintsOf(action, title, style, random);
  if (server.extras.has('tasks')) definition.execution = { taskSupport: 'forbidden' };
  if (server.extras.has('meta'))
    definition._meta = { [`example.${server.name.split('-')[0]}/group`]: thing.key };
  return definition;
}

function hintsOf({ kind }, title, { hintKeys }, random) {
  const hints = { title, readOnlyHint: kind === 'read', destructiveHint: kind === 'destroy' };
  if (hintKeys === 'all')
    return { ...hints, idempotentHint: kind !== 'write', openWorldHint: random.chance(0.7) };
  if (hintKeys === 'few') return { readOnlyHint: kind === 'read' };
  return hints;
}

function foreignServer({ name, tools }) {
  return {
    name,
    server: name,
    version: '1.0.0',
    tools: tools.map(({ name: tool, description, parameters }) => ({
      name: tool,
      description,
      inputSchema: {
        type: 'object',
        properties: Object.fromEntries(
          parameters.map(([key, text]) => [key, { type: 'string', description: text }]),
        ),
        required: [parameters[0][0]],
      },
    })),
    concepts: Object.fromEntries(tools.map(({ name: tool }) => [tool, `${name}/${tool}`])),
  };
}
