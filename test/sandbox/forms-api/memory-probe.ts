import { createSampleWorkspace } from '../../../src/sandbox/forms-api/sample-workspace.ts';
import { startSandbox } from '../../../src/sandbox/forms-api/sandbox.ts';

// Serves a sample workspace of argv[2] submissions and reads argv[3] pages of its largest form; prints what it cost.
// By hand: npx -c 'node test/sandbox/forms-api/memory-probe.ts 1000000 2000'

const submissions = Number(process.argv[2]);
const pages = Number(process.argv[3]);
const store = createSampleWorkspace({ submissions, seed: 'memory' });
const sandbox = await startSandbox({ store });
const formId = store.forms()[0]?.id ?? '';
const lastPage = Math.ceil(store.count(formId) / 100);
const headers = { 'x-api-key': sandbox.apiKey };
let bytes = 0;

for (let read = 0; read < pages; read++) {
  const page = 1 + Math.floor((read / pages) * lastPage);
  const path = `/submissions?formId=${formId}&limit=100&page=${page}&sortBy=submittedAt&sortOrder=desc`;
  const response = await fetch(sandbox.url + path, { headers });
  bytes += (await response.text()).length;
}
const tookMs = sandbox.requests.map((request) => request.tookMs).toSorted((a, b) => a - b);
await sandbox.stop();

process.stdout.write(
  `${JSON.stringify({
    submissions: store.count(),
    largestForm: store.count(formId),
    pages,
    bytes,
    medianMs: tookMs[tookMs.length >> 1],
    p99Ms: tookMs[Math.floor(tookMs.length * 0.99)],
    // Kilobytes as Linux and macOS report them through Node.
    peakMB: Math.round(process.resourceUsage().maxRSS / 1024),
  })}\n`,
);
