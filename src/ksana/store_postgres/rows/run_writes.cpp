#include "ksana/store_postgres/rows/run_writes.hpp"

#include <fmt/core.h>

namespace ksana::store_postgres {
namespace {

using Form = RunBatch::Form;

void Append(std::string& list, std::string_view item) {
    if (!list.empty()) list += ", ";
    list += item;
}

// Collects the parameters of a statement and the SQL that refers to them. Used within one function.
class Columns {
  public:
    explicit Columns(const RunBatch& batch) : batch_(batch), forms_(batch.GroupForms()) {}

    Form FormOf(const RunColumn& column) const {
        return forms_[static_cast<std::size_t>(column.group)];
    }

    // Adds a parameter for a column that is not left out and returns the SQL of its value.
    std::string Take(std::size_t index) {
        const RunColumn& column = RunColumns()[index];
        const Form form = FormOf(column);
        batch_.TakeParam(index, form, params_);
        std::string value;
        if (form == Form::kSame) {
            value = fmt::format("${}::{}", params_.size(), column.type);
        } else {
            Append(arrays_, fmt::format("${}::{}[]", params_.size(), column.type));
            Append(names_, column.name);
            value = fmt::format("v.{}", column.name);
        }
        if (column.name == "selector" || column.name == "prefer") value += "::text[]";
        return value;
    }

    // Returns the SQL condition that finds the row in `runs r`: by its ctid, which is one step, or
    // by its id. The other conditions of a version are wrapped in IS TRUE so that the planner joins
    // by the ctid alone; the server checks them again if the row was changed while the statement
    // waited for it.
    std::string Find() {
        if (batch_.versioned()) {
            batch_.TakeVersions(params_);
            Append(arrays_,
                   fmt::format("${}::tid[], ${}::xid[]", params_.size() - 1, params_.size()));
            Append(names_, "place, writer");
            batch_.TakeParam(0, Form::kEach, params_);
            Append(arrays_, fmt::format("${}::uuid[]", params_.size()));
            Append(names_, "id");
            return "r.ctid = v.place AND (r.xmin = v.writer) IS TRUE AND (r.id = v.id) IS TRUE";
        }
        if (!batch_.placed()) return fmt::format("r.id = {}", Take(0));
        batch_.TakePlaces(params_);
        if (batch_.size() == 1) return fmt::format("r.ctid = ${}::tid", params_.size());
        Append(arrays_, fmt::format("${}::tid[]", params_.size()));
        Append(names_, "place");
        return "r.ctid = v.place";
    }

    // Returns " FROM unnest(…) AS v(…)" (`word` is FROM or USING), or nothing if there are no
    // arrays.
    std::string From(std::string_view word) const {
        if (arrays_.empty()) return "";
        return fmt::format(" {} unnest({}) AS v({})", word, arrays_, names_);
    }

    Params& params() { return params_; }

  private:
    const RunBatch& batch_;
    const RunBatch::Forms forms_;
    Params params_;
    std::string arrays_;  // "$1::uuid[], …"
    std::string names_;   // "id, …", in the order of the arrays
};

bool OnlyInRuns(const RunColumn& column) {
    return column.name == "rank" || column.name == "expires_at";
}

// Returns SQL that finds the same fire in `table`.
std::string FireIn(std::string_view table, std::string_view job_id, std::string_view nominal_at) {
    return fmt::format(
        "SELECT true FROM ksana.{} o WHERE o.job_id = {} AND o.job_id <> '' "
        "AND o.nominal_at IS NOT NULL AND o.nominal_at = {}",
        table, job_id, nominal_at);
}

}  // namespace

// Without `look`, one index lookup usually shows that the other table has no id between the lowest
// and the highest of the batch, as ids are drawn in order; only otherwise is each id looked up. For
// an existing run the statement sets the id to NULL, which the table refuses.
Statement InsertRunsStatement(const RunBatch& batch, InsertMode mode) {
    Columns columns(batch);
    std::string id;
    std::string job_id;
    std::string nominal_at;
    std::string names;
    std::string values;
    for (std::size_t i = 0; i < kRunColumns; ++i) {
        const RunColumn& column = RunColumns()[i];
        if (columns.FormOf(column) == Form::kDefault || (mode.final && OnlyInRuns(column))) {
            continue;
        }
        const std::string value = columns.Take(i);
        if (column.name == "job_id") job_id = value;
        if (column.name == "nominal_at") nominal_at = value;
        if (column.name == "id") {
            id = value;
            continue;
        }
        Append(names, column.name);
        Append(values, value);
    }
    const std::string_view table = mode.final ? "finished_runs" : "runs";
    const std::string_view other = mode.final ? "runs" : "finished_runs";
    const std::string same_id =
        fmt::format("SELECT true FROM ksana.{} o WHERE o.id = {}", other, id);
    std::string sql;
    if (mode.look) {
        sql = fmt::format("INSERT INTO ksana.{} (id, {}) SELECT {}, {}{} WHERE NOT EXISTS ({})",
                          table, names, id, values, columns.From("FROM"), same_id);
        if (!job_id.empty()) {
            sql += fmt::format(" AND NOT EXISTS ({})", FireIn(other, job_id, nominal_at));
        }
        sql += " ON CONFLICT DO NOTHING RETURNING id";
    } else {
        const std::string from = columns.From("FROM");
        const std::size_t last = columns.params().Add(batch.lowest()).Add(batch.highest()).size();
        std::string taken = fmt::format(
            "(SELECT o.id FROM ksana.{} o WHERE o.id >= ${}::uuid ORDER BY o.id LIMIT 1) <= "
            "${}::uuid AND ({})",
            other, last - 1, last, same_id);
        if (!job_id.empty()) {
            taken += fmt::format(" OR ({} LIMIT 1)", FireIn(other, job_id, nominal_at));
        }
        sql = fmt::format(
            "INSERT INTO ksana.{} (id, {}) SELECT CASE WHEN {} THEN NULL ELSE {} END, {}{}", table,
            names, taken, id, values, from);
    }
    return {{}, std::move(columns.params()), std::move(sql)};
}

Statement UpdateRunsStatement(const RunBatch& batch, bool tells) {
    Columns columns(batch);
    const std::string found = columns.Find();
    std::string changes;
    for (std::size_t i = 0; i < kRunColumns; ++i) {
        const RunColumn& column = RunColumns()[i];
        if (!column.status) continue;
        const bool fallback = columns.FormOf(column) == Form::kDefault;
        Append(changes, fmt::format("{} = {}", column.name,
                                    fallback ? std::string(column.fallback) : columns.Take(i)));
    }
    std::string sql =
        fmt::format("UPDATE ksana.runs r SET {}{} WHERE {}", changes, columns.From("FROM"), found);
    if (tells) sql += " RETURNING r.id, r.ctid, r.xmin";
    return {{}, std::move(columns.params()), std::move(sql)};
}

Statement FinishRunsStatement(const RunBatch& batch) {
    Columns columns(batch);
    const std::string found = columns.Find();
    std::string names;
    std::string values;
    for (std::size_t i = 0; i < kRunColumns; ++i) {
        const RunColumn& column = RunColumns()[i];
        if (OnlyInRuns(column)) continue;
        if (!column.status) {
            Append(values, fmt::format("r.{}", column.name));
        } else if (columns.FormOf(column) != Form::kDefault) {
            Append(values, columns.Take(i));
        } else {
            continue;  // the table has the default
        }
        Append(names, column.name);
    }
    std::string sql = fmt::format(
        "WITH gone AS (DELETE FROM ksana.runs r{} WHERE {} RETURNING {}) "
        "INSERT INTO ksana.finished_runs ({}) SELECT * FROM gone",
        columns.From("USING"), found, values, names);
    return {{}, std::move(columns.params()), std::move(sql)};
}

Statement DeleteRunsStatement(const RunBatch& batch) {
    Columns columns(batch);
    const std::string found = columns.Find();
    std::string sql =
        fmt::format("DELETE FROM ksana.runs r{} WHERE {}", columns.From("USING"), found);
    return {{}, std::move(columns.params()), std::move(sql)};
}

}  // namespace ksana::store_postgres
