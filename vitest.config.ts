import { defineConfig } from 'vitest/config';

const common = { testTimeout: 150_000, hookTimeout: 60_000 };

// Unit tests touch no server; integration tests start their own (test/support/servers.ts).
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: ['test/**/*.integration.test.ts'],
        },
      },
      { test: { ...common, name: 'integration', include: ['test/**/*.integration.test.ts'] } },
    ],
    coverage: { provider: 'v8', include: ['src/**'] },
  },
});
