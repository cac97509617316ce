// Traces of start and workers by OpenTelemetry: what added a job, who ran it, and each request to the source beneath it.
// No part of the program, which depends on none of this; a folder of its own holds it:
//
//   mkdir /opt/forms-mirror-tracing && cd /opt/forms-mirror-tracing && cp …/deploy/otel/tracing.mjs .
//   npm install bullmq-otel@2 @opentelemetry/api@1 @opentelemetry/sdk-node @opentelemetry/instrumentation-undici --legacy-peer-deps
//   NODE_OPTIONS='--import /opt/forms-mirror-tracing/tracing.mjs' OTEL_SERVICE_NAME=forms-mirror \
//     OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 forms-mirror start
//
// Spans name queues, jobs, IDs of forms and addresses without their query: no answer, and no address that is a secret itself.
import { UndiciInstrumentation } from '@opentelemetry/instrumentation-undici';
import { NodeSDK } from '@opentelemetry/sdk-node';
import { BullMQOtel } from 'bullmq-otel';

/** A query may hold what somebody searched for. */
function withoutQuery(span, request) {
  span.setAttributes({
    'url.full': request.origin + request.path.split('?', 1)[0],
    'url.query': '',
  });
}

/** Only what carries a key is traced: the address of a webhook or a heartbeat, which has none, is a secret as a whole. */
function isWithoutKey(request) {
  return !/\b(authorization|x-api-key)\b/i.test(String(request.headers));
}

const sdk = new NodeSDK({
  instrumentations: [
    new UndiciInstrumentation({ ignoreRequestHook: isWithoutKey, requestHook: withoutQuery }),
  ],
});
sdk.start();
// What is on its way when the program ends.
process.once('beforeExit', () => void sdk.shutdown());
globalThis[Symbol.for('forms-mirror.telemetry')] = new BullMQOtel({ tracerName: 'forms-mirror' });
