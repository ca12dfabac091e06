import { z } from 'zod';

import { duration } from './schema-parts.ts';

/** `telemetry`: traces and metrics for a collector. */
export const telemetrySchema = z
  .strictObject({
    endpoint: z
      .string()
      .prefault('')
      .describe(
        'Base URL of an OpenTelemetry collector that accepts OTLP over HTTP, such as `http://127.0.0.1:4318`. If empty, `OTEL_EXPORTER_OTLP_ENDPOINT` is used; if that is not set either, nothing is sent.',
      ),
    headers: z
      .record(z.string(), z.string())
      .prefault({})
      .describe('HTTP headers of requests to the collector; values may be references.'),
    interval: duration(100).prefault('10s').describe('Interval at which traces and metrics are sent.'),
  })
  .prefault({})
  .describe('Traces and metrics over OTLP/HTTP.');

/** `metrics`: the Prometheus endpoint. */
export const metricsSchema = z
  .boolean()
  .prefault(false)
  .describe('Whether `serve --http` serves `/metrics` for Prometheus.');
