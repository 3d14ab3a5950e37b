#include "ksana/store_postgres/rows/run_batch.hpp"

#include <algorithm>

namespace ksana::store_postgres {
namespace {

std::string Repeated(std::string_view text, std::size_t count) {
    std::string all;
    all.reserve(text.size() * (count + 1));
    for (std::size_t i = 0; i < count; ++i) all += text;
    return all;
}

}  // namespace

// Changes a column from one element for all runs to one element for each run.
void RunBatch::Spread(Column& column, std::size_t count) {
    if (!column.same) return;
    column.elements = Repeated(column.elements, count);
    column.same = false;
}

bool RunBatch::Sends(const RunColumn& column) const {
    return kind_ == Kind::kNew || column.group == RunGroup::kId ||
           (kind_ == Kind::kStatus && column.status);
}

void RunBatch::Add(const RunRow& row) {
    for (std::size_t i = 0; i < kRunColumns; ++i) {
        const RunColumn& kind = RunColumns()[i];
        if (!Sends(kind)) continue;
        Column& column = columns_[i];
        const auto append = kind.append;
        if (count_ == 0 || !column.same) {
            append(column.elements, row);
            continue;
        }
        scratch_.clear();
        append(scratch_, row);
        if (scratch_ == column.elements) continue;
        Spread(column, count_);
        column.elements += scratch_;
    }
    placed_ = placed_ && row.place != nullptr;
    versioned_ = versioned_ && row.version != nullptr;
    if (placed_) AppendElement(places_, *row.place);
    if (versioned_) {
        AppendElement(places_, row.version->place);
        AppendElement(writers_, row.version->writer);
    }
    lowest_ = count_ == 0 ? row.run->id : std::min(lowest_, row.run->id);
    highest_ = count_ == 0 ? row.run->id : std::max(highest_, row.run->id);
    ++count_;
}

void RunBatch::Append(const RunBatch& other) {
    if (other.empty()) return;
    if (empty()) {
        *this = other;
        return;
    }
    for (std::size_t i = 0; i < kRunColumns; ++i) {
        Column& column = columns_[i];
        const Column& more = other.columns_[i];
        if (column.same && more.same && column.elements == more.elements) continue;
        Spread(column, count_);
        column.elements += more.same ? Repeated(more.elements, other.count_) : more.elements;
    }
    placed_ = placed_ && other.placed_;
    versioned_ = versioned_ && other.versioned_;
    places_ += other.places_;
    writers_ += other.writers_;
    lowest_ = std::min(lowest_, other.lowest_);
    highest_ = std::max(highest_, other.highest_);
    count_ += other.count_;
}

RunBatch::Forms RunBatch::GroupForms() const {
    Forms forms{};
    for (std::size_t i = 0; i < kRunColumns; ++i) {
        const Column& column = columns_[i];
        Form form = Form::kEach;
        // Sends the ids as an array even if all are the same, because there must be as many rows as
        // runs.
        if (column.same && (count_ == 1 || RunColumns()[i].group != RunGroup::kId)) {
            const bool free = !RunColumns()[i].fallback.empty();
            form = free && column.elements == DefaultElement(i) ? Form::kDefault : Form::kSame;
        }
        Form& of_group = forms[static_cast<std::size_t>(RunColumns()[i].group)];
        of_group = std::max(of_group, form);
    }
    return forms;
}

void RunBatch::TakePlaces(Params& params) const {
    if (count_ == 1) return params.AddElement(places_);
    params.AddElements(places_, count_, kTidOid);
}

void RunBatch::TakeVersions(Params& params) const {
    params.AddElements(places_, count_, kTidOid);
    params.AddElements(writers_, count_, kXidOid);
}

void RunBatch::TakeParam(std::size_t column, Form form, Params& params) const {
    const Column& own = columns_[column];
    if (form == Form::kSame) return params.AddElement(own.elements);
    const std::uint32_t oid = RunColumns()[column].oid;
    if (!own.same) return params.AddElements(own.elements, count_, oid);
    params.AddElements(Repeated(own.elements, count_), count_, oid);
}

}  // namespace ksana::store_postgres
