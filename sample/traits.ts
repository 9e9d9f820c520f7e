// Picks the traits of the tokens of the sample marketplace. Tokens with smaller rarity ranks get rarer traits.

import { RarityRanking } from '../src/market/index/rarity.ts';
import type { ArtName } from './pictures.ts';
import type { Random } from './random.ts';
import { at } from './random.ts';

export type SampleTrait = { name: string; value: string };

/** For each style of pictures: its traits with their values, the most common value first. About half of the tokens have the last trait. */
const TRAITS: Readonly<Record<ArtName, Readonly<Record<string, readonly string[]>>>> = {
  arcade: {
    Cabinet: ['Upright', 'Cocktail', 'Cockpit', 'Countertop'],
    Lives: ['Three', 'Five', 'One', 'Nine'],
    Cheat: ['None', 'Slow', 'Warp'],
  },
  automata: {
    Drive: ['Spring', 'Weight', 'Water', 'Wind'],
    Temper: ['Patient', 'Restless', 'Solemn'],
    Maker: ['Unsigned', 'Ada', 'Ismail'],
  },
  comets: {
    Orbit: ['Long', 'Short', 'Hyperbolic'],
    Season: ['Winter', 'Autumn', 'Spring', 'Summer'],
    Observer: ['Unnamed', 'Maria', 'Caroline'],
  },
  drummers: {
    Rhythm: ['Four', 'Three', 'Seven', 'Eleven'],
    Hand: ['Right', 'Left', 'Both'],
    Guest: ['Flute', 'Fiddle', 'Horn'],
  },
  fruit: {
    Harvest: ['Late', 'Early', 'First'],
    Taste: ['Sweet', 'Sour', 'Bitter', 'Salt'],
    Orchard: ['North', 'South', 'Walled'],
  },
  harbour: {
    Hour: ['Dusk', 'Evening', 'Midnight', 'Dawn'],
    Wind: ['Calm', 'Breeze', 'Gale', 'Storm'],
    Keeper: ['Resident', 'Visiting', 'Absent'],
  },
  inkblots: {
    Paper: ['Laid', 'Wove', 'Rice', 'Vellum'],
    Fold: ['Vertical', 'Horizontal', 'Twice'],
    Answer: ['Moth', 'Mask', 'Mountain'],
  },
  kites: {
    Message: ['Come over', 'Stay away', 'Bread is ready'],
    Line: ['Hemp', 'Cotton', 'Silk'],
    Flyer: ['Child', 'Baker', 'Watchman'],
  },
  lanterns: {
    Candle: ['Wax', 'Tallow', 'Oil'],
    Festival: ['Midsummer', 'Harvest', 'New year'],
    Street: ['Market', 'River', 'Bridge'],
  },
  maps: {
    Survey: ['Coastal', 'Inland', 'Aerial'],
    Scale: ['Common', 'Fine', 'Unknown'],
    Route: ['By sea', 'On foot', 'Abandoned'],
  },
  marbles: {
    Glass: ['Clear', 'Milk', 'Smoke', 'Uranium'],
    Kiln: ['Small', 'Large', 'Broken'],
    Game: ['Ring', 'Line', 'Pit'],
  },
  meadow: {
    Month: ['June', 'May', 'July', 'April'],
    Visitor: ['Bee', 'Hare', 'Fox'],
    Weather: ['Sun', 'Haze', 'Hail'],
  },
  owls: {
    Bench: ['Government', 'Opposition', 'Crossbench'],
    Paper: ['Plain', 'Printed', 'Gilded'],
    Office: ['Clerk', 'Whip', 'Speaker'],
  },
  rockpool: {
    Tide: ['Low', 'Turning', 'High', 'Spring'],
    Shell: ['Whelk', 'Periwinkle', 'Tower', 'Bottle cap'],
    Lodger: ['Anemone', 'Barnacle', 'Worm'],
  },
  stamps: {
    Perforation: ['Comb', 'Line', 'None'],
    Postmark: ['Round', 'Wavy', 'Pen', 'None'],
    Error: ['Shifted', 'Inverted', 'Missing value'],
  },
  suns: {
    Latitude: ['Temperate', 'Tropical', 'Polar'],
    Day: ['Ordinary', 'Solstice', 'Eclipse'],
    Halo: ['Faint', 'Double', 'Broken'],
  },
  tiles: {
    Glaze: ['Matt', 'Gloss', 'Crackle', 'Lustre'],
    Kiln: ['Wood', 'Gas', 'Raku'],
    Chip: ['Corner', 'Edge', 'Centre'],
  },
  weave: {
    Fibre: ['Wool', 'Linen', 'Cotton', 'Silk'],
    Loom: ['Treadle', 'Backstrap', 'Tablet'],
    Knot: ['Square', 'Reef', 'Hidden'],
  },
};

/**
 * The traits of the tokens with these ranks. Tokens with smaller ranks get rarer traits. Tokens without a rank get the most
 * common traits.
 */
export function pickTraits(art: ArtName, ranks: readonly (number | null)[], rng: Random): SampleTrait[][] {
  const sets = ranks.map(() => pickSet(art, rng));
  const ranking = new RarityRanking();
  for (const [index, set] of sets.entries()) ranking.add(String(index), set);
  const rarestFirst = ranking.ranks().map(({ asset }) => at(sets, Number(asset)));
  const places = ranks
    .map((rank, index) => ({ rank: rank ?? Infinity, index }))
    .sort((a, b) => (a.rank === b.rank ? a.index - b.index : a.rank - b.rank));
  const traits: SampleTrait[][] = [];
  for (const [place, { index }] of places.entries()) traits[index] = at(rarestFirst, place);
  return traits;
}

function pickSet(art: ArtName, rng: Random): SampleTrait[] {
  const traits = Object.entries(TRAITS[art]);
  return traits.flatMap(([name, values], index) => {
    const value = at(values, Math.floor(values.length * rng.float() ** 2));
    const isMissing = index === traits.length - 1 && rng.boolean(0.5);
    return isMissing ? [] : [{ name, value }];
  });
}
