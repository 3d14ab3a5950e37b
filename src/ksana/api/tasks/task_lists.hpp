#pragma once

#include <string_view>

#include "ksana/api/edge/query_reader.hpp"
#include "ksana/base/error/result.hpp"
#include "ksana/http_server/routing/message.hpp"
#include "ksana/model/run/run.hpp"
#include "ksana/store/store.hpp"

// Lists of document T: arrays, with a Link and an X-Next-Cursor header that lead to the next page.

namespace ksana::api {

inline constexpr std::size_t kTaskListSize = 100;
inline constexpr std::size_t kMaxTaskList = 500;

// States of tasks in the history (T-12): Success and ManuallyProcessed.
inline constexpr model::RunStates kHistoryStates = static_cast<model::RunStates>(
    model::SetOf(model::RunState::kSucceeded) | model::SetOf(model::RunState::kResolved));

// Reads `limit` and `cursor`.
template <class Query>
void ReadPlace(QueryReader& reader, Query& query) {
    query.limit = reader.Number("limit", 1, kMaxTaskList, kTaskListSize);
    query.cursor = reader.Text("cursor");
}

// Adds Link and X-Next-Cursor, unless `next` is empty: that is the last page.
http_server::Response WithNextPage(const http_server::Request& request,
                                   http_server::Response response, const std::string& next);

// Answers GET /task and GET /task-his. `states` are listed if the query names no status.
Result<http_server::Response> ListTasks(const http_server::Request& request, store::Store& store,
                                        model::RunStates states);
// Answers GET /periodic-task-log?periodic_task_id= (T-14).
Result<http_server::Response> ListPeriodicLog(const http_server::Request& request,
                                              store::Store& store);

}  // namespace ksana::api
