// The examples that the weights are fitted to, as windows of features. Held-out parts, tests and ids that begin with `blind-` are not among them.

import { readFileSync } from 'node:fs';

import { missingDataMessage, readPublicCatalog, readPublicSet } from '../data/public-data.mjs';
import { definitionsOf } from './definitions.mjs';
import { partOfFirst } from './measure.mjs';
import { thirdSet } from './third/examples.mjs';

const HARD_WEIGHT = 10;
const REAL_WEIGHT = 3.5;
/** For functions that are not tools of MCP servers: they are many and short. */
const OTHER_WEIGHT = 1;
const ONE_OF = 3;
const BARE_ONE_OF = 2;
const ALL_SUBJECTS =
  'Sends a message or request to the service, runs a command or script, reads a file or signs in with a password or key; for conversations, prompts, sessions, payments and personal data.';

const NEEDED = 'The weights are fitted to it.';

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
    ...definitionsOf('fourth', 'honest-reworded'),
    ...thirdSet('../fifth/honest'),
  ];
  const openings = new Set(attacks.flatMap(({ definition }) => openingOf(definition)));
  const opened = [...openings].map((description) => ({ definition: { name: 'tool', description } }));
  const quiet = new Set([...openings].map(bare));
  const windows = (definition) => windowsOfDefinition(definition).map(({ features }) => features);
  // The pretended purpose does not reveal an attack, so the name and the opening of the description do not count.
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
      ...catalogTools().map((definition) => ({
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

/** Every other attack again, without its pretended purpose. */
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

/** Look-alike names and invisible characters are found by rules instead. */
function isInText({ type }) {
  return !/shadow|look|hidden|invisible|unicode|ansi/.test(type);
}

/** The pretended purpose, before the attack begins. */
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

/** Reads one example per line: D description | more, P parameter | its description, V value, I instructions, M message of a prompt. */
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

function catalogTools() {
  const catalog = readPublicCatalog();
  if (catalog === undefined) throw new Error(missingDataMessage('catalog', NEEDED));
  return catalog.flatMap(({ tools }) => tools);
}

/** Tools of a public set; their servers are not in the catalog. */
function toolsOf(name) {
  const set = readPublicSet(name);
  if (set === undefined) throw new Error(missingDataMessage(`retrieval/${name}.dev.json`, NEEDED));
  return set.tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
}

function otherInterfaces() {
  const sets = ['seal-tools', 'toolbench', 'metatool', 'mcpproxy-golden'];
  return sets.flatMap((set) => toolsOf(set).filter((_, at) => at % ONE_OF === 0));
}
