#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "ksana/store_postgres/rows/fire_locks.hpp"
#include "ksana/store_postgres/rows/run_columns.hpp"

namespace ksana::store_postgres {

// Runs that one statement writes, already in the form in which they are sent: the runs themselves
// need not be kept. Not thread-safe.
class RunBatch {
  public:
    // kNew sends all columns, kStatus the id and the status of existing runs, kId the id only.
    enum class Kind : std::uint8_t { kNew, kStatus, kId };
    explicit RunBatch(Kind kind = Kind::kNew) : kind_(kind) {}

    void Add(const RunRow& row);
    // Appends the runs of `other`.
    void Append(const RunBatch& other);

    std::size_t size() const { return count_; }
    bool empty() const { return count_ == 0; }
    const Uuid& lowest() const { return lowest_; }
    const Uuid& highest() const { return highest_; }

    // Whether every run has the ctid of its row; if so, TakePlaces adds the parameter with them.
    bool placed() const { return placed_; }
    // Adds a single value for one run, else an array.
    void TakePlaces(Params& params) const;
    // The same for the versions of all rows; TakeVersions always adds arrays.
    bool versioned() const { return versioned_; }
    void TakeVersions(Params& params) const;

    // How a group of columns is sent: left out (all runs have the default), as plain values (all
    // runs have the same), or as arrays.
    enum class Form : std::uint8_t { kDefault, kSame, kEach };
    using Forms = std::array<Form, kRunGroups>;
    Forms GroupForms() const;

    // Adds the parameter of a column whose group has this form: a value or an array.
    void TakeParam(std::size_t column, Form form, Params& params) const;

  private:
    // Encoded elements (params.hpp) of all runs; only the first one while all are the same.
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
    std::string writers_;  // of the versions; their ctids are in `places_`
    std::string scratch_;  // reused by Add
};

// Runs to insert, by the table they go to.
struct NewRunRows {
    RunBatch open;
    RunBatch final;
    FireJobs fires;
    std::vector<Uuid> ids;  // of all runs, in the order in which they were added

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
