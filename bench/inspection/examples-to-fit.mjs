// The examples that weights are fitted to, as windows of features. Nothing of the second set's held-out, of the third's test or `blind-` is in here.

import { readFileSync, readdirSync } from 'node:fs';

import { definitionsOf } from './definitions.mjs';
import { partOfFirst } from './measure.mjs';
import { thirdSet } from './third/examples.mjs';

const HARD_WEIGHT = 10;
const REAL_WEIGHT = 3.5;
/** Descriptions of interfaces that are no tools of MCP servers: many and short. */
const OTHER_WEIGHT = 1;
const ONE_OF = 3;
const BARE_ONE_OF = 2;
const ALL_SUBJECTS =
  'Sends a message or request to the service, runs a command or script, reads a file or signs in with a password or key; for conversations, prompts, sessions, payments and personal data.';

const read = (file) => readFileSync(new URL(file, import.meta.url), 'utf8');
const json = (file) => JSON.parse(read(file));

export function examplesToFit({ windowsOfDefinition }) {
  const first = (file) => json(file).filter(({ id }) => partOfFirst(id) !== 'blind');
  const attacks = [
    ...json('second/attacks-dev.json').filter(isInText),
    ...json('second/attacks-validation.json').filter(isInText),
    ...first('attacks.json').filter(isInText),
    ...written('written/attacks.txt', false),
    ...thirdSet('attacks-train').filter(isInText),
    ...withoutOpening(thirdSet('attacks-train')),
    ...thirdSet('attacks-validation').filter(isInText),
    ...definitionsOf('fourth', 'attacks').filter(({ type }) => type !== 'encoded'),
    ...thirdSet('../fifth/attacks'),
  ];
  const honest = [
    ...json('second/benign-dev.json'),
    ...json('second/benign-validation.json'),
    ...first('benign.json'),
    ...written('written/honest.txt', true),
    ...thirdSet('honest-train'),
    ...thirdSet('honest-validation'),
    ...definitionsOf('fourth', 'honest'),
    ...thirdSet('../fifth/honest'),
  ];
  const openings = new Set(attacks.flatMap(({ definition }) => openingOf(definition)));
  const opened = [...openings].map((description) => ({ definition: { name: 'tool', description } }));
  const quiet = new Set([...openings].map(bare));
  const windows = (definition) => windowsOfDefinition(definition).map(({ features }) => features);
  // What an attack pretends to be is no sign of it: neither its name nor how its description begins.
  const loud = (definition) => {
    const all = windowsOfDefinition(definition);
    const rest = all.filter(
      ({ where, text }) => where !== 'name' && !quiet.has(bare(text)) && text.length > 8,
    );
    const kept = rest.length > 0 ? rest : all;
    const counted = kept.filter(({ isOfTwo }) => !isOfTwo);
    return {
      windows: kept.map(({ features }) => features),
      counted: counted.map(({ features }) => features),
    };
  };
  return {
    attacks: attacks.map(({ definition }) => loud(definition)),
    honest: [...honest, ...opened].map(({ definition }) => ({
      windows: windows(definition),
      weight: HARD_WEIGHT,
    })),
    real: [
      ...catalog().map((definition) => ({
        windows: windows(definition),
        weight: REAL_WEIGHT,
        counts: true,
      })),
      ...toolsOf('livemcp-agent').map((definition) => ({
        windows: windows(definition),
        weight: REAL_WEIGHT,
        counts: false,
      })),
      ...otherInterfaces().map((definition) => ({
        windows: windows(definition),
        weight: OTHER_WEIGHT,
        counts: false,
      })),
    ],
  };
}

/** Some attacks once more as they are when they do not pretend to be a tool first. */
function withoutOpening(examples) {
  const said = examples.filter(
    ({ definition, type }) => definition.description?.includes('. ') && type !== 'hidden',
  );
  return said
    .filter((_, at) => at % BARE_ONE_OF === 0)
    .map(({ definition: { name, description }, ...rest }) => ({
      ...rest,
      definition: { name, description: description.slice(description.indexOf('. ') + 2) },
    }));
}

/** Names and characters that do not show are found by other means. */
function isInText({ type }) {
  return !/shadow|look|hidden|invisible|unicode|ansi/.test(type);
}

/** What the tool pretends to do, before the attack begins. */
function openingOf({ description }) {
  if (typeof description !== 'string') return [];
  const opening =
    /^(.{4,70}?[.。!])\s*(?=\S)/u.exec(description)?.[1] ?? (description.length < 40 ? description : '');
  return opening === '' || /\b(?:you|must|before|assistant|ignore|always|whatever)\b/i.test(opening)
    ? []
    : [opening];
}

function bare(text) {
  return text
    .toLowerCase()
    .replace(/[.。!]$/u, '')
    .trim();
}

/** One example per line: D description | more, P parameter | its description, V a value, I instructions, M a message of a prompt. */
function written(file, isHonest) {
  const lines = read(file)
    .split('\n')
    .filter((line) => line !== '');
  return lines.map((line) => {
    const rest = line.slice(2);
    const [one, other = ''] = rest.split('|').map((part) => part.trim());
    return { type: 'written', definition: { ...shapeOf(line[0], rest, one, other, isHonest) } };
  });
}

function shapeOf(kind, rest, one, other, isHonest) {
  const description = isHonest ? ALL_SUBJECTS : 'Does something small.';
  const property = (name, schema) => ({
    name: 'tool',
    description,
    inputSchema: { type: 'object', properties: { [name]: schema } },
  });
  if (kind === 'P') return property(one, { type: 'string', ...(other === '' ? {} : { description: other }) });
  if (kind === 'V') return property('mode', { type: 'string', enum: ['other', JSON.parse(rest)] });
  if (kind === 'I') return { instructions: rest };
  if (kind === 'M')
    return {
      name: 'prompt',
      description: 'A prompt',
      messages: [{ role: 'user', content: { type: 'text', text: rest } }],
    };
  return { name: 'tool', description: `${one} ${other}` };
}

function catalog() {
  const folder = new URL('../catalog/', import.meta.url);
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.toSorted().flatMap((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')).tools);
}

/** Real tools of other servers than those of the catalog. */
function toolsOf(set) {
  const { tools } = json(`../retrieval/shared/${set}.dev.json`);
  return tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

function otherInterfaces() {
  const sets = ['seal-tools', 'toolbench', 'metatool', 'mcpproxy-golden'];
  return sets.flatMap((set) => toolsOf(set).filter((_, at) => at % ONE_OF === 0));
}
