-- wrk: GET /jobs/{id} with a random id of stored-0 to stored-(N-1); N is the first argument.
function init(args)
    count = tonumber(args[1])
    math.randomseed(os.time())
end

function request()
    return wrk.format("GET", "/jobs/stored-" .. math.random(0, count - 1))
end

function done(summary, latency, requests)
    local bad = summary.errors
    io.write(string.format(
        '{"requests": %d, "seconds": %.3f, "bad": %d, "p50_ms": %.3f, "p99_ms": %.3f}\n',
        summary.requests, summary.duration / 1e6,
        bad.connect + bad.read + bad.write + bad.status + bad.timeout,
        latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
