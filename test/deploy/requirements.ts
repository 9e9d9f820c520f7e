// The tests of `npm run test:deploy`. They build images, install packages or run many requests, so `npm test` skips them.

/** The reason for which a test of this kind is skipped. Null in `npm run test:deploy`. */
export const WHY_NOT_DEPLOYED = process.env['DEPLOY_TESTS'] === '1' ? null : 'run by npm run test:deploy';
