#include "ksana/store_postgres/migrations/submit_function.hpp"

namespace ksana::store_postgres {

// packed_fixed does what PackFixed does for priority and the end of a unique key (packed_run.hpp);
// packed_number encodes one number of it. A caller whose transaction has an old snapshot
// (REPEATABLE READ) gets a serialization failure if another transaction has stored the same policy
// meanwhile, and has to retry.
const std::string_view kSubmitFunction = R"sql(
CREATE FUNCTION ksana.packed_number(value bigint) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    rest bigint := value * 2;
    packed bytea := '';
BEGIN
    WHILE rest >= 128 LOOP
        packed := packed || set_byte('\x00', 0, ((rest & 127) | 128)::integer);
        rest := rest >> 7;
    END LOOP;
    RETURN packed || set_byte('\x00', 0, rest::integer);
END
$$;

CREATE FUNCTION ksana.packed_fixed(priority integer, key_until bigint) RETURNS bytea
LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN priority = 5 AND key_until IS NULL THEN NULL ELSE
        set_byte('\x00000000', 0, CASE WHEN priority = 5 THEN 0 ELSE 1 END
                                | CASE WHEN key_until IS NULL THEN 0 ELSE 4 END)
        || CASE WHEN priority = 5 THEN '' ELSE ksana.packed_number(priority) END
        || CASE WHEN key_until IS NULL THEN '' ELSE ksana.packed_number(key_until) END
    END
$$;

CREATE FUNCTION ksana.ksana_submit(
    type text, payload jsonb DEFAULT NULL, tenant text DEFAULT 'default', creator text DEFAULT '',
    category text DEFAULT NULL, priority integer DEFAULT 5, start_at timestamptz DEFAULT NULL,
    delay interval DEFAULT NULL, unique_key text DEFAULT NULL,
    unique_period interval DEFAULT NULL, timeout interval DEFAULT NULL,
    max_retries integer DEFAULT NULL, retry_interval interval DEFAULT NULL,
    need_manual boolean DEFAULT NULL, parent uuid DEFAULT NULL, selector jsonb DEFAULT NULL,
    id uuid DEFAULT NULL) RETURNS uuid
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
    name_form constant text := '^[A-Za-z0-9_.:-]{1,128}$';
    now_micros constant bigint := (extract(epoch FROM clock_timestamp()) * 1000000)::bigint;
    ready bigint := now_micros;
    key_until bigint;
    known jsonb;
    policy jsonb;
    policy_text text;
    policy_number integer;
    holder uuid;
    fault text;
BEGIN
    fault := CASE
        WHEN type IS NULL OR type !~ name_form THEN
            'type is 1 to 128 letters, digits and - _ . : long'
        WHEN tenant IS NULL OR tenant !~ name_form THEN
            'tenant is 1 to 128 letters, digits and - _ . : long'
        WHEN category <> '' AND category !~ name_form THEN
            'category is 1 to 128 letters, digits and - _ . : long'
        WHEN creator IS NULL OR octet_length(creator) > 200 OR creator ~ '[[:cntrl:]]' THEN
            'creator is at most 200 bytes long, without control characters'
        WHEN octet_length(payload::text) > 1048576 THEN 'payload is longer than 1048576 bytes'
        WHEN priority IS NULL OR priority NOT BETWEEN 0 AND 9 THEN
            'priority must lie between 0 and 9'
        WHEN start_at IS NOT NULL AND delay IS NOT NULL THEN 'delay does not go with start_at'
        WHEN delay NOT BETWEEN '0' AND '3660 days' THEN 'delay must lie between 0 and 3660 days'
        WHEN NOT isfinite(start_at) OR start_at >= '9999-01-01' THEN 'start_at is no time'
        WHEN octet_length(unique_key) > 500 OR unique_key ~ '[[:cntrl:]]' THEN
            'unique_key is at most 500 bytes long, without control characters'
        WHEN unique_period NOT BETWEEN '1 ms' AND '3660 days' THEN
            'unique_period must lie between 1 ms and 3660 days'
        WHEN timeout NOT BETWEEN '1 ms' AND '30 days' THEN
            'timeout must lie between 1 ms and 30 days'
        WHEN max_retries NOT BETWEEN 0 AND 1000 THEN 'max_retries must lie between 0 and 1000'
        WHEN retry_interval NOT BETWEEN '0' AND '30 days' THEN
            'retry_interval must lie between 0 and 30 days'
        WHEN jsonb_typeof(selector) <> 'object' THEN 'selector must be an object of texts'
    END;
    IF fault IS NULL AND selector IS NOT NULL THEN
        SELECT 'selector must be an object of at most 64 short texts' INTO fault
        FROM jsonb_each(selector) AS s(label, given)
        HAVING count(*) > 64 OR NOT coalesce(bool_and(label ~ name_form
            AND jsonb_typeof(given) = 'string' AND octet_length(given #>> '{}') <= 200), true);
    END IF;
    IF fault IS NOT NULL THEN
        RAISE EXCEPTION 'ksana_submit: %', fault USING ERRCODE = 'invalid_parameter_value';
    END IF;

    IF id IS NULL THEN
        id := encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
            PLACING substring(int8send(now_micros / 1000) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1),
            'hex')::uuid;
    ELSIF EXISTS (SELECT FROM ksana.runs r WHERE r.id = ksana_submit.id)
       OR EXISTS (SELECT FROM ksana.finished_runs f WHERE f.id = ksana_submit.id) THEN
        RETURN id;
    END IF;
    IF start_at IS NOT NULL THEN
        ready := greatest(now_micros, (extract(epoch FROM start_at) * 1000000)::bigint);
    ELSIF delay IS NOT NULL THEN
        ready := now_micros + (extract(epoch FROM delay) * 1000000)::bigint;
    END IF;

    SELECT d.body::jsonb #> '{run,policy}' INTO policy FROM ksana.documents d
        WHERE d.kind = 'setting' AND d.key = 'queue.default_policy';
    SELECT d.body::jsonb INTO known FROM ksana.documents d
        WHERE d.kind = 'type' AND d.key = type;
    policy := coalesce(policy, '{}');
    IF known ? 'retry' THEN
        policy := policy || jsonb_build_object('retry', known -> 'retry');
    END IF;
    IF known ? 'timeout' THEN
        policy := policy || jsonb_build_object('timeout', known -> 'timeout');
    END IF;
    IF known -> 'need_manual' = 'true' THEN policy := policy || '{"need_manual": true}'; END IF;
    IF known #>> '{callbacks,success,url}' <> '' THEN
        policy := policy || '{"success_callback": true}';
    END IF;
    IF known #>> '{callbacks,error,url}' <> '' THEN
        policy := policy || '{"error_callback": true}';
    END IF;
    IF timeout IS NOT NULL THEN
        policy := policy || jsonb_build_object('timeout',
            (extract(epoch FROM timeout) * 1000)::bigint || 'ms');
    END IF;
    IF max_retries IS NOT NULL OR retry_interval IS NOT NULL THEN
        policy := policy || jsonb_build_object('retry', coalesce(policy -> 'retry', '{}')
            || CASE WHEN max_retries IS NULL THEN '{}'
                    ELSE jsonb_build_object('max_retries', max_retries) END
            || CASE WHEN retry_interval IS NULL THEN '{}'
                    ELSE jsonb_build_object('strategy', 'fixed', 'interval',
                        (extract(epoch FROM retry_interval) * 1000)::bigint || 'ms') END);
    END IF;
    IF need_manual IS NOT NULL THEN
        policy := policy || jsonb_build_object('need_manual', need_manual);
    END IF;
    policy_text := jsonb_build_object('run', jsonb_build_object(
        'id', '00000000-0000-0000-0000-000000000000', 'policy', policy))::text;
    SELECT p.id INTO policy_number FROM ksana.policies p WHERE p.body = policy_text;
    IF policy_number IS NULL THEN
        INSERT INTO ksana.policies (body) VALUES (policy_text) ON CONFLICT DO NOTHING;
        SELECT p.id INTO policy_number FROM ksana.policies p WHERE p.body = policy_text;
    END IF;
    IF policy_number IS NULL THEN
        RAISE EXCEPTION 'ksana_submit: another transaction stored the same; try again'
            USING ERRCODE = 'serialization_failure';
    END IF;

    IF unique_key <> '' THEN
        key_until := now_micros + (extract(epoch FROM unique_period) * 1000000)::bigint;
        INSERT INTO ksana.run_keys AS k (tenant, key, run_id, until)
            VALUES (tenant, unique_key, id, key_until)
            ON CONFLICT ON CONSTRAINT run_keys_pkey DO UPDATE
                SET run_id = excluded.run_id, until = excluded.until WHERE k.until <= now_micros;
        SELECT k.run_id INTO holder FROM ksana.run_keys k
            WHERE k.tenant = ksana_submit.tenant AND k.key = unique_key;
        IF holder <> id THEN RETURN holder; END IF;
    END IF;

    INSERT INTO ksana.runs (id, policy_id, created_at, state, updated_at, ready_at, rank, type,
                            tenant, category, creator, parent, selector, unique_key, fixed, payload)
        VALUES (id, policy_number, now_micros, CASE WHEN ready <= now_micros THEN 1 ELSE 0 END,
            now_micros, ready, ready - priority * 600000000::bigint, type, tenant,
            nullif(coalesce(category, known ->> 'category'), ''), nullif(creator, ''), parent,
            (SELECT array_agg(octet_length(s.label) || ':' || s.label || s.given
                              ORDER BY s.label COLLATE "C")
                FROM jsonb_each_text(selector) AS s(label, given)),
            nullif(unique_key, ''), ksana.packed_fixed(priority, key_until), payload::text);
    RETURN id;
END
$$;
)sql";

}  // namespace ksana::store_postgres
