#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ksana/store_postgres/rows/fire_locks.hpp"
#include "ksana/store_postgres/rows/run_columns.hpp"

namespace ksana::store_postgres {

// Runs on their way into one statement, already in the form in which they are sent: the runs
// themselves need not be kept.
class RunBatch {
  public:
    // Of runs that are there already only the id and the status are sent, or the id alone.
    enum class Kind : std::uint8_t { kNew, kStatus, kId };
    explicit RunBatch(Kind kind = Kind::kNew) : kind_(kind) {}

    void Add(const RunRow& row);
    // Puts another batch behind this one.
    void Append(const RunBatch& other);

    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    const Uuid& lowest() const { return lowest_; }
    const Uuid& highest() const { return highest_; }

    // Whether it has the places of all rows, and the parameter that says them.
    bool placed() const { return placed_; }
    void TakePlaces(Params& params) const;
    // The same of the versions of all rows; always arrays.
    bool versioned() const { return versioned_; }
    void TakeVersions(Params& params) const;

    // What a group of columns has to say about all runs.
    enum class Form : std::uint8_t { kDefault, kSame, kEach };
    using Forms = std::array<Form, kRunGroups>;
    Forms GroupForms() const;

    // The parameter of a column, of which the group has that form: a value, or an array.
    void TakeParam(std::size_t column, Form form, Params& params) const;

  private:
    // Elements (params.hpp) of all runs; while they are all the same, of the first only.
    struct Column {
        std::string elements;
        bool same = true;
    };
    static void Spread(Column& column, std::size_t count);
    bool Sends(const RunColumn& column) const;

    Kind kind_;
    std::array<Column, kRunColumns> columns_;
    std::size_t count_ = 0;
    Uuid lowest_;
    Uuid highest_;
    bool placed_ = true;
    std::string places_;
    bool versioned_ = true;
    std::string writers_;  // `places_` has where they are
    std::string scratch_;
};

// Runs that are to be inserted, by the table they go to.
struct NewRunRows {
    RunBatch open;
    RunBatch final;
    FireJobs fires;
    std::vector<Uuid> ids;  // of all, in the order in which they were added

    void Add(const RunRow& row) {
        (model::IsFinal(row.run->status.state) ? final : open).Add(row);
        fires.Add(*row.run);
        ids.push_back(row.run->id);
    }
    void Append(const NewRunRows& other) {
        open.Append(other.open);
        final.Append(other.final);
        fires.Append(other.fires);
        ids.insert(ids.end(), other.ids.begin(), other.ids.end());
    }
};

}  // namespace ksana::store_postgres
