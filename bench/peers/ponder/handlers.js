import { ponder } from 'ponder:registry';
import { token } from 'ponder:schema';

ponder.on('Collection:Transfer', async ({ event, context }) => {
  const { tokenId: id, to: owner } = event.args;
  await context.db.insert(token).values({ id, owner }).onConflictDoUpdate({ owner });
});
