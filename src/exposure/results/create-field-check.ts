import { isJsonObject } from '../../core/json.ts';
import type { ToolDefinition } from '../../core/entry.ts';

/** Longer descriptions and more parameters than these are not read. */
const MAX_DESCRIPTION = 5_000;
const MAX_PARAMETERS = 100;

/**
 * Returns a function that decides whether a key of a result is the name of a field. A key can be data instead, such as the name of a user
 * or a project, and other callers must not see it. A name is known to all callers: its last word is common in names of fields, or it occurs
 * in the definition of the tool. A key with digits must occur as a whole.
 */
export function createFieldCheck(definition: ToolDefinition): (key: string) => boolean {
  const { name, description, inputSchema } = definition;
  const properties = isJsonObject(inputSchema) ? inputSchema['properties'] : undefined;
  const texts = [name, typeof description === 'string' ? description.slice(0, MAX_DESCRIPTION) : ''];
  let parameters = 0;
  for (const key in isJsonObject(properties) ? properties : {}) {
    texts.push(key);
    if ((parameters += 1) === MAX_PARAMETERS) break;
  }
  const own = new Set(texts.flatMap((text) => [...wholeWords(text), ...wordsOf(text)]).map(singular));
  const isKnown = (word: string): boolean => FIELD_WORDS.has(singular(word)) || own.has(singular(word));
  const known = new Map<string, boolean>();
  return (key) => {
    let isField = known.get(key);
    if (isField === undefined) {
      isField = isKnown(key.toLowerCase()) || (!/[\p{N}.]/u.test(key) && isKnown(wordsOf(key).at(-1) ?? ''));
      known.set(key, isField);
    }
    return isField;
  };
}

function wholeWords(text: string): readonly string[] {
  return (text.toLowerCase().match(/[\p{L}\p{N}_$-]+/gu) ?? []).filter((word) => /\p{L}/u.test(word));
}

/** Splits a name or a text into words: `htmlURL` and `html_url` have two. */
function wordsOf(text: string): readonly string[] {
  const words = text.split(/[^\p{L}]+|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u);
  return words.map((word) => word.toLowerCase()).filter((word) => word.length > 1);
}

function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word;
}

/** Words with which names of fields end. None of them says anything about a person, a project or a company. */
const FIELD_WORDS: ReadonlySet<string> = new Set(
  `
  accept access account action active activity actor add added address admin affected after age agent alias align all allowed amount
  analysis answer api app appearance archived area arg args argument array artifact assigned assignee assignees async at attachment
  attempt attribute author authorized auto available avatar average background balance base base64 bbox bcc before begin bio
  birthday block blocked board body boolean bottom bounds branch brand browser bucket budget build bundle button by byte cache
  calendar callback campaign cancelled candidate canonical capacity caption card cart catalog category cause cc cell center
  certificate change changed channel character charset chart check checked checksum child children choice chunk city claim class
  click client closed cluster code collaborator collection color colour column command comment commit commits committer company
  complete completed component condition conditions confidence config configuration confirm conflict connected connection console
  contact container content context contributor control conversation coordinate copy core cost count country counts county coupon
  course cover coverage cpu created creator credit cron currency current cursor custom customer cwd cycle daily data database
  dataset date day deadline debug default definition degree delay deleted deletion delivered delta density department dependency
  deployment depth desc description destination detail details device diff difference digest digits dimension dir direction
  directory disabled discount disk display distance distribution district document domain done download downloads draft dropped due
  duration edge edges edited editor elapsed element elements elevation email emails empty enabled encoding end ended endpoint engine
  enterprise entity entries entry env environment epic error errors estimate etag event events exact example exclude executed exists
  exit expected expires expiry explanation expression extension external extra fail failed failure family favicon favorite favourite
  feature features fee feed feels fetched field fields file filename files filter filtered fingerprint finished first fix flag flags
  folder folders follower followers following font force forecast fork forks format formatted formula found frequency from full
  function geometry given goal grade grant group groups guid guide handle hash hasmore head header headers headline height help
  hidden high history hits home homepage host hostname hour hourly href html http humidity icon id identifier identity ids image
  images impact important in included index industry info initial inline input inserted instance instruction instructions
  integration interval invoice ip ipv4 ipv6 iso issue issues item items iteration job jobs json key keys keyword keywords kind label
  labels lang language last lat latency latest latitude layer layout lead left legend length level license likes limit line line1
  line2 lines link links list lists lng loaded loc local locale location locked log logged login logo logs lon longitude low main
  maintainer manifest map mapping markdown match matched matches max maximum md5 mean media median meeting member members membership
  memory mention merged message messages meta metadata method metric metrics milestone mime min minimum minute missing mode model
  modified module moment month monthly more motion multiple name names namespace network next nickname node nodes note notes
  notification null num number numbers object objects observed office offline offset ok old on online only open opened operation
  operator opinion option options order orders ordinal org organisation organization origin original os outcome output overall
  overview owner owners package page pages pagination paging parameter parameters params parent part partial participant
  participants parts passed password patch path paths pattern payload payment pending percent percentage percentile performance
  period permalink permission permissions person phase phone photo photos picture ping pinned pipeline place plan platform playlist
  plugin pod pods point points policy poll popularity population port position post postcode posts precipitation prefix preview
  previous price primary priority private probability process product products profile progress project projects prompt properties
  property protocol provider province proxy public published publisher pull purpose push quality quantity query question queue quota
  quote range rank rate rating ratio raw reaction reactions reactor read reason received recipient recipients record records
  recursive redirect ref reference references refs region registered rejected related relation release releases relevance remaining
  remote removed renamed replies reply repo reporter repos repositories repository request requested required resolution resolved
  resource resources response responses result results retry returned revenue review reviewer reviewers reviews revision right role
  roles room root route row rows rule run running runtime saved scale schedule scheduled schema scheme scope score scores script
  season second secret section sections selected selection selector sender sent sequence serial series server service session set
  setting settings severity sha sha1 sha256 sha512 share shared shipping short signature simple since site size skip skipped slug
  snippet snippets social sort source sources space span spec speed sprint stack stage staged standard star stars start started stat
  state statement station statistics stats status stderr stdout step steps stock stop stopped storage store story strategy stream
  street string style subject submitted submodule subscriber subscribers subscription subtitle subtotal subtype success successful
  suffix suggestion suggestions suite sum summary sunrise sunset suspended svg symbol synced system table tables tag tags target
  task tasks tax team teams tel temp temperature template tenant term terms test tests text theme thread threshold thumbnail ticket
  tickets tier time timeline timeout times timestamp timezone title titles to today token tokens tool top topic topics total totals
  trace track traffic transaction transactions transcript translation tree trigger truncated ttl tweet type types uid unique unit
  units unread until update updated upload upvotes uri url urls usage use used user username users uuid valid validated value values
  variable variables variant vat vendor verbose verified version versions video view viewed viewer viewers views visibility visible
  visitor vote votes waiting warning warnings watchers watching weather webhook website week weekday weekly weight width wiki wind
  window word words workflow workspace write written year yearly zip zone
  `
    .trim()
    .split(/\s+/)
    .map(singular),
);
