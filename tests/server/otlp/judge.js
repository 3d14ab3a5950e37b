// Judges OTLP requests with the message classes of OpenTelemetry: every name and form must be one
// that they know, and what they encode must decode to the same spans.
//
// usage: node judge.js NODE_MODULES   with the requests as a JSON array on standard input.
// Prints the decoded spans as a JSON array.
"use strict";

const path = require("node:path");
const { readFileSync } = require("node:fs");
const root = require(path.join(process.argv[2],
    "@opentelemetry/otlp-transformer/build/src/generated/root.js"));
const { ExportTraceServiceRequest } = root.opentelemetry.proto.collector.trace.v1;

const IDS = { traceId: 16, spanId: 8, parentSpanId: 8 };
const LONG = ["startTimeUnixNano", "endTimeUnixNano", "timeUnixNano", "intValue"];

function fail(message) {
    console.error(message);
    process.exit(1);
}

// JSON has ids in hex and long numbers as texts; the classes want bytes and take texts.
function convert(value, at) {
    if (Array.isArray(value)) return value.map((item, i) => convert(item, `${at}/${i}`));
    if (value === null || typeof value !== "object") return value;
    const made = {};
    for (const [key, member] of Object.entries(value)) {
        if (key in IDS) {
            const bytes = Buffer.from(member, "hex");
            if (bytes.length !== IDS[key] || member !== bytes.toString("hex")) {
                fail(`${at}/${key} is no id: ${member}`);
            }
            made[key] = bytes;
        } else if (LONG.includes(key)) {
            if (typeof member !== "string") fail(`${at}/${key} is no text`);
            made[key] = member;
        } else {
            made[key] = convert(member, `${at}/${key}`);
        }
    }
    return made;
}

// Returns an object as it would come back, with bytes as hex.
function plain(value) {
    if (Array.isArray(value)) return value.map(plain);
    if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plain(one)]));
}

// What is sent must come back: a name that the classes do not know would be lost.
function compare(sent, back, at) {
    if (sent === null || typeof sent !== "object") {
        if (String(sent) !== String(back)) fail(`${at}: sent ${sent}, came back as ${back}`);
        return;
    }
    for (const key of Object.keys(sent)) {
        if (back === undefined || !(key in back)) fail(`${at}/${key} is not known`);
        compare(sent[key], back[key], `${at}/${key}`);
    }
}

const spans = [];
for (const request of JSON.parse(readFileSync(0, "utf8"))) {
    const message = ExportTraceServiceRequest.fromObject(convert(request, ""));
    const problem = ExportTraceServiceRequest.verify(message);
    if (problem) fail(problem);
    const bytes = ExportTraceServiceRequest.encode(message).finish();
    const decoded = ExportTraceServiceRequest.decode(bytes);
    const back = plain(ExportTraceServiceRequest.toObject(decoded, { longs: String }));
    compare(request, back, "");
    for (const { resource, scopeSpans } of back.resourceSpans) {
        for (const { scope, spans: some } of scopeSpans) {
            for (const span of some) spans.push({ ...span, scope, resource });
        }
    }
}
console.log(JSON.stringify(spans));
