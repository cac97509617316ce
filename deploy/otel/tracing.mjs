// Traces start and workers with OpenTelemetry: which process added a job, which one ran it, and each of its requests to the
// source. The program does not depend on these packages, so put this file into a folder of its own:
//
//   mkdir /opt/forms-mirror-tracing && cd /opt/forms-mirror-tracing && cp …/deploy/otel/tracing.mjs .
//   npm install bullmq-otel@2 @opentelemetry/api@1 @opentelemetry/sdk-node @opentelemetry/instrumentation-undici --legacy-peer-deps
//   NODE_OPTIONS='--import /opt/forms-mirror-tracing/tracing.mjs' OTEL_SERVICE_NAME=forms-mirror \
//     OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 forms-mirror start
//
// Spans contain the names of queues and jobs, IDs of forms, and addresses without their query. They contain no answers, and no
// address that is itself a secret.
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BullMQOtel } from 'bullmq-otel';

/** A query may contain the text of a search. */
function withoutQuery(span, request) {
  span.setAttributes({
    'url.full': request.origin + request.path.split('?', 1)[0],
    'url.query': '',
  });
}

/** Only requests with a key are traced. Those of webhooks and the heartbeat have none: their whole address is a secret. */
function isWithoutKey(request) {
  return !/\b(authorization|x-api-key)\b/i.test(String(request.headers));
}

const sdk = new NodeSDK({
  instrumentations: [
    new UndiciInstrumentation({ ignoreRequestHook: isWithoutKey, requestHook: withoutQuery }),
  ],
});
sdk.start();
// Sends the remaining spans when the program ends.
process.once('beforeExit', () => void sdk.shutdown());
globalThis[Symbol.for('forms-mirror.telemetry')] = new BullMQOtel({ tracerName: 'forms-mirror' });
