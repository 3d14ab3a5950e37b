-- wrk: POST /jobs, each with a new job that is due in 2090.
local number = 0
local threads = {}

function setup(thread)
    thread:set("place", #threads)
    table.insert(threads, thread)
end

function init(args)
    head = '{"name":"one of many","type":"http","http":{"method":"POST",'
        .. '"url":"http://127.0.0.1:9/call","body":"hello"},"schedule":{"kind":"once",'
        .. '"run_at":"2090-01-01T00:00:00Z"},"id":"posted-' .. place .. '-'
end

function request()
    number = number + 1
    return wrk.format("POST", "/jobs", nil, head .. number .. '"}')
end

function done(summary, latency, requests)
    local bad = summary.errors
    io.write(string.format(
        '{"requests": %d, "seconds": %.3f, "bad": %d, "p50_ms": %.3f, "p99_ms": %.3f}\n',
        summary.requests, summary.duration / 1e6,
        bad.connect + bad.read + bad.write + bad.status + bad.timeout,
        latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
